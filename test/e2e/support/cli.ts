/** The command line as a process, against a running system: its token from the file that the start made. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

import { ROOT, type System } from "../start-system.ts";

export interface CliRun {
  readonly child: ChildProcess;
  /** What it said so far. */
  readonly err: () => string;
  readonly ended: Promise<CliResult>;
}

export interface CliResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** The last line of stdout. */
  // oxlint-disable-next-line typescript/no-explicit-any -- what every command prints
  readonly json: any;
}

export function startCli(system: System, args: readonly string[]): CliRun {
  const child = spawn(process.execPath, [join(ROOT, "apps/cli/start.mjs"), ...args], {
    cwd: system.dataDir,
    env: {
      PATH: process.env["PATH"],
      LANG: "C.UTF-8",
      VESTIBULE_MINT_URL: system.ready.mint,
      VESTIBULE_ADMIN_TOKEN_FILE: "admin-token",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = once(child, "close").then(([code]) => ({
    ...{ code: code as number | null, out, err },
    json: parsed(out.trimEnd().split("\n").at(-1) ?? ""),
  }));
  return { child, err: () => err, ended };
}

export function runCli(system: System, ...args: string[]): Promise<CliResult> {
  return startCli(system, args).ended;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
