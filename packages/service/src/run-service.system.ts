/** What every `main.ts` does: read the environment, start, stop on a signal, say clearly why not. */
import { systemClock } from "@vestibule/kernel/clock.system";
import { type Config, type CrossCheck, readConfig, type Variables } from "./env.ts";
import { stopOnSignals } from "./lifecycle.ts";
import { createLog, type Log } from "./log.ts";

/** Exit status for a bad configuration (sysexits EX_CONFIG); anything else that fails a start is 1. */
const EXIT_CONFIG = 78;

/**
 * Runs a service until a signal. The log goes to standard output, one JSON object a line; what a
 * person must read before the service runs goes to standard error.
 */
export async function runService<Vars extends Variables>(
  service: string,
  variables: Vars,
  start: (config: Config<Vars>, log: Log) => Promise<{ stop(): Promise<void> }>,
  crossCheck?: CrossCheck<Vars>,
): Promise<void> {
  const log = createLog({
    service,
    clock: systemClock,
    write: (line) => void process.stdout.write(`${line}\n`),
  });
  let config: Config<Vars>;
  try {
    config = readConfig(variables, process.env, undefined, crossCheck);
  } catch (error) {
    giveUp(EXIT_CONFIG, error);
  }
  // A promise that nobody looked after is a fault of ours, and no reason to drop every request.
  process.on("unhandledRejection", (error) => log.error("unhandled-rejection", error));
  try {
    const running = await start(config, log);
    stopOnSignals({ process, log, stop: () => running.stop() });
  } catch (error) {
    log.error("start-failed", error);
    giveUp(1, error);
  }
}

function giveUp(code: number, error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(code);
}
