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
  /** What stands in the place of names. */
  readonly define?: Record<string, string>;
  /** Properties that are written short. */
  readonly ownNames?: readonly string[];
  /** Gets the short name of each. */
  readonly shortNames?: Record<string, string | false>;
}

/** Names of the page's texts, which it gets as its script calls them. */
const TEXT_NAMES =
  "titlePlace|titleTurn|nobody|aheadOfYou|waitUnknown|under|turnIn|turnAt|turnLeft|turnEnds|confirmLeft|joinAgain|" +
  "byItself|leftFew|turnsLeft|leftNone|soldoutTurn|slotWhole|slotSaid|willAsk|hurry|pair|without|wait|trouble|headline|" +
  "lead|countdown|grew|unlikely|ahead|confirmTurn|said|slot";

async function bundle(entry: string, options: Bundling = {}): Promise<string> {
  const { format = "iife", ownNames = [], define = {} } = options;
  const result = await build({
    ...{ entryPoints: [file(entry)], bundle: true, minify: true, write: false, format, define },
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
  Object.assign(options.shortNames ?? {}, result.mangleCache);
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
    // No class and no global of the language is changed here.
    unsafe: true,
  } as const;
  const { code } = await minify(script, { compress, module: true, format: { ecma: 2020 } });
  if (code === undefined) throw new Error("terser wrote nothing");
  return code;
}

interface Languages {
  readonly files: Record<string, LanguageFile>;
  /** By language: what is said of alerts. */
  readonly alerts: Record<string, unknown>;
}

/** A location speaks to one visitor at a time: texts stay text until somebody asks for their language. */
function readLanguages(): Languages {
  const files: Record<string, LanguageFile> = {};
  const said: Record<string, unknown> = {};
  for (const name of readdirSync(file("src/page/texts")).sort()) {
    const text = readFileSync(file(`src/page/texts/${name}`), "utf8");
    const {
      name: own,
      direction,
      page,
      alerts,
      ...texts
    } = JSON.parse(text) as Record<string, unknown>;
    said[name.replace(".json", "")] = alerts;
    const language = { name: own, direction, page: JSON.stringify(page) } as LanguageFile;
    files[name.replace(".json", "")] = { ...language, texts: JSON.stringify(texts) };
    if (text.includes("<")) throw new Error(`${name}: a text would end its own element`);
    const short = OWN_NAMES.filter((own) => text.includes(`{${own}}`));
    if (short.length > 0) throw new Error(`${name}: ${short.join(", ")} is written short`);
  }
  return { files, alerts: said };
}

/** As a content policy names it (CSP3, section 2.3.1). */
function sourceOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Writes only what changed, and in one step: builds may run side by side. */
export async function buildPageAssets(): Promise<void> {
  const textNames = TEXT_NAMES.split("|");
  const shortNames: Record<string, string | false> = {};
  const ownNames = [...OWN_NAMES, ...textNames];
  const script = await smaller(await bundle("src/page/client/main.ts", { ownNames, shortNames }));
  const style = await bundle("src/page/style.css");
  const logoStyle = await bundle("src/page/logo.css");
  const templateStyle = await bundle("src/page/template.css");
  // It stands in the element of the other one: no function of its own around it.
  const proveScript = await smaller(
    await bundle("src/page/client/prove/main.ts", { format: "esm" }),
  );
  const offerScript = await smaller(
    await bundle("src/page/client/offer/main.ts", { format: "esm" }),
  );
  const languages = readLanguages();
  const define = { ALERT_TEXTS: JSON.stringify(languages.alerts) };
  const alertsScript = await bundle("src/page/client/alerts/main.ts", { define });
  for (const text of [
    script,
    style,
    logoStyle,
    templateStyle,
    proveScript,
    offerScript,
    alertsScript,
  ]) {
    if (/<\/(script|style)/i.test(text)) throw new Error("an asset would end its own element");
  }
  const sources = {
    // One element holds both.
    scriptSource: sourceOf(offerScript + script),
    styleSource: sourceOf(style),
    proveSource: sourceOf(proveScript + script),
    alertsSource: sourceOf(alertsScript),
  };
  const source = Object.entries({
    script,
    style,
    logoStyle,
    templateStyle,
    proveScript,
    offerScript,
    alertsScript,
    ...sources,
    textNames: Object.fromEntries(textNames.map((name) => [name, shortNames[name]])),
    languageFiles: languages.files,
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
