/**
 * `npx -y pnpm@12 looks FILE [--title T] [--accent #rrggbb] [--language en] [--out looks.html]`: checks looks as a mint would, and
 * writes one file with the page in several states, light and dark, as the edge would show them. No sale is needed.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { deflateRawSync } from "node:zlib";
import { type Looks, looksSchema } from "@vestibule/contracts/looks";
import { type Mistake, parse } from "@vestibule/contracts/parse";
import { type Result, refuse } from "@vestibule/kernel/result";
import { checkLooks } from "@vestibule/looks/check-looks";
import { buildPageAssets } from "../build/page-assets.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    title: { type: "string", default: "Your event" },
    accent: { type: "string", default: "#0b6e4f" },
    language: { type: "string", default: "en" },
    out: { type: "string", default: "looks.html" },
  },
});

function readLooks(file: string): Result<Looks, readonly Mistake[]> {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    return refuse([{ field: file, message: (error as Error).message }]);
  }
  const read = parse(looksSchema, json);
  if (!read.ok) return read;
  const compressedBytes = (text: string) => deflateRawSync(text).length;
  return checkLooks(read.value, { accent: values.accent, compressedBytes });
}

const looks = readLooks(positionals[0] ?? "looks.json");
if (looks.ok) {
  await buildPageAssets();
  const { leftOut, previewPage } = await import("./preview-page.ts");
  const { title, accent, language: tag } = values;
  writeFileSync(values.out, await previewPage({ title, accent, tag, looks: looks.value }));
  console.log(`${values.out}: open it in a browser`);
  for (const [language, parts] of await leftOut({ title, accent, looks: looks.value }))
    console.log(`${language}: left out for want of room: ${parts.join(", ")}`);
} else {
  for (const { field, message } of looks.refusal) console.error(`${field || "looks"}: ${message}`);
  process.exitCode = 1;
}
