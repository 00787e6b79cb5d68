/** One location: the built Worker in a workerd of its own, with its variables and its port. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";

import { readWorkerSettings } from "@vestibule/demo/src/edge-bundle.ts";

import { ROOT } from "../start-system.ts";
import { eventually } from "./eventually.ts";

export interface EdgeProcessOptions {
  /** File of the built Worker. */
  readonly script: string;
  readonly port: number;
  readonly vars: Readonly<Record<string, string>>;
  /** For workerd's own files. */
  readonly scratch: string;
  /** What it logs; shown by default. */
  readonly log?: "shown" | "ignored";
}

export interface EdgeProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** Resolves when it listens; whether it knows any event is another matter. */
export async function startEdgeProcess(options: EdgeProcessOptions): Promise<EdgeProcess> {
  const { script, port, vars, scratch, log = "shown" } = options;
  const { compatibilityDate, compatibilityFlags } = readWorkerSettings(join(ROOT, "wrangler.toml"));
  const child = spawn(process.execPath, [join(ROOT, "apps/demo/src/edge-host.ts")], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", log === "shown" ? "inherit" : "ignore"],
    env: {
      PATH: process.env["PATH"] ?? "",
      TMPDIR: scratch,
      EDGE_OPTIONS: JSON.stringify({
        script,
        port,
        compatibilityDate,
        compatibilityFlags,
        bindings: vars,
      }),
    },
  });
  process.once("exit", () => child.kill("SIGTERM"));
  await eventually("the edge listens", () => isListening(port), { withinMs: 60_000 });
  return { url: `http://127.0.0.1:${port}`, stop: () => stop(child) };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, "127.0.0.1");
    probe.on("connect", () => resolve(probe.destroy() !== undefined));
    probe.on("error", () => resolve(false));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  await closed;
}
