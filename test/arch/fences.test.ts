import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { checkAmbientDates } from "./ambient.ts";
import { RANKS } from "./architecture.ts";
import { checkImports } from "./imports.ts";
import { checkTidiness } from "./tidy.ts";
import { isSource, readTree, withTree } from "./tree.ts";

const ROOT = join(import.meta.dirname, "../..");

describe("this repository", () => {
  const files = readTree(ROOT);

  test("is seen: each package of the layout, with sources and documents", () => {
    const sources = files.filter(isSource);
    for (const dir of Object.keys(RANKS)) {
      expect(files.map(({ path }) => path)).toContain(`${dir}/package.json`);
      expect(
        sources.some(({ path }) => path.startsWith(`${dir}/`)),
        `sources in ${dir}`,
      ).toBe(true);
    }
    expect(files.filter(({ path }) => path.endsWith(".md")).length).toBeGreaterThan(0);
  });

  test("imports only what is declared and of a lower rank", () => {
    expect(checkImports(files)).toEqual([]);
  });

  test("reads the clock in adapters only", () => {
    expect(checkAmbientDates(files)).toEqual([]);
  });

  test("is tidy", () => {
    expect(checkTidiness(ROOT, files)).toEqual([]);
  });

  test.each(Object.keys(RANKS))("%s has within reach what it declares, and nothing else", (dir) => {
    const manifest = JSON.parse(readFileSync(join(ROOT, dir, "package.json"), "utf8")) as {
      dependencies?: object;
      devDependencies?: object;
    };
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    const within = globSync(["*", "@*/*"], { cwd: join(ROOT, dir, "node_modules") });
    expect(within.filter((name) => !/^([.]|@[^/]*$)/.test(name)).toSorted()).toEqual(
      declared.toSorted(),
    );
  });
});

