/**
 * Builds the script, the style sheet and the languages of the holding page into `dist/page-assets.js`, as texts that
 * the Worker writes into the page. Runs before every build and test of the edge; takes some 50 ms.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { minify } from "terser";
import { OWN_NAMES } from "./own-names.ts";
import type { LanguageFile } from "../src/page/page-assets.d.ts";

const file = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const OUT = file("dist/page-assets.js");

/** Browsers of the last five years: what the page is tested with and written for. */
const TARGET = ["chrome100", "edge100", "firefox100", "safari15"];

interface Bundling {
  readonly format?: "iife" | "esm";
  /** Properties that are written short. */
  readonly ownNames?: readonly string[];
}

async function bundle(entry: string, options: Bundling = {}): Promise<string> {
  const { format = "iife", ownNames = [] } = options;
  const result = await build({
    ...{ entryPoints: [file(entry)], bundle: true, minify: true, write: false, format },
    ...(ownNames.length === 0 ? {} : { mangleProps: new RegExp(`^(${ownNames.join("|")})$`) }),
    mangleCache: {},
    // Else each script begins with a directive that changes nothing in it.
    tsconfigRaw: { compilerOptions: { strict: false } },
    platform: "browser",
    target: TARGET,
    charset: "utf8",
    legalComments: "none",
  });
  const [output] = result.outputFiles;
  if (output === undefined) throw new Error(`${entry}: esbuild wrote nothing`);
  const absent = ownNames.filter((name) => !Object.hasOwn(result.mangleCache ?? {}, name));
  if (absent.length > 0) throw new Error(`${entry} has no property ${absent.join(", ")}`);
  return output.text.trim();
}

/** What esbuild has left in a script: some 200 bytes of a compressed page. */
async function smaller(script: string): Promise<string> {
  const compress = {
    ecma: 2020,
    passes: 3,
    keep_fargs: false,
    unsafe_arrows: true,
    pure_getters: true,
  } as const;
  const { code } = await minify(script, { compress, toplevel: true, format: { ecma: 2020 } });
  if (code === undefined) throw new Error("terser wrote nothing");
  return code;
}

/** A location speaks to one visitor at a time: texts stay text until somebody asks for their language. */
function languageFiles(): Record<string, LanguageFile> {
  const files: Record<string, LanguageFile> = {};
  for (const name of readdirSync(file("src/page/texts")).sort()) {
    const text = readFileSync(file(`src/page/texts/${name}`), "utf8");
    const { name: own, direction, page, ...texts } = JSON.parse(text) as Record<string, unknown>;
    const language = { name: own, direction, page: JSON.stringify(page) } as LanguageFile;
    files[name.replace(".json", "")] = { ...language, texts: JSON.stringify(texts) };
    if (text.includes("<")) throw new Error(`${name}: a text would end its own element`);
    const short = OWN_NAMES.filter((own) => text.includes(`{${own}}`));
    if (short.length > 0) throw new Error(`${name}: ${short.join(", ")} is written short`);
  }
  return files;
}

/** As a content policy names it (CSP3, section 2.3.1). */
function sourceOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Writes only what changed, and in one step: builds may run side by side. */
export async function buildPageAssets(): Promise<void> {
  const script = await smaller(await bundle("src/page/client/main.ts", { ownNames: OWN_NAMES }));
  const style = await bundle("src/page/style.css");
  const logoStyle = await bundle("src/page/logo.css");
  const templateStyle = await bundle("src/page/template.css");
  // It stands in the element of the other one: no function of its own around it.
  const proveScript = await smaller(
    await bundle("src/page/client/prove/main.ts", { format: "esm" }),
  );
  for (const text of [script, style, logoStyle, templateStyle, proveScript]) {
    if (/<\/(script|style)/i.test(text)) throw new Error("an asset would end its own element");
  }
  const sources = {
    scriptSource: sourceOf(script),
    styleSource: sourceOf(style),
    // One element holds both.
    proveSource: sourceOf(proveScript + script),
  };
  const source = Object.entries({
    script,
    style,
    logoStyle,
    templateStyle,
    proveScript,
    ...sources,
    languageFiles: languageFiles(),
  })
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
    .join("");
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
