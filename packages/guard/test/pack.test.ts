/** What a shop gets: the tarball, installed without a network, run from plain JavaScript, seen by a compiler. */
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { basename, dirname, extname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Shop, ask, serve } from "./servers.ts";
import { EVENT, ISSUER, OTHER_VISITOR, VISITOR, World } from "./world.ts";

const PACKAGE = join(import.meta.dirname, "..");
const FIXTURE = join(import.meta.dirname, "fixtures/shop");
const TSC = join(PACKAGE, "../../node_modules/.bin/tsc");

let shopDirectory: string;
let installed: string;

beforeAll(() => {
  shopDirectory = realpathSync(mkdtempSync(join(tmpdir(), "vestibule-shop-")));
  cpSync(FIXTURE, shopDirectory, { recursive: true });
  const [tool, ...before] = pnpm();
  run(tool, [...before, "pack", "--pack-destination", shopDirectory], PACKAGE);
  const tarball = readdirSync(shopDirectory).find((name) => name.endsWith(".tgz")) ?? "none";
  writeFileSync(join(shopDirectory, "package.json"), '{"type":"module","private":true}');
  const npm = ["install", "--offline", "--no-audit", "--no-fund", "--cache", "cache"];
  run("npm", [...npm, `./${tarball}`], shopDirectory);
  installed = join(shopDirectory, "node_modules/@vestibule/guard");
  for (const name of ["express", "fastify", "hono", "@hono/node-server"]) link(name);
  for (const name of ["@types/express", "@types/node"]) link(name);
}, 120_000);

afterAll(() => rmSync(shopDirectory, { recursive: true, force: true }));

/** The pnpm that runs this, else the one that the README names. */
function pnpm(): readonly [string, ...string[]] {
  const current = process.env["npm_execpath"] ?? "";
  if (!basename(current).startsWith("pnpm")) return ["npx", "-y", "pnpm@12"];
  return /^\.[cm]?js$/.test(extname(current)) ? [process.execPath, current] : [current];
}

/** What a shop has besides: not part of what is tested, so not fetched. */
function link(name: string): void {
  const at = join(shopDirectory, "node_modules", name);
  mkdirSync(dirname(at), { recursive: true });
  symlinkSync(realpathSync(join(PACKAGE, "node_modules", name)), at);
}

