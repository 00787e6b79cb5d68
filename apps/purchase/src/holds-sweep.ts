/** The sweep as a background task: one at a time, and its troubles are only logged. */
import type { Log } from "@vestibule/service/log";
import type { Holds } from "./ledger-types.ts";

export interface HoldSweep {
  /** Called every `HOLD_SWEEP_MS`. Never rejects; a sweep that still runs is the answer to the next. */
  tick(): Promise<void>;
  /** When the sweep under way has ended. */
  idle(): Promise<void>;
}

export function createHoldSweep({ holds, log }: { holds: Holds; log: Log }): HoldSweep {
  let running: Promise<void> | undefined;

  const sweep = async (): Promise<void> => {
    try {
      const ended = await holds.sweep();
      if (ended > 0) log.info("holds-expired", { holds: ended });
    } catch (error) {
      const reason = error instanceof Error ? error.message : "unknown";
      log.warn("hold-sweep-failed", { reason });
    } finally {
      running = undefined;
    }
  };

  return { tick: () => (running ??= sweep()), idle: async () => running };
}
