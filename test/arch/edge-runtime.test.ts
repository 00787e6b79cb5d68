/**
 * The isolate that wrangler.toml asks for. The test runner needs Node inside its own isolate, so that
 * a test there cannot see whether the deployed one is free of it: this one asks a bare workerd.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { expect, test } from "vitest";

import { ROOT } from "../steps/run-tool.ts";

const PROBE = `export default {
  async fetch() {
    const modules = await Promise.allSettled(["node:crypto", "node:fs"].map((name) => import(name)));
    return Response.json({
      globals: ["Buffer", "process", "global"].filter((name) => name in globalThis),
      modules: modules.filter(({ status }) => status === "fulfilled").length,
    });
  },
};`;

async function probe(compatibilityFlags: string[]): Promise<unknown> {
  const settings = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  const compatibilityDate = /^compatibility_date = "(.*)"$/m.exec(settings)?.[1] ?? "";
  const isolate = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: PROBE,
      compatibilityDate,
      compatibilityFlags,
    }),
  );
  try {
    const answer = await isolate.dispatchFetch("http://edge.test/");
    return await answer.json();
  } finally {
    await isolate.dispose();
  }
}

test("the edge's isolate has nothing of Node", async () => {
  const settings = readFileSync(join(ROOT, "wrangler.toml"), "utf8");
  const flags = /^compatibility_flags = (\[.*\])$/m.exec(settings)?.[1] ?? "";
  expect(await probe(JSON.parse(flags) as string[])).toEqual({ globals: [], modules: 0 });
});

test("the probe sees Node where it is", async () => {
  const { globals, modules } = (await probe(["nodejs_compat"])) as {
    globals: string[];
    modules: number;
  };
  expect(globals).toContain("Buffer");
  expect(modules).toBeGreaterThan(0);
});
