import { availableParallelism } from "node:os";
import { setFlagsFromString } from "node:v8";
import { parentPort } from "node:worker_threads";
import { connectDatabase } from "@vestibule/db/connect";
import { systemClock } from "@vestibule/kernel/clock.system";
import { systemRandomness } from "@vestibule/kernel/randomness.system";
import { ConfigError, readConfig } from "@vestibule/service/env";
import { ListenError } from "@vestibule/service/http-server";
import { stopOnSignals } from "@vestibule/service/lifecycle";
import { createLog } from "@vestibule/service/log";
import * as z from "zod/mini";
import { crossCheck, VARIABLES } from "./config.ts";
import { THREADS_MIN } from "./limits.ts";
import { bulkThread, serveBulkTickets } from "./keys/bulk-thread.ts";
import { KeyTrouble } from "./keys/key-ring.ts";
import { startMint } from "./service.ts";
import { systemTimers } from "./timers.system.ts";

// Messages that help, which the edge's bundle has no room for.
z.config(z.locales.en());

const log = createLog({
  service: "mint",
  clock: systemClock,
  write: (line) => process.stdout.write(`${line}\n`),
});

/** A message for a person, and an end. */
function refuseToStart(error: unknown): never {
  const known = [ConfigError, KeyTrouble, ListenError].some((kind) => error instanceof kind);
  if (known) process.stderr.write(`${(error as Error).message}\n`);
  else log.error("start-failed", error);
  process.exit(1);
}

async function main(): Promise<void> {
  // Joins leave nothing behind that lives, so V8's young generation need not grow with their number:
  // without this it doubles twice on the way to a million joins, and stays that large.
  setFlagsFromString("--semi-space-growth-factor=1");
  // Each signature leaves some 40 bytes in V8's old generation, as garbage that only a mark-compact takes back; the first
  // one comes late, since until then V8 goes by a guess of how much will live. It begins at this percentage of the room
  // that V8 would use up instead, so that a mint reaches the size it keeps soon, and a smaller one.
  setFlagsFromString("--incremental-marking-soft-trigger=15");

  // Signatures are made by the runtime's threads: as many as there are cores, before the first of them starts.
  process.env["UV_THREADPOOL_SIZE"] ??= String(Math.max(THREADS_MIN, availableParallelism()));

  const bulk = bulkThread(new URL(import.meta.url));
  try {
    const { databaseUrl, ...config } = readConfig(VARIABLES, process.env, undefined, crossCheck);
    const database = connectDatabase({
      url: databaseUrl.reveal(),
      applicationName: "vestibule-mint",
    });
    const running = await startMint({
      config,
      database,
      clock: systemClock,
      randomness: systemRandomness,
      timers: systemTimers,
      log,
      bulk: bulk.tickets,
      onFatal: refuseToStart,
    });
    stopOnSignals({
      process,
      log,
      stop: async () => {
        await running.stop();
        await bulk.close();
        await database.close();
      },
    });
  } catch (error) {
    refuseToStart(error);
  }
}

if (parentPort === null) await main();
else serveBulkTickets(parentPort);
