/** One run: arguments to an exit code. What goes wrong is one message on the error stream, never a stack. */
import { proposeCompletions, run } from "@stricli/core";
import { application } from "./application.ts";
import type { CliContext } from "./context.ts";
import { CliFailure, EXIT } from "./failure.ts";
import type { Platform, Screen } from "./platform.ts";
import { readSettings } from "./settings.ts";

/** What the scripts of `vestibule completion` call: the words so far, the last one unfinished. */
export const COMPLETE = "__complete";

export async function runCli(args: readonly string[], platform: Platform): Promise<number> {
  if (args[0] === COMPLETE) return complete(args.slice(1), platform);
  const process: CliContext["process"] & { exitCode?: number | string | null } = {
    stdout: writable(platform.out),
    stderr: writable(platform.err),
  };
  const context = contextOf(platform, process);
  await run(application, args, context);
  const code = Number(process.exitCode ?? EXIT.done);
  if (code >= 0) return code === 0 ? context.result.exitCode : code;
  // The library's own are negative. What else is wrong is told with them: all mistakes at once.
  if (code === INVALID_ARGUMENT && needsMint(args)) tellEnvironment(platform);
  return EXIT.usage;
}

const INVALID_ARGUMENT = -4;

function needsMint([first]: readonly string[]): boolean {
  return (
    first !== undefined && ["keys", "events", "edges", "premint", "admissions"].includes(first)
  );
}

function tellEnvironment(platform: Platform): void {
  try {
    readSettings(platform, { insecureHttp: true, isAdmin: true });
  } catch (error) {
    if (error instanceof CliFailure) platform.err.write(`${error.message}\n`);
  }
}

/** Proposals, one a line: never an error, and nothing on the error stream, which would be in the prompt. */
async function complete(words: readonly string[], platform: Platform): Promise<number> {
  const silent: Screen = { ...screenOf(platform), write: () => {} };
  const quiet: Platform = { ...platform, out: silent, err: silent };
  const process = { stdout: writable(silent), stderr: writable(silent) };
  const inputs = words.length === 0 ? [""] : words;
  try {
    const found = await proposeCompletions(application, inputs, contextOf(quiet, process));
    for (const { completion, brief } of found)
      platform.out.write(`${completion}\t${brief.replaceAll(/\s+/g, " ")}\n`);
  } catch {
    // No proposals.
  }
  return EXIT.done;
}

function screenOf({ err }: Platform): Omit<Screen, "write"> {
  const { isTerminal, columns, color, unicode } = err;
  return { isTerminal, columns, color, unicode };
}

function contextOf(platform: Platform, process: CliContext["process"]): CliContext {
  return { process, platform, result: { exitCode: EXIT.done } };
}

function writable(screen: Screen): CliContext["process"]["stdout"] {
  return {
    write: (text) => screen.write(text),
    getColorDepth: () => (screen.color ? 4 : 1),
  };
}
