/** Trouble that another try does not have, tried again by id within the call. */
import type { StopIfLate } from "@vestibule/db/connect";
import { databaseErrorCode } from "@vestibule/db/errors";
import type { Sleep } from "@vestibule/feed/ports";
import { TRIES_MAX, TRY_PAUSE_MS } from "./limits.ts";

/**
 * The transaction was undone (serialization failure, deadlock), or nobody knows what became of it
 * (the connection was lost, the server restarts). A refused connection is not here: nothing answers.
 */
const TRIED_AGAIN: ReadonlySet<string> = new Set([
  "40001",
  "40P01",
  "57P01",
  "57P02",
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
]);

/**
 * Runs `work` up to `TRIES_MAX` times, as long as somebody waits for it. It must be safe to repeat: whatever it
 * writes carries names that the caller made, so that the database knows a repetition.
 */
export async function retried<Value>(
  work: () => Promise<Value>,
  { sleep, stopIfLate }: { sleep: Sleep; stopIfLate: StopIfLate },
): Promise<Value> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries >= TRIES_MAX || !isTriedAgain(error)) throw error;
      await sleep(TRY_PAUSE_MS * tries);
      stopIfLate();
    }
  }
}

function isTriedAgain(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code !== undefined && (TRIED_AGAIN.has(code) || /^08...$/.test(code));
}
