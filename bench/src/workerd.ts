/** Starts workerd itself, without a layer above it, with the same settings for every side. */
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { layOutWorkerd, workerdPort } from "@vestibule/testkit/workerd";
import { build } from "esbuild";

import type { Processes } from "./processes.ts";

const START_TIMEOUT_MS = 20_000;

export interface Workerd {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

/** Builds one of the floors of this package. */
export function floorScript(name: string): Promise<string> {
  return bundledWorker(`floors/${name}`);
}

/** Builds a Worker of this package, by its path without the end of its name. */
export async function bundledWorker(path: string): Promise<string> {
  const built = await build({
    entryPoints: [join(import.meta.dirname, `${path}.worker.ts`)],
    bundle: true,
    format: "esm",
    target: "es2024",
    minify: true,
    write: false,
  });
  return built.outputFiles[0]?.text ?? "";
}

/**
 * Runs `script` in a workerd of its own on a free port of 127.0.0.1.
 *
 * @throws Error with workerd's own words when it does not listen.
 */
export async function startWorkerd(
  processes: Processes,
  scratch: string,
  worker: {
    readonly name: string;
    readonly script: string;
    readonly vars: Readonly<Record<string, string>>;
  },
): Promise<Workerd> {
  const { name, script, vars } = worker;
  const { command, args } = layOutWorkerd({ directory: join(scratch, name), script, vars });
  const child = processes.spawn(`workerd (${name})`, {
    command,
    args,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const control = child.process.stdio[3] as Readable;
  const line = await Promise.race([
    once(control, "data").then(([data]) => String(data)),
    once(child.process, "exit").then(() => ""),
    new Promise<string>((resolve) => setTimeout(resolve, START_TIMEOUT_MS, "").unref()),
  ]);
  const port = workerdPort(line);
  if (!(port > 0)) throw new Error(`workerd (${name}) does not listen`);
  return { pid: child.pid, port, stop: () => child.stop() };
}
