/**
 * Builds the script and the style sheet of the holding page into `dist/page-assets.js`, as texts that
 * the Worker writes into the page. Runs before every build and test of the edge; takes some 50 ms.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const file = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const OUT = file("dist/page-assets.js");

/** Browsers of the last five years: what the page is tested with and written for. */
const TARGET = ["chrome100", "edge100", "firefox100", "safari15"];

async function bundle(entry: string): Promise<string> {
  const result = await build({
    entryPoints: [file(entry)],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    platform: "browser",
    target: TARGET,
    charset: "utf8",
    legalComments: "none",
  });
  const [output] = result.outputFiles;
  if (output === undefined) throw new Error(`${entry}: esbuild wrote nothing`);
  return output.text.trim();
}

/** Writes only what changed, and in one step: builds may run side by side. */
export async function buildPageAssets(): Promise<void> {
  const script = await bundle("src/page/client/main.ts");
  const style = await bundle("src/page/style.css");
  for (const text of [script, style]) {
    if (/<\/(script|style)/i.test(text)) throw new Error("an asset would end its own element");
  }
  const source = `export const script = ${JSON.stringify(script)};\nexport const style = ${JSON.stringify(style)};\n`;
  mkdirSync(file("dist"), { recursive: true });
  let present: string | undefined;
  try {
    present = readFileSync(OUT, "utf8");
  } catch {
    // the first build
  }
  if (present === source) return;
  const beside = `${OUT}.${process.pid}`;
  writeFileSync(beside, source);
  renameSync(beside, OUT);
}
