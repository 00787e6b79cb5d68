/** `pnpm torture [--faults N] [--seed S] [--minutes M] [--logs DIR]`: real processes, killed and cut off under load. */
import { parseArgs } from "node:util";

import { torture, type TortureReport } from "./torture.ts";

const FAULTS_DEFAULT = 120;
const FAULTS_MAX = 100_000;
const MINUTES_DEFAULT = 15;
const MINUTES_MAX = 1_440;
const SEEDS = 2 ** 31;
const SHOWN_MAX = 20;
const USAGE = "pnpm torture [--faults N] [--seed S] [--minutes M] [--logs DIR]";

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== "--"),
  options: {
    faults: { type: "string", default: String(FAULTS_DEFAULT) },
    seed: { type: "string", default: String(1 + (Date.now() % SEEDS)) },
    minutes: { type: "string", default: String(MINUTES_DEFAULT) },
    logs: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** @throws RangeError when it is no whole number from 1 to `most`. */
function whole(name: "faults" | "seed" | "minutes", most: number): number {
  const value = Number(values[name]);
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  throw new RangeError(`--${name} takes a whole number from 1 to ${most}`);
}

async function main(): Promise<void> {
  const faults = whole("faults", FAULTS_MAX);
  const seed = whole("seed", SEEDS);
  const minutes = whole("minutes", MINUTES_MAX);
  console.log(`torture: ${faults} faults from seed ${seed}, ${minutes} minutes at most`);
  const report = await torture({
    ...{ seed, faults },
    withinMs: minutes * 60_000,
    pace: { min: 500, max: 4_500 },
    rush: 150,
    fansPerSecond: 6,
    logs: values.logs,
    say: (line) => console.log(line),
  });
  console.log(`\n${summaryOf(report)}`);
  const brought = [...report.faults.values()].reduce((sum, count) => sum + count, 0);
  if (brought < faults) console.log(`!!! only ${brought} of ${faults} faults: the time was over`);
  console.log(`again: npx -y pnpm@12 torture --seed ${seed} --faults ${faults}`);
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}

function summaryOf(report: TortureReport): string {
  const { violations, checked, endings, faults, answers, logged, failedStarts, latestTimerMs } =
    report;
  const table = (title: string, entries: Iterable<readonly [string, number]>): string =>
    [title, ...[...entries].map(([name, count]) => `${String(count).padStart(8)}  ${name}`)].join(
      "\n",
    );
  const shown = violations.slice(0, SHOWN_MAX).map((violation) => `  ${violation}`);
  return [
    table("faults", byName(faults)),
    table("what was looked at", Object.entries(checked)),
    table("how fans ended", Object.entries(endings)),
    table("answers", byName(answers)),
    table("errors in logs", [...logged, ["starts that failed", failedStarts]]),
    table("this machine", [["latest timer of ours, ms", latestTimerMs]]),
    violations.length === 0
      ? "every law held"
      : [`${violations.length} violations`, ...shown].join("\n"),
  ].join("\n\n");
}

function byName(counts: ReadonlyMap<string, number>): readonly (readonly [string, number])[] {
  return [...counts].toSorted(([a], [b]) => a.localeCompare(b));
}

// What was started ends with us.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
if (values.help) console.log(USAGE);
else await main();
