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
import { CREDIT_SECONDS } from "@vestibule/contracts/limits";
import { cookieName } from "@vestibule/contracts/names";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Shop, ask, serve } from "./servers.ts";
import { EVENT, ISSUER, OTHER_VISITOR, VISITOR, World } from "./world.ts";

const PACKAGE = join(import.meta.dirname, "..");
const FIXTURE = join(import.meta.dirname, "fixtures/shop");
const EXAMPLES = join(PACKAGE, "examples");
const TSC = join(PACKAGE, "../../node_modules/.bin/tsc");

let shopDirectory: string;
let installed: string;

beforeAll(() => {
  shopDirectory = realpathSync(mkdtempSync(join(tmpdir(), "vestibule-shop-")));
  for (const directory of [FIXTURE, EXAMPLES])
    cpSync(directory, shopDirectory, { recursive: true });
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

describe("the examples, in plain JavaScript", () => {
  let world: World;
  let mint: Shop;
  const start = (script: string) =>
    spawn(process.execPath, [script], {
      cwd: shopDirectory,
      env: {
        ...{ MINT_URLS: mint.url, PURCHASE_URL: mint.url, ISSUER, EVENT, PORT: "0" },
        PATH: process.env["PATH"],
      },
      stdio: ["ignore", "pipe", "inherit"],
    });

  beforeAll(async () => {
    world = await World.create();
    world.now = Date.now();
    mint = await serve(world);
  });
  afterAll(() => mint.close());

  const FRAMEWORKS = ["express.mjs", "fastify.mjs", "hono.mjs", "next.mjs"].entries();
  test.each([...FRAMEWORKS])("%i: %s checks, and sells once", async (index, script) => {
    const child = start(script);
    try {
      const [url] = (await once(createInterface(child.stdout), "line")) as [string];
      const admission = await world.admission({ number: index + 1 });
      const send = (visitor: string, body: { json?: object; body?: string }) => {
        const headers = [
          ["Vestibule-Admission", admission],
          ["Vestibule-Visitor", visitor],
          ...(body.body === undefined ? [] : ([["Content-Type", "application/json"]] as const)),
        ] as const;
        return ask(url, { headers, ...body });
      };
      const buy = async (visitor: string, json: object = { seats: 2 }) => {
        const { status, body } = await send(visitor, { json });
        return [status, JSON.parse(body)] as [number, { order: string }];
      };
      expect(await buy(OTHER_VISITOR)).toMatchObject([401, { status: 401 }]);
      // Whatever is no order is a 400, in words, and spends nothing.
      for (const body of ["", "{", "null", '"x"', "[]", "{}", '{"seats":0}', '{"seats":"2"}']) {
        const answer = await send(VISITOR, { body });
        expect([body, answer.status]).toEqual([body, 400]);
        expect(JSON.parse(answer.body)).toMatchObject({ message: expect.any(String) as string });
        expect(answer.body).not.toMatch(/node_modules|\.mjs/);
      }
      // However it is pressed and whatever else is sent along: one admission is one order of the shop's.
      const presses = await Promise.all(
        ["cart-1", "cart-2", "cart-3"].map((id) => buy(VISITOR, { seats: 2, id })),
      );
      const [[, first] = [0, { order: "" }]] = presses;
      const sold = [201, { order: first.order, seats: 2, place: index + 1 }];
      expect(presses).toEqual([sold, sold, sold]);
      expect(await buy(VISITOR, { seats: 4, id: first.order })).toEqual(sold);
      const credit = "e30.e30.c2lnbmF0dXJl";
      world.purchase = () =>
        Response.json(
          { type: "urn:vestibule:problem:unavailable", status: 503, credit },
          { status: 503 },
        );
      expect(await buy(VISITOR)).toMatchObject([503, { retryAfterMs: 1_000 }]);
      const away = await send(VISITOR, { json: { seats: 2 } });
      const name = cookieName("credit", EVENT, { https: true });
      const kept = `Path=/; Max-Age=${CREDIT_SECONDS}; HttpOnly; SameSite=Lax; Secure`;
      expect(away.headers["set-cookie"]).toEqual([`${name}=${credit}; ${kept}`]);
      world.purchase = () =>
        Response.json(
          { type: "urn:vestibule:problem:already-spent", status: 409 },
          { status: 409 },
        );
      expect(await buy(VISITOR)).toMatchObject([409, {}]);
    } finally {
      world.purchase = undefined;
      child.kill();
    }
  });

  test("a guard in the background holds no process open", async () => {
    const [code] = (await once(start("idle.mjs"), "exit")) as [number];
    expect(code).toBe(0);
  });

  test("are what the documentation shows, line by line", () => {
    const examples = readdirSync(EXAMPLES).map((name) =>
      readFileSync(join(EXAMPLES, name), "utf8"),
    );
    const lines = new Set(examples.flatMap((text) => text.split("\n").map((line) => line.trim())));
    const text = readFileSync(join(PACKAGE, "../../docs/guard.md"), "utf8");
    const blocks = [...text.matchAll(/^```js\n([\s\S]*?)^```/gm)].map((found) => found[1] ?? "");
    expect(blocks.length).toBeGreaterThan(4);
    const shown = blocks.flatMap((block) => block.split("\n").map((line) => line.trim()));
    expect(shown.filter((line) => !lines.has(line) && line !== "")).toEqual([]);
  });
});

function at(name: string): string {
  return `dist/${name}`;
}
