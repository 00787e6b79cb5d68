/**
 * `node test/simulation/estimates/main.ts [--sales N] [--write]`: measures estimates over simulated sales, and prints the
 * table of docs/estimates.md; `--write` puts it there (then `pnpm format`). The seeds are 1 to N: the same table every time.
 */
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { accuracyOf, announcementsOf } from "./measure.ts";
import { SCENARIOS } from "./scenarios.ts";

const SALES_DEFAULT = 25;
const DOC = new URL("../../../docs/estimates.md", import.meta.url);
const [BEGIN, END] = ["<!-- table: begin -->", "<!-- table: end -->"];

const HEAD = [
  "sale",
  "estimates",
  "turn within the range, %",
  "of those that nothing unannounced overtook, %",
  "width, % of the wait",
  "misses: off by, % of the wait",
];

async function table(sales: number): Promise<string> {
  const rows: string[][] = [HEAD, HEAD.map(() => "---")];
  for (const scenario of SCENARIOS) {
    const all = [];
    for (let seed = 1; seed <= sales; seed += 1)
      all.push(...(await announcementsOf(scenario, seed)));
    const { announcements, within, withinCalm, width, off } = accuracyOf(all);
    rows.push([
      scenario.name,
      announcements.toLocaleString("en"),
      within.toFixed(1),
      scenario.isCalm ? "all" : (withinCalm?.toFixed(1) ?? "none"),
      width.toFixed(0),
      off === 0 ? "–" : off < 1 ? "under 1" : `up to ${off.toFixed(0)}`,
    ]);
  }
  return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const { values } = parseArgs({
  options: { sales: { type: "string" }, write: { type: "boolean", default: false } },
});
const sales = Number(values.sales ?? SALES_DEFAULT);
if (!Number.isSafeInteger(sales) || sales < 1)
  throw new RangeError("--sales takes a whole number from 1 on");
const text = await table(sales);
console.log(text);
if (values.write) {
  const doc = await readFile(DOC, "utf8");
  const [from, until] = [doc.indexOf(BEGIN), doc.indexOf(END)];
  if (from < 0 || until < from) throw new Error("docs/estimates.md has no place for the table");
  await writeFile(DOC, `${doc.slice(0, from + BEGIN.length)}\n\n${text}\n\n${doc.slice(until)}`);
}
