/** Starts workerd itself, without a layer above it, with the same settings for every side. */
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Readable } from "node:stream";

import { build } from "esbuild";

import { ROOT } from "./edge-bundle.ts";
import type { Processes } from "./processes.ts";

const START_TIMEOUT_MS = 20_000;

/** A cache that never holds anything: isolates keep their own values, and no row reads a shared cache. */
const EMPTY_CACHE = `export default {
  fetch: (request) => new Response(null, { status: request.method === "GET" ? 504 : 204 }),
};`;

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
  const directory = join(scratch, worker.name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "worker.js"), worker.script);
  writeFileSync(join(directory, "cache.js"), EMPTY_CACHE);
  writeFileSync(join(directory, "config.capnp"), configuration(worker.vars));
  const binary = createRequire(import.meta.url).resolve("workerd/bin/workerd");
  const child = processes.spawn(`workerd (${worker.name})`, {
    command: binary,
    args: ["serve", "--control-fd=3", join(directory, "config.capnp")],
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const control = child.process.stdio[3] as Readable;
  const line = await Promise.race([
    once(control, "data").then(([data]) => String(data)),
    once(child.process, "exit").then(() => ""),
    new Promise<string>((resolve) => setTimeout(resolve, START_TIMEOUT_MS, "").unref()),
  ]);
  const port = Number(/"port":(\d+)/.exec(line)?.[1]);
  if (!(port > 0)) throw new Error(`workerd (${worker.name}) does not listen`);
  return { pid: child.pid, port, stop: () => child.stop() };
}

/** Compatibility as `wrangler.toml` says, so that no side runs under other rules than a deploy. */
function configuration(vars: Readonly<Record<string, string>>): string {
  const toml = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  const date = /^compatibility_date = (".*")$/m.exec(toml)?.[1];
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(toml)?.[1] ?? "[]";
  if (date === undefined) throw new Error("wrangler.toml states no compatibility_date");
  const bindings = Object.entries(vars).map(
    ([name, value]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(value)})`,
  );
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = ${date},
      compatibilityFlags = ${flags},
      bindings = [${bindings.join(", ")}],
      globalOutbound = "network",
      cacheApiOutbound = "cache",
    )),
    (name = "cache", worker = (
      modules = [(name = "cache.js", esModule = embed "cache.js")],
      compatibilityDate = ${date},
    )),
    (name = "network", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
}
