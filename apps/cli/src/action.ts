/** What is the same for every command: its common options, and how it ends. */
import type { CliContext } from "./context.ts";
import { CliFailure, EXIT, type ExitCode } from "./failure.ts";
import type { CommonFlags } from "./session.ts";

export const COMMON_FLAGS = {
  json: {
    kind: "boolean",
    brief: "Print data: one JSON document, the last line of stdout",
    default: false,
    withNegated: false,
  },
  insecureHttp: {
    kind: "boolean",
    brief: "Speak plain http to another machine, where everybody on the way can read the token",
    default: false,
    withNegated: false,
  },
} as const;

type Action<Flags, Args extends readonly unknown[]> = (
  context: CliContext,
  flags: Flags,
  ...args: Args
) => Promise<ExitCode | void>;

/** A command for the library: whatever it throws is told, and becomes the exit code. */
export function action<Flags extends CommonFlags, Args extends readonly unknown[]>(
  perform: Action<Flags, Args>,
): (this: CliContext, flags: Flags, ...args: Args) => Promise<void> {
  return async function (flags, ...args) {
    try {
      this.result.exitCode = (await perform(this, flags, ...args)) ?? EXIT.done;
    } catch (error) {
      this.result.exitCode = tell(this, flags, error);
    }
  };
}

function tell({ platform }: CliContext, { json }: CommonFlags, error: unknown): ExitCode {
  const failure =
    error instanceof CliFailure
      ? error
      : // Its message may hold anything: the kind of it is enough for a report.
        new CliFailure(`A fault of vestibule itself: ${kindOf(error)}`);
  platform.err.write(`${failure.message}\n`);
  if (json) {
    const told = { error: failure.message, ...failure.details };
    platform.out.write(`${JSON.stringify(told)}\n`);
  }
  return failure.exitCode;
}

function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const [, place = ""] = /\n\s+at ([^\n]+)/.exec(error.stack ?? "") ?? [];
  return `${error.name} at ${place.replace(/\(?file:\S*\/apps\//, "(apps/")}`;
}
