/**
 * `node apps/edge/test/look/main.ts [--keep] [--language=de] [scene …]`: every state of the holding page in real Chromium, on every screen,
 * as pictures to look at in `.cache/look`, and what each of them has to hold besides. With `--keep` they become those that the test compares with
 * (`apps/edge/test/look/kept`): look at them before they are committed.
 */
import { parseArgs } from "node:util";
import { buildPageAssets } from "../../build/page-assets.ts";

await buildPageAssets();
const { look } = await import("./look.ts");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    keep: { type: "boolean", default: false },
    language: { type: "string", default: "en-GB" },
  },
});
const faults = await look({ ...values, wanted: positionals });
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
