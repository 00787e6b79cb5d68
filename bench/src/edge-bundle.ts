import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { Bench } from "./row.ts";

export const ROOT = join(import.meta.dirname, "../..");

let built: Promise<string> | undefined;

/** The Worker as `wrangler deploy` would ship it, built once a run. */
export function edgeBundle(bench: Bench): Promise<string> {
  built ??= buildEdge(bench);
  return built;
}

async function buildEdge(bench: Bench): Promise<string> {
  bench.progress("building the edge");
  const directory = join(bench.scratch, "edge-bundle");
  const { process: child } = bench.processes.spawn("wrangler", {
    command: join(ROOT, "node_modules/.bin/wrangler"),
    args: ["deploy", "--dry-run", "--outdir", directory],
    cwd: ROOT,
    env: {
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_HIDE_BANNER: "true",
      DO_NOT_TRACK: "1",
      HOME: bench.scratch,
    },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  if (code !== 0) throw new Error("the edge does not build: see `pnpm test edge`");
  return readFileSync(join(directory, "main.js"), "utf8");
}
