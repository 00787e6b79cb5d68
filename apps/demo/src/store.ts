/**
 * Where limiter and gate keep their counters: at the server of `VALKEY_URL`, else in a Valkey or
 * Redis of this machine, else in the purchase API itself.
 */
import { setTimeout as sleep } from "node:timers/promises";

import { parseStoreUrl } from "@vestibule/valkey/store-url";

import { StartFailure, lineFor } from "./failure.ts";
import { OwnStore } from "./own-store.ts";
import type { Store, StoreOptions } from "./store-port.ts";
import { StoreProbe } from "./store-probe.ts";
import { storePrograms } from "./store-program.ts";

const CHECKS_MAX = 15;
const CHECK_MS = 200;
const WITHOUT =
  "Without VALKEY_URL the start uses a valkey-server or redis-server of this machine, or none.";

/** @throws StartFailure when `VALKEY_URL` is set and nothing answers there. */
export async function openStore(options: StoreOptions): Promise<Store> {
  if (options.given !== undefined && options.given !== "") return openGiven(options.given, options);
  const notes: string[] = [];
  for (const program of storePrograms(options.path)) {
    try {
      return await OwnStore.start(program, options);
    } catch (error) {
      options.signal.throwIfAborted();
      notes.push(lineFor(error).trim());
    }
  }
  return {
    title: "no Valkey        the purchase API counts",
    words: "the purchase API's own memory (no Valkey or Redis here)",
    url: undefined,
    note: notes.length > 0 ? notes.join("\n    ") : undefined,
    trouble: () => undefined,
    close: async () => {},
  };
}

async function openGiven(url: string, { signal }: StoreOptions): Promise<Store> {
  const { probe, shown } = understand(url);
  const away = await firstAnswer(probe, signal).catch(async (error: unknown) => {
    await probe.close();
    throw error;
  });
  if (away !== undefined) {
    await probe.close();
    throw new StartFailure(
      `No Valkey answers at ${shown} (${away}), and without it every purchase would be refused. Start that server, or correct VALKEY_URL. ${WITHOUT}`,
    );
  }
  const evicts = probe.evicts();
  return {
    title: `Valkey           ${shown}`,
    words: `Valkey at ${shown} (VALKEY_URL)`,
    url,
    note:
      evicts === undefined
        ? undefined
        : `It may forget limits and stock when it is full (maxmemory-policy ${evicts}): set noeviction`,
    trouble: () =>
      probe.whyAway() === undefined
        ? undefined
        : `Valkey at ${shown} does not answer: every purchase is answered "try again" (503) until it does; the line goes on.`,
    close: () => probe.close(),
  };
}

/** @returns how to ask it, and its address without any credential. */
function understand(url: string): { probe: StoreProbe; shown: string } {
  try {
    return { probe: new StoreProbe(url), shown: parseStoreUrl(url).label };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new StartFailure(`VALKEY_URL is not understood: ${error.message}. ${WITHOUT}`, {
      exitCode: 2,
      cause: error,
    });
  }
}

/** Why nothing answers; undefined as soon as something does. */
async function firstAnswer(probe: StoreProbe, signal: AbortSignal): Promise<string | undefined> {
  let away: string | undefined;
  for (let check = 0; check < CHECKS_MAX; check += 1) {
    signal.throwIfAborted();
    away = probe.whyAway();
    if (away === undefined) return undefined;
    await sleep(CHECK_MS);
  }
  return away;
}
