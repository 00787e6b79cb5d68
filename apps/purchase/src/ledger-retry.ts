/** Trouble that another try does not have, tried again by id within the call. */
import type { Sql } from "@vestibule/db/connect";
import { databaseErrorCode } from "@vestibule/db/errors";

/** Waits; the timers are the caller's. */
export type Sleep = (ms: number) => Promise<void>;

/** Tries, the first included. The call's own deadline comes first when it is earlier. */
const TRIES_MAX = 3;
const PAUSE_MS = 20;

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
 * Runs `work` up to three times. It must be safe to repeat: whatever it writes carries names that
 * the caller made, so that the database knows a repetition.
 */
export async function retried<Value>(
  sql: Sql,
  work: (sql: Sql) => Promise<Value>,
  sleep: Sleep,
): Promise<Value> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work(sql);
    } catch (error) {
      if (tries >= TRIES_MAX || !isTriedAgain(error)) throw error;
      await sleep(PAUSE_MS * tries);
    }
  }
}

function isTriedAgain(error: unknown): boolean {
  const code = databaseErrorCode(error);
  return code !== undefined && (TRIED_AGAIN.has(code) || /^08...$/.test(code));
}
