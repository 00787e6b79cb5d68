/** workerd itself, without a layer above it, with the compatibility of `wrangler.toml`. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const WRANGLER_TOML = join(import.meta.dirname, "../../../wrangler.toml");

/** A cache that never holds anything: isolates keep their own values. */
const EMPTY_CACHE = `export default {
  fetch: (request) => new Response(null, { status: request.method === "GET" ? 504 : 204 }),
};`;

export interface WorkerdPlan {
  /** Its files are written there. */
  readonly directory: string;
  /** One module, whose default export is the Worker. */
  readonly script: string;
  readonly vars: Readonly<Record<string, string>>;
  /** Of 127.0.0.1; a free one when absent. */
  readonly port?: number;
}

export interface WorkerdCommand {
  readonly command: string;
  /** It says on file descriptor 3 where it listens: `{"event": "listen", "port": …}`. */
  readonly args: readonly string[];
}

export function layOutWorkerd({ directory, script, vars, port = 0 }: WorkerdPlan): WorkerdCommand {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "worker.js"), script);
  writeFileSync(join(directory, "cache.js"), EMPTY_CACHE);
  writeFileSync(join(directory, "config.capnp"), configuration(vars, port));
  return {
    command: createRequire(import.meta.url).resolve("workerd/bin/workerd"),
    args: ["serve", "--control-fd=3", join(directory, "config.capnp")],
  };
}

/** The port in what it says on file descriptor 3; `NaN` when it says something else. */
export function workerdPort(said: string): number {
  return Number(/"port":(\d+)/.exec(said)?.[1]);
}

function configuration(vars: Readonly<Record<string, string>>, port: number): string {
  const toml = readFileSync(WRANGLER_TOML, "utf8");
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
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`;
}