function run(tool: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(tool, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${tool} ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

function filesOf(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => extname(name) !== "")
    .toSorted();
}

describe("the tarball", () => {
  test("holds code, declarations and the terms of what was built in; no source, no test", () => {
    const files = filesOf(installed).map((name) => name.replace(/chunk-\w+/, "chunk-x"));
    expect(files).toEqual([
      "README.md",
      ...["adapter.d.ts", "chunks/chunk-x.js", "express.d.ts", "express.js", "fastify.d.ts"].map(
        at,
      ),
      ...["fastify.js", "guard.d.ts", "guard.js", "hono.d.ts", "hono.js", "next.d.ts"].map(at),
      ...["next.js", "third-party-licenses.txt", "types.d.ts"].map(at),
      "package.json",
    ]);
    expect(existsSync(join(installed, "dist/LICENSE"))).toBe(true);
    expect(readFileSync(join(installed, "dist/third-party-licenses.txt"), "utf8")).toMatch(
      /^jose\n[\s\S]*\nzod\n/,
    );
  });

  test("names nothing to install, and each of its entries is there", () => {
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
      exports: Record<string, { types: string; default: string }>;
      dependencies?: object;
      peerDependenciesMeta: object;
    };
    expect(manifest.dependencies ?? {}).toEqual({});
    expect(manifest.peerDependenciesMeta).toEqual({ hono: { optional: true } });
    expect(Object.keys(manifest.exports)).toEqual([
      ...[".", "./hono", "./express", "./fastify", "./next"],
    ]);
    for (const entry of Object.values(manifest.exports)) {
      expect(existsSync(join(installed, entry.types))).toBe(true);
      expect(existsSync(join(installed, entry.default))).toBe(true);
    }
  });

  test("needs nothing but itself, nothing of Node, and nothing newer than Node 20", () => {
    for (const name of filesOf(installed).filter((each) => each.endsWith(".js"))) {
      const text = readFileSync(join(installed, name), "utf8");
      expect(text.match(/(?:from|import)\s*\(?\s*"(?!\.)[^"]*"/g)).toBeNull();
      expect(text).not.toMatch(/\b(?:process|Buffer|require)\b\s*[.([]|node:/);
      expect(text).not.toMatch(/withResolvers|groupBy|fromAsync|Promise\.try|RegExp\.escape/);
      expect(text).not.toMatch(/URL\.parse|isDisjointFrom|Iterator\.from/);
      expect(text).not.toMatch(/private key|signToken|@vestibule\/(?!guard)/);
    }
    expect(readFileSync(join(installed, "dist/guard.js")).byteLength).toBeLessThan(150_000);
  });
});

describe("declarations stand alone", () => {
  const compile = (file: string, options: readonly string[]) => {
    const strict = ["--strict", "--noEmit", "--exactOptionalPropertyTypes", "--target", "es2022"];
    const { stdout } = spawnSync(
      TSC,
      [file, "--ignoreConfig", "--module", "nodenext", ...strict, ...options],
      { cwd: shopDirectory, encoding: "utf8" },
    );
    return stdout;
  };
  const CASES: [title: string, file: string, options: readonly string[]][] = [
    ["with no platform at all", "consumer.ts", ["--lib", "es2022", "--types", ""]],
    ["with the DOM", "consumer-web.ts", ["--lib", "es2022,dom", "--types", ""]],
    ["with Node", "consumer-web.ts", ["--lib", "es2022", "--types", "node"]],
    ["with Node, the core", "consumer.ts", ["--lib", "es2022", "--types", "node"]],
  ];
  test.each(CASES)("%s", (_title, file, options) => {
    expect(compile(file, ["--skipLibCheck", "false", ...options])).toBe("");
  });

  test("with Express, Fastify and Hono", () => {
    const options = ["--skipLibCheck", "--esModuleInterop", "--lib", "es2022", "--types", "node"];
    expect(compile("consumer-frameworks.ts", options)).toBe("");
  });
});

describe("a shop in plain JavaScript", () => {
  test("checks, spends once, and ends by itself, behind each framework", async () => {
    const world = await World.create();
    world.now = Date.now();
    const mint: Shop = await serve(world);
    const child = spawn(process.execPath, ["shop.mjs", mint.url, ISSUER, EVENT], {
      cwd: shopDirectory,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const urls = Object.entries(JSON.parse(line) as Record<string, string>);
    expect(urls.map(([name]) => name)).toEqual(["express", "fastify", "hono", "next"]);

    for (const [index, [name, url]] of urls.entries()) {
      const admission = await world.admission({ number: index + 1 });
      const headers = (visitor: string, key: string) =>
        [
          ["Vestibule-Admission", admission],
          ["Vestibule-Visitor", visitor],
          ["Idempotency-Key", key],
        ] as const;
      const answers = [];
      for (const shown of [
        headers(OTHER_VISITOR, "cart-1"),
        headers(VISITOR, "cart-1"),
        headers(VISITOR, "cart-1"),
        headers(VISITOR, "cart-2"),
      ]) {
        const { status, body } = await ask(url, { headers: shown });
        const { kind, spend } = JSON.parse(body) as { kind?: string; spend?: { number: number } };
        answers.push([status, kind, spend?.number]);
      }
      expect([name, ...answers]).toEqual([
        name,
        [401, undefined, undefined],
        [200, "spent", index + 1],
        [200, "spent", index + 1],
        [200, "already-spent", undefined],
      ]);
    }

    child.stdin.end();
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(0);
    await mint.close();
  });
});

function at(name: string): string {
  return `dist/${name}`;
}
