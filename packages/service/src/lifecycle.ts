/** Start, run, stop on a signal: bounded, and the second signal does not wait. */
import type { Log } from "./log.ts";
import { settlesWithin } from "./timing.system.ts";

/** The part of `process` that is needed; `main.ts` passes the real one. */
export interface ProcessPort {
  on(signal: "SIGTERM" | "SIGINT", listener: () => void): unknown;
  exit(code: number): never;
}

export interface LifecycleOptions {
  readonly process: ProcessPort;
  readonly log: Log;
  /** Everything that `stop` does must be done by then. */
  readonly stopMsMax?: number;
  /** Runs once: readiness drops, the server stops, then what it stood on. */
  readonly stop: () => Promise<void>;
}

const STOP_MS_MAX = 20_000;

/** Installs the signal handlers. The process exits with 0 after a stop in time, with 1 otherwise. */
export function stopOnSignals(options: LifecycleOptions): void {
  const { process, log, stop, stopMsMax = STOP_MS_MAX } = options;
  let asked = false;
  const stopOnce = async (signal: string): Promise<void> => {
    if (asked) process.exit(1);
    asked = true;
    log.info("stopping", { signal });
    let failed = false;
    const stopped = stop().catch((error: unknown) => {
      failed = true;
      log.error("stop-failed", error);
    });
    const inTime = await settlesWithin(stopped, stopMsMax);
    log.info("stopped", { inTime });
    process.exit(inTime && !failed ? 0 : 1);
  };
  process.on("SIGTERM", () => void stopOnce("SIGTERM"));
  process.on("SIGINT", () => void stopOnce("SIGINT"));
}
