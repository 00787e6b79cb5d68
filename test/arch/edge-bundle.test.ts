/** The check of the built edge, on bundles that must not be shipped. `pnpm test edge` runs it on the real one. */
import { join } from "node:path";

import { build } from "esbuild";
import { expect, test } from "vitest";

import { ROOT } from "../steps/run-tool.ts";
import { EDGE_BYTES_MAX, inspectBundle, type BundleReport } from "./edge-bundle.ts";
import { withTree } from "./tree.ts";

/** Bundles `source` as if it stood in `from`, and inspects the outcome. */
function inspect(source: string, from = "test"): Promise<BundleReport> {
  return withTree({}, async (root) => {
    await build({
      stdin: {
        contents: source,
        resolveDir: join(ROOT, from),
        sourcefile: "main.ts",
        loader: "ts",
      },
      bundle: true,
      minify: true,
      format: "esm",
      sourcemap: true,
      external: ["node:*", "cloudflare:*"],
      platform: "neutral",
      mainFields: ["module", "main"],
      conditions: ["workerd", "worker", "browser"],
      outfile: join(root, "main.js"),
      logLevel: "silent",
    });
    return inspectBundle(root);
  });
}

/** `from`: a package that has what the source imports. */
const FORBIDDEN: [title: string, finding: RegExp, source: string, from?: string][] = [
  [
    "signing with Web Crypto",
    /subtle\.sign/,
    "export const a = (key, data) => crypto.subtle.sign('Ed25519', key, data);",
  ],
  [
    "making keys",
    /generateKey/,
    "export const a = () => crypto.subtle.generateKey('Ed25519', true, ['sign']);",
  ],
  [
    "jose's signer",
    /jose\/.*sign\.js, which signs/,
    "export { SignJWT } from 'jose';",
    "packages/keys",
  ],
  [
    "jose's key maker",
    /generate_key_pair\.js/,
    "export { generateKeyPair } from 'jose';",
    "packages/keys",
  ],
  ["Node", /imports Node/, "export { readFileSync } from 'node:fs';"],
  ["a database URL", /PostgreSQL/, "export const a = 'postgres://localhost/vestibule';"],
  [
    "the database client",
    /node_modules\/postgres\/.*, which is for Node/,
    "export { default } from 'postgres';",
    "packages/db",
  ],
  [
    "a parser of templates",
    /node_modules\/parse5\/.*, which checks looks/,
    "export { parseFragment } from 'parse5';",
    "packages/looks",
  ],
  ["the Valkey client", /speaks to Valkey/, "export const a = { client: 'ioredis' };"],
  [
    "too much",
    /bytes are more than/,
    `export const a = ${JSON.stringify("x".repeat(EDGE_BYTES_MAX))};`,
  ],
];

test.each(FORBIDDEN)("%s is caught", async (_title, finding, source, from) => {
  expect((await inspect(source, from)).findings.join("\n")).toMatch(finding);
});

test("a verifier passes", async () => {
  const report = await inspect("export { jwtVerify, compactVerify } from 'jose';", "packages/keys");
  expect(report.findings).toEqual([]);
  expect(report.sources).toBeGreaterThan(1);
});

test("an empty build is caught", async () => {
  const report = await withTree({}, (root) => inspectBundle(root));
  expect(report.findings).toEqual(["nothing was built: nothing was checked"]);
});
