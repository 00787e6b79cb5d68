/** The launcher as a process: arguments, signals, exit code. See HELP in options.ts. */
import { resolve } from "node:path";

import { ancestors, areAlive, launchers } from "./ancestors.ts";
import { Display, terminalOf } from "./display.ts";
import { StartFailure, lineFor } from "./failure.ts";
import { launch } from "./launch.ts";
import { HELP, readOptions } from "./options.ts";
import type { Supervisor } from "./supervisor.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const LAUNCHERS_POLL_MS = process.platform === "linux" ? 500 : 2_000;

/** @returns the exit code. */
export async function start(): Promise<number> {
  // pnpm runs us in the project; a relative path is meant from where the command was typed.
  const underPackageManager = process.env["npm_lifecycle_event"] !== undefined;
  const directory = (underPackageManager ? process.env["INIT_CWD"] : undefined) ?? process.cwd();
  const args = process.argv.slice(2);
  const read = readOptions(args, directory);
  if (!read.ok) {
    for (const mistake of read.refusal) console.error(mistake);
    console.error("What there is: npx -y pnpm@12 start --help");
    return 2;
  }
  if (read.value === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  const display = new Display(terminalOf(process.stdout, process.env));
  const stop = new AbortController();
  let supervisor: Supervisor | undefined;
  let asked = 0;
  const ask = (): void => {
    asked += 1;
    // npx and pnpm pass a signal on that the terminal has sent us as well: one press, two signals.
    if (asked > 1 && performance.now() - askedAt > 500) {
      supervisor?.kill();
      process.exit(1);
    }
    askedAt = asked === 1 ? performance.now() : askedAt;
    stop.abort();
  };
  let askedAt = 0;
  for (const signal of SIGNALS) process.on(signal, ask);
  // A terminal that is gone, or `| head`: nobody looks any more.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => {
      if (asked === 0) ask();
    });
  }
  if (underPackageManager) whenLaunchersGo(() => asked === 0 && ask());
  try {
    await launch({
      root: resolve(import.meta.dirname, "../../.."),
      options: read.value,
      args,
      environment: process.env,
      display,
      signal: stop.signal,
      onSupervisor: (started) => (supervisor = started),
    });
    return 0;
  } catch (error) {
    console.error(`\n${lineFor(error)}`);
    return error instanceof StartFailure ? error.exitCode : 1;
  } finally {
    for (const signal of SIGNALS) process.off(signal, ask);
  }
}

/** A package manager that was ended passes no signal on: what it was started for is over then. */
function whenLaunchersGo(act: () => void): void {
  const chain = launchers(ancestors(process.pid));
  const timer = setInterval(() => {
    if (areAlive(chain)) return;
    clearInterval(timer);
    act();
  }, LAUNCHERS_POLL_MS);
  timer.unref();
}
