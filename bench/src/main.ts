/** `pnpm bench`: measures candidates and floors side by side. Exits with 1 when a row misses. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type Arguments, readArguments, USAGE } from "./arguments.ts";
import { Processes } from "./processes.ts";
import { failureOf, reportOf, table } from "./report.ts";
import type { Measured, Row, RowReport } from "./row.ts";
import { ROWS } from "./rows.ts";
import { progressLine } from "./terminal.ts";

interface Result {
  readonly report: RowReport;
  readonly measured?: Measured;
}

const processes = new Processes();
const terminal = progressLine(process.stderr);
let interrupted = false;

async function main(): Promise<number> {
  let wanted: Arguments;
  try {
    wanted = readArguments(
      process.argv.slice(2),
      ROWS.map(({ name }) => name),
    );
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (wanted.help) {
    console.log(`${USAGE}\n\n${ROWS.map(({ name, what }) => `  ${name}: ${what}`).join("\n")}`);
    return 0;
  }
  const rows = ROWS.filter(({ name }) => wanted.only.length === 0 || wanted.only.includes(name));
  const scratch = mkdtempSync(join(tmpdir(), "vestibule-bench-"));
  process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

  const results: Result[] = [];
  for (const [index, row] of rows.entries()) {
    if (interrupted) break;
    terminal.line(`${index + 1}/${rows.length} ${row.name}: ${row.what}\n    against ${row.floor}`);
    results.push(await attempt(row, scratch, wanted.quick));
  }
  if (interrupted) return 130;
  console.log(`\n${table(results)}`);
  if (wanted.quick) console.log("quick: the rounds were too few and too short to judge by");
  const reports = results.map(({ report }) => report);
  if (wanted.json !== undefined)
    writeFileSync(wanted.json, `${JSON.stringify(reports, null, 2)}\n`);
  return reports.every(({ pass }) => pass) ? 0 : 1;
}

/** Measures one row with processes of its own; a row that fails does not stop the others. */
async function attempt(row: Row, scratch: string, quick: boolean): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`not done after ${row.timeoutMs / 1_000} s`)),
    row.timeoutMs,
  );
  try {
    const bench = { processes, scratch, quick, progress: terminal.progress };
    const measured = await Promise.race([row.measure(bench), late]);
    const report = reportOf(row, measured);
    terminal.line(`    ${report.pass ? "pass" : "MISS"}: ratio ${report.ratio.toFixed(3)}`);
    for (const miss of measured.misses ?? []) terminal.line(`    MISS: ${miss}`);
    for (const note of measured.notes) terminal.line(`    ${note}`);
    return { report, measured };
  } catch (error) {
    if (interrupted) return { report: failureOf(row) };
    terminal.line(`    FAILED: ${(error as Error).message}`);
    for (const obituary of processes.obituaries()) terminal.line(`    ${obituary}`);
    return { report: failureOf(row) };
  } finally {
    clearTimeout(timer);
    await processes.stopAll();
  }
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.on(signal, () => {
    if (interrupted) process.exit(code);
    interrupted = true;
    terminal.line("stopping");
    void processes.stopAll().finally(() => process.exit(code));
  });
}

const code = await main();
// An interrupted run ends when its processes have.
if (!interrupted) process.exit(code);
