/**
 * Builds the script, the style sheet and the languages of the holding page into `dist/page-assets.js`, as texts that
 * the Worker writes into the page. Runs before every build and test of the edge; takes some 50 ms.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { minify } from "terser";
import type { LanguageFile } from "../src/page/page-assets.d.ts";

const file = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const OUT = file("dist/page-assets.js");

/** Browsers of the last five years: what the page is tested with and written for. */
const TARGET = ["chrome100", "edge100", "firefox100", "safari15"];

/**
 * Names of ours that stay within the script: they may be short. None is on the wire, in the page's data or texts, or of a
 * browser's own; the tests of the script run it as it is built.
 */
const OWN_NAMES =
  "about|action|advise|advisedMs|aheadMost|asks|atLeast|atOnce|cancel|category|claim|claimBy|claimWindowMs|device|" +
  "duration|effort|eta|facts|failed|failures|fill|forget|formats|fromMs|goBack|hear|heard|heardAt|inMs|inside|isBusy|" +
  "isCreditUsed|isHidden|isLost|isOnline|isPassed|isSet|isShut|isSure|isThere|isUrgent|joined|jumped|kept|kind|known|label|lapsed|" +
  "lastCallInMs|later|leaves|line|maySay|nextMs|offer|once|over|owe|prove|quickly|range|receivedAt|retryAfterMs|retryMs|" +
  "saidFor|shell|show|soon|soonestMs|start|startTimer|stay|stood|stopTimer|target|tell|texts|ticks|told|untilMs|" +
  "untilTurnMs|value|view|wake|words";

async function bundle(entry: string, format: "iife" | "esm" = "iife"): Promise<string> {
  const result = await build({
    entryPoints: [file(entry)],
    bundle: true,
    minify: true,
    mangleProps: new RegExp(`^(${OWN_NAMES})$`),
    write: false,
    format,
    platform: "browser",
    target: TARGET,
    charset: "utf8",
    legalComments: "none",
  });
  const [output] = result.outputFiles;
  if (output === undefined) throw new Error(`${entry}: esbuild wrote nothing`);
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
  }
  return files;
}

/** As a content policy names it (CSP3, section 2.3.1). */
function sourceOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Writes only what changed, and in one step: builds may run side by side. */
export async function buildPageAssets(): Promise<void> {
  const script = await smaller(await bundle("src/page/client/main.ts"));
  const style = await bundle("src/page/style.css");
  const logoStyle = await bundle("src/page/logo.css");
  const templateStyle = await bundle("src/page/template.css");
  // It stands in the element of the other one: no function of its own around it.
  const proveScript = await smaller(await bundle("src/page/client/prove/main.ts", "esm"));
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
