/** What every command gets: the outside, and where its exit code goes when it is not an error. */
import type { CommandContext } from "@stricli/core";
import type { ExitCode } from "./failure.ts";
import type { Platform } from "./platform.ts";

export interface CliContext extends CommandContext {
  readonly platform: Platform;
  readonly result: { exitCode: ExitCode };
}