describe("a wrong tree is caught", () => {
  const manifest = (name: string, extra: object = {}): string =>
    JSON.stringify({ name: `@vestibule/${name}`, ...extra });
  const kernel = { "packages/kernel/package.json": manifest("kernel") };
  const workspace = (name: string) => ({ [`@vestibule/${name}`]: "workspace:*" });

  const importFixtures: [title: string, breach: RegExp, files: Record<string, string>][] = [
    [
      "an npm package that was not declared",
      /drip\/src\/a\.ts: zod\/mini is not declared/,
      {
        "packages/drip/package.json": manifest("drip"),
        "packages/drip/src/a.ts": `import { z } from "zod/mini";`,
      },
    ],
    [
      "a source that leans on a devDependency",
      /drip\/src\/a\.ts: fast-check is not declared/,
      {
        "packages/drip/package.json": manifest("drip", {
          devDependencies: { "fast-check": "catalog:" },
        }),
        "packages/drip/src/a.ts": `export * from "fast-check";`,
        "packages/drip/test/a.test.ts": `import fc from "fast-check";`,
      },
    ],
    [
      "a workspace package that was not declared, behind a type",
      /token\/src\/a\.ts: @vestibule\/kernel\/clock is not declared/,
      {
        ...kernel,
        "packages/token/package.json": manifest("token"),
        "packages/token/src/a.ts": `import type { Clock } from "@vestibule/kernel/clock";`,
      },
    ],
    [
      "a package of a higher rank",
      /kernel\/src\/a\.ts: @vestibule\/token\/verify has rank 3, not below 0/,
      {
        "packages/kernel/package.json": manifest("kernel", { dependencies: workspace("token") }),
        "packages/kernel/src/a.ts": `export { verify } from "@vestibule/token/verify";`,
        "packages/token/package.json": manifest("token"),
      },
    ],
    [
      "a package of the same rank, imported when called",
      /drip\/src\/a\.ts: @vestibule\/contracts\/limits has rank 1, not below 1/,
      {
        "packages/drip/package.json": manifest("drip", { dependencies: workspace("contracts") }),
        "packages/drip/src/a.ts": `export const load = () => import("@vestibule/contracts/limits");`,
        "packages/contracts/package.json": manifest("contracts"),
      },
    ],
    [
      "an app that imports an app",
      /edge\/src\/a\.ts: @vestibule\/mint\/sign has rank 5, not below 5/,
      {
        "apps/edge/package.json": manifest("edge", { dependencies: workspace("mint") }),
        "apps/edge/src/a.ts": `import "@vestibule/mint/sign";`,
        "apps/mint/package.json": manifest("mint"),
      },
    ],
    [
      "a path that climbs into another package",
      /drip\/src\/a\.ts: \.\.\/\.\.\/kernel\/src\/clock\.ts leaves its package/,
      {
        ...kernel,
        "packages/drip/package.json": manifest("drip"),
        "packages/drip/src/a.ts": `import "../../kernel/src/clock.ts";`,
      },
    ],
    [
      "a private name that its package does not give",
      /edge\/src\/a\.ts: #assets is not among its package's imports/,
      {
        "apps/edge/package.json": manifest("edge", { imports: { "#page": "./src/page.ts" } }),
        "apps/edge/src/a.ts": `import "#page";\nimport "#assets";`,
      },
    ],
    [
      "a Node module in disguise",
      /mint\/src\/a\.ts: fs is a Node module without its node: prefix/,
      { "apps/mint/package.json": manifest("mint"), "apps/mint/src/a.ts": `import "fs";` },
    ],
    [
      "a package that nobody ranked",
      /packages\/new: has no rank/,
      { "packages/new/package.json": manifest("new") },
    ],
  ];
  test.each(importFixtures)("%s", async (_title, breach, files) => {
    const found = await withTree(files, (root) => checkImports(readTree(root)));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(breach);
  });

  test.each(["new Date()", "Date()"])("%s outside an adapter", async (expression) => {
    const source = `export const at = ${expression};\nexport const fine = new Date(0);\n`;
    const files = { "packages/drip/src/a.ts": source, "packages/drip/src/a.system.ts": source };
    const found = await withTree(files, (root) => checkAmbientDates(readTree(root)));
    expect(found).toEqual(["packages/drip/src/a.ts:1: reads the clock; take `now` as an argument"]);
  });

  const host = ["registry", "npmjs", "org"].join(".");
  const home = ["", "home", "somebody", "vestibule"].join("/");
  const ignored = ["@ts", "ignore"].join("-");
  const disabled = ["oxlint", "disable-next-line no-console"].join("-");
  const tidyFixtures: [title: string, breach: RegExp, files: Record<string, string>][] = [
    ["a file name in another case", /is not kebab-case/, { "packages/drip/src/openAt.ts": "" }],
    ["a name that says nothing", /says nothing/, { "packages/drip/src/utils.ts": "" }],
    ["a barrel", /says nothing/, { "packages/drip/src/index.ts": "" }],
    ["a long source", /401 lines, more than 400/, { "apps/mint/src/a.ts": "\n".repeat(401) }],
    ["a long test", /601 lines, more than 600/, { "apps/mint/test/a.test.ts": "\n".repeat(601) }],
    [
      "a registry host",
      /names a registry host/,
      { "pnpm-lock.yaml": `tarball: https://${host}/a` },
    ],
    ["a place on one machine", /names a registry host or a place/, { "docs/a.md": `cd ${home}` }],
    ["an ignored type error", /without a reason/, { "apps/mint/src/a.ts": `// ${ignored}\n` }],
    [
      "a rule switched off in silence",
      /without a reason/,
      { "apps/mint/src/a.ts": `// ${disabled}\n` },
    ],
    [
      "a document with a path to nothing",
      /names `packages\/gone\/src`/,
      { "docs/a.md": "`packages/gone/src`" },
    ],
    [
      "a document with a broken link",
      /links to \.\/gone\.md/,
      { "docs/a.md": "[there](./gone.md)" },
    ],
    [
      "a problem type that is not registered",
      /problem `no-such`/,
      { "docs/a.md": "urn:vestibule:problem:no-such" },
    ],
    [
      "a problem with another status",
      /problem `404 sold-out`/,
      { "docs/a.md": "answers `404 sold-out`" },
    ],
  ];
  test.each(tidyFixtures)("%s", async (_title, breach, files) => {
    const found = await withTree(files, (root) => checkTidiness(root, readTree(root)));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(breach);
  });
});
