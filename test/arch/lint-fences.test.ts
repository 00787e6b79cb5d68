/** The fences that oxlint and TypeScript keep: the real configuration, on trees that break it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import config from "../../oxlint.config.ts";
import { captureTool, ROOT } from "../steps/run-tool.ts";
import { PURE_PACKAGES } from "./architecture.ts";
import { withTree } from "./tree.ts";

/** What oxlint says about `files`, by the rules of this repository. */
async function lint(files: Readonly<Record<string, string>>): Promise<string> {
  // Without types: a fence must not need them, and a fixture has no tsconfig.
  const options = { ...config.options, typeAware: false };
  const tree = { ...files, ".oxlintrc.json": JSON.stringify({ ...config, options }) };
  const { output } = await withTree(tree, (root) => captureTool("oxlint", ["--format=unix"], root));
  return output;
}

const CAUGHT: [title: string, rule: string, path: string, source: string][] = [
  [
    "Date.now",
    "no-restricted-properties",
    "packages/drip/src/a.ts",
    "export const a = Date.now();",
  ],
  [
    "Math.random",
    "no-restricted-properties",
    "apps/mint/src/b.ts",
    "export const a = Math.random();",
  ],
  [
    "crypto.randomUUID",
    "no-restricted-properties",
    "apps/edge/src/c.ts",
    "export const a = crypto.randomUUID();",
  ],
  ["setTimeout", "no-restricted-globals", "apps/mint/src/d.ts", "setTimeout(() => {}, 1);"],
  [
    "setInterval",
    "no-restricted-globals",
    "packages/service/src/e.ts",
    "setInterval(() => {}, 1);",
  ],
  [
    "globalThis.setTimeout",
    "no-restricted-properties",
    "apps/mint/src/f.ts",
    "globalThis.setTimeout(() => {}, 1);",
  ],
  ["process", "no-restricted-globals", "apps/purchase/src/g.ts", "export const a = process.env;"],
  [
    "node:timers/promises",
    "no-restricted-imports",
    "apps/mint/src/h.ts",
    'export * from "node:timers/promises";',
  ],
  [
    "randomUUID of node:crypto",
    "no-restricted-imports",
    "apps/mint/src/i.ts",
    'export { randomUUID } from "node:crypto";',
  ],
  [
    "a sleep in a test",
    "no-restricted-globals",
    "apps/mint/test/j.test.ts",
    "setTimeout(() => {}, 1);",
  ],
  [
    "Node in a pure package",
    "no-restricted-imports",
    "packages/token/src/k.ts",
    'export * from "node:crypto";',
  ],
  [
    "Node in a pure adapter",
    "no-restricted-imports",
    "packages/kernel/src/l.system.ts",
    'export * from "node:fs";',
  ],
  [
    "Buffer in a pure package",
    "no-restricted-globals",
    "packages/keys/src/m.ts",
    "export const a = Buffer.from([1]);",
  ],
  [
    "Node at the edge",
    "no-restricted-imports",
    "apps/edge/src/n.ts",
    'export * from "node:crypto";',
  ],
  [
    "Buffer in the edge's main",
    "no-restricted-globals",
    "apps/edge/src/main.ts",
    "export const a = Buffer.from([1]);",
  ],
  [
    "signing at the edge",
    "no-restricted-imports",
    "apps/edge/src/main.ts",
    'export { sign } from "@vestibule/token/sign";',
  ],
];

test("oxlint catches each of these", async () => {
  const tree: Record<string, string> = {};
  for (const [, , path, source] of CAUGHT) tree[path] = `${tree[path] ?? ""}${source}\n`;
  const lines = (await lint(tree)).split("\n");
  const missed = CAUGHT.filter(
    ([, rule, path]) => !lines.some((line) => line.includes(path) && line.includes(rule)),
  );
  expect(missed).toEqual([]);
});

test("oxlint catches an import cycle", async () => {
  const output = await lint({
    "packages/drip/src/a.ts": 'import { b } from "./b.ts";\nexport const a = () => b;\n',
    "packages/drip/src/b.ts": 'import { a } from "./a.ts";\nexport const b = () => a;\n',
  });
  expect(output).toMatch(/no-cycle/);
});

test("oxlint lets adapters read what they adapt", async () => {
  const output = await lint({
    "packages/kernel/src/clock.system.ts": "export const now = () => Date.now();\n",
    "apps/mint/src/main.ts": "export const environment = process.env;\n",
    "apps/mint/src/timer.system.ts": 'export { setTimeout } from "node:timers/promises";\n',
  });
  expect(output).not.toMatch(/restricted/);
});

test.each(PURE_PACKAGES)("%s asks TypeScript for no types of a platform", async (dir) => {
  const { output } = await captureTool("tsc", ["-p", dir, "--showConfig"]);
  const { compilerOptions } = JSON.parse(output) as { compilerOptions: Record<string, unknown> };
  expect(compilerOptions).toMatchObject({ types: [], lib: ["es2024"], strict: true });
});

test.each([
  "process.env",
  "Buffer.from([1])",
  "new Date().toString() + document.title",
  "fetch('/')",
])("TypeScript catches a platform in a pure package: %s", async (expression) => {
  const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  const tree = (source: string) => ({
    "tsconfig.base.json": read("tsconfig.base.json"),
    "packages/kernel/package.json": read("packages/kernel/package.json"),
    "packages/kernel/tsconfig.json": read("packages/kernel/tsconfig.json"),
    "packages/kernel/src/a.ts": source,
  });
  const check = (source: string) =>
    withTree(tree(source), (root) => captureTool("tsc", ["-p", "packages/kernel"], root));
  expect((await check("export const a: unknown = 1;")).output).toBe("");
  expect((await check(`export const a: unknown = ${expression};`)).output).toMatch(
    /Cannot find name/,
  );
});
