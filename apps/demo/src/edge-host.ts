/**
 * A process of its own around workerd: the edge does not share a thread with crowd and display.
 * Started by the launcher with its options in the environment; ends when workerd does.
 */
import { readFileSync } from "node:fs";
import { connect } from "node:net";

import { Miniflare, convertV4MiniflareOptions } from "miniflare";

/** What the launcher hands over, as JSON in `EDGE_OPTIONS`. */
export interface EdgeHostOptions {
  readonly script: string;
  readonly port: number;
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly bindings: Readonly<Record<string, string>>;
}

const WATCH_MS = 1_000;

const options = JSON.parse(process.env["EDGE_OPTIONS"] ?? "{}") as EdgeHostOptions;
// The newer shape of Miniflare's options is still in flux; this one is its documented one.
const miniflare = new Miniflare({
  ...convertV4MiniflareOptions({
    modules: true,
    script: readFileSync(options.script, "utf8"),
    host: "127.0.0.1",
    port: options.port,
    cf: false, // or it would ask the network about this machine
    compatibilityDate: options.compatibilityDate,
    compatibilityFlags: [...options.compatibilityFlags],
    bindings: { ...options.bindings },
  }),
  logRequests: false,
});

try {
  await miniflare.ready;
} catch (error) {
  console.error(String(error));
  process.exit(1);
}

const watch = setInterval(() => {
  const probe = connect(options.port, "127.0.0.1");
  probe.on("connect", () => probe.destroy());
  probe.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "ECONNREFUSED") return;
    console.error("workerd has ended");
    process.exit(1);
  });
}, WATCH_MS);

// Miniflare's own handlers end workerd without waiting; requests that are under way get their answer.
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.removeAllListeners(signal);
  process.once(signal, () => {
    clearInterval(watch);
    void Promise.resolve(miniflare.dispose()).finally(() => process.exit(0));
  });
}
