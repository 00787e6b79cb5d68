/**
 * `node test/simulation/estimates/main.ts [--sales N] [--write]`: measures estimates over simulated sales, and prints the
 * tables of docs/estimates.md; `--write` puts them there (then `pnpm format`). The seeds are 1 to N: the same tables every time.
 */
import { readFile, writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { accuracyOf, announcementsOf } from "./measure.ts";
import { BASKETS, hopesOf, truthOf } from "./hopes.ts";
import { SCENARIOS } from "./scenarios.ts";

const SALES_DEFAULT = 25;
const DOC = new URL("../../../docs/estimates.md", import.meta.url);

const HEAD = [
  "sale",
  "estimates",
  "turn within the range, %",
  "of those that nothing unannounced overtook, %",
  "width, % of the wait",
  "misses: off by, % of the wait",
];

const HOPE_HEAD = [
  "those who come",
  "told",
  "of those who were told, got none, %",
  "of those who got none, were told, %",
  "said and taken back, at most",
];

async function rangeTable(sales: number): Promise<string> {
  const rows: string[][] = [];
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
  return tableOf(HEAD, rows);
}

async function hopeTable(sales: number): Promise<string> {
  const rows: string[][] = [];
  for (const { name, basket } of BASKETS) {
    const all = [];
    for (let seed = 1; seed <= sales; seed += 1) all.push(...(await hopesOf(basket, seed)));
    const { told, right, warned, changes } = truthOf(all);
    rows.push([
      name,
      `${told} of ${all.length}`,
      right.toFixed(0),
      warned.toFixed(0),
      String(changes),
    ]);
  }
  return tableOf(HOPE_HEAD, rows);
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function withTable(doc: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`];
  const [from, until] = [doc.indexOf(begin), doc.indexOf(end)];
  if (from < 0 || until < from) throw new Error(`docs/estimates.md has no place for ${name}`);
  return `${doc.slice(0, from + begin.length)}\n\n${table}\n\n${doc.slice(until)}`;
}

const { values } = parseArgs({
  options: { sales: { type: "string" }, write: { type: "boolean", default: false } },
});
const sales = Number(values.sales ?? SALES_DEFAULT);
if (!Number.isSafeInteger(sales) || sales < 1)
  throw new RangeError("--sales takes a whole number from 1 on");
const tables = { ranges: await rangeTable(sales), hopes: await hopeTable(sales) };
console.log(`${tables.ranges}\n\n${tables.hopes}`);
if (values.write) {
  let doc = await readFile(DOC, "utf8");
  for (const [name, table] of Object.entries(tables)) doc = withTable(doc, name, table);
  await writeFile(DOC, doc);
}
