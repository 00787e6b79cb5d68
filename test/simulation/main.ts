/** `pnpm simulate [--sales N] [--seed S]`: sales until all have passed or some have failed. */
import { parseArgs } from "node:util";
import { describePlan, planSale } from "./plan.ts";
import { describeFailure, runSales } from "./run-sales.ts";

const SALES_DEFAULT = 1_000;
const SALES_MAX = 10_000_000;
const SEEDS = 2 ** 31;

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== "--"),
  options: {
    sales: { type: "string" },
    seed: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

/** @throws RangeError when it is no whole number from 1 to `most`. */
function whole(name: string, text: string, most: number): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return value;
  throw new RangeError(`--${name} takes a whole number from 1 to ${most}`);
}

async function main(): Promise<void> {
  const first =
    values.seed === undefined ? 1 + (Date.now() % SEEDS) : whole("seed", values.seed, SEEDS);
  const one = values.seed !== undefined && values.sales === undefined;
  const count =
    values.sales === undefined
      ? one
        ? 1
        : SALES_DEFAULT
      : whole("sales", values.sales, SALES_MAX);
  console.log(`simulate: ${count} sales from seed ${first} on`);
  if (one) console.log(describePlan(planSale(first)));
  const startedAt = performance.now();
  let done = 0;
  let shown = 0;
  const { sales, events, failures, figures } = await runSales({
    ...{ first, count },
    onSale: (result) => {
      done += 1;
      if (one) console.log([...result.tail, "", `digest ${result.digest}`].join("\n"));
      const percent = Math.floor((done * 100) / count);
      if (count === 1 || percent < shown + (process.stdout.isTTY ? 1 : 10)) return;
      shown = percent;
      const perSecond = Math.round((done * 1_000) / (performance.now() - startedAt));
      const line = `${done} of ${count} sales, ${percent} %, ${perSecond} a second`;
      if (process.stdout.isTTY) process.stdout.write(`\r${line}${percent === 100 ? "\n" : ""}`);
      else console.log(line);
    },
  });
  for (const failure of failures) console.log(`\n${describeFailure(failure)}`);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  console.log(`${sales} sales, ${events} events in ${seconds} s: ${JSON.stringify(figures)}`);
  console.log(failures.length === 0 ? "every law held" : `${failures.length} sales broke a law`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

if (values.help) console.log("pnpm simulate [--sales N] [--seed S]");
else await main();
