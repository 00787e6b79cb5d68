/**
 * Bundles the guard: ES modules without an import of the workspace or of anything else, and
 * declarations that stand alone.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { build } from "esbuild";

const PACKAGE = join(import.meta.dirname, "..");
const ROOT = join(PACKAGE, "../..");
const DIST = join(PACKAGE, "dist");
const ENTRIES = ["guard", "hono", "express", "fastify", "next"] as const;
/** What declarations may name besides each other: types of the framework that an adapter is for. */
const PEERS: readonly string[] = ["hono"];

/** @throws Error when something would be published that does not stand alone. */
export async function buildGuard(): Promise<{ bytes: number; declarations: number }> {
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(DIST);
  const { metafile } = await build({
    absWorkingDir: PACKAGE,
    entryPoints: ENTRIES.map((name) => `src/${name}.ts`),
    outdir: "dist",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    target: ["node20", "es2022"],
    chunkNames: "chunks/[name]-[hash]",
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
  const outputs = Object.entries(metafile.outputs);
  for (const [path, { imports }] of outputs) {
    const left = imports.find(({ external }) => external === true);
    if (left !== undefined) throw new Error(`${path} still imports ${left.path}`);
  }
  keepLicenses(Object.keys(metafile.inputs));
  const bytes = outputs.reduce((sum, [, output]) => sum + output.bytes, 0);
  return { bytes, declarations: writeDeclarations() };
}

/** The terms of what was built in from elsewhere go along with it. */
function keepLicenses(inputs: readonly string[]): void {
  const homes = new Set(
    inputs.flatMap((path) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []),
  );
  const texts = [...homes].toSorted().map((home) => {
    const directory = realpathSync(join(PACKAGE, home));
    const file = readdirSync(directory).find((name) => /^licen[cs]e(\.\w+)?$/i.test(name));
    if (file === undefined) throw new Error(`${home} states no licence`);
    return `${basename(home)}\n\n${readFileSync(join(directory, file), "utf8").trim()}\n`;
  });
  writeFileSync(join(DIST, "third-party-licenses.txt"), texts.join(`\n${"-".repeat(72)}\n\n`));
  copyFileSync(join(ROOT, "LICENSE"), join(DIST, "LICENSE"));
}

/**
 * TypeScript writes the declarations of the whole program; from the entries on, only what they name is
 * published. Public types live in a file that imports nothing, so that this is very little.
 */
function writeDeclarations(): number {
  const out = mkdtempSync(join(tmpdir(), "vestibule-guard-"));
  try {
    const options = ["--noEmit", "false", "--emitDeclarationOnly", "--declaration"];
    const { status, stdout } = spawnSync(
      join(ROOT, "node_modules/.bin/tsc"),
      ["-p", PACKAGE, ...options, "--rootDir", ROOT, "--outDir", out],
      { encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`the declarations could not be written:\n${stdout}`);
    const written = join(out, "packages/guard/src");
    const queue = ENTRIES.map((name) => `${name}.d.ts`);
    const done = new Set<string>();
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      if (done.has(name)) continue;
      done.add(name);
      const text = readFileSync(join(written, name), "utf8");
      for (const wanted of modulesOf(text)) {
        if (PEERS.includes(wanted)) continue;
        if (!wanted.startsWith("./")) throw new Error(`${name} names types of ${wanted}`);
        queue.push(wanted.slice(2).replace(/\.ts$/, ".d.ts"));
      }
      mkdirSync(dirname(join(DIST, name)), { recursive: true });
      writeFileSync(join(DIST, name), text.replace(/(["'])(\.\/[\w.-]+)\.ts\1/g, "$1$2.js$1"));
    }
    return done.size;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function modulesOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)].map(
    (found) => found[1] ?? "",
  );
}
