import { issuedBy, planTick, settleable } from "@vestibule/mint/src/line/controller.ts";
import { compare, type Side } from "../compare.ts";
import { VirtualLine } from "@vestibule/mint/test/support/virtual-line.ts";
import type { Bench, Measured, Row } from "../row.ts";

const MANY = 10_000_000;
const FEW = 100;
const RATE = 600;
const HORIZON_SECONDS = 60;
/** Let in before anything is measured, on both sides. */
const BEFORE_SECONDS = 120;
/** "Within 10 %", on either side of one. */
const LEAST = 0.9;
const MOST = 1.1;
const PAIRS = 200;
const ROUND_MS = 25;

export const dripStep: Row = {
  name: "drip-step",
  what: `one step of the drip controller with ${MANY.toLocaleString("en")} waiting`,
  floor: `the same with ${FEW} waiting; the ratio is to be within 10 % of one`,
  unit: "steps/s",
  atLeast: LEAST,
  timeoutMs: 60_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const steps = { candidate: await stepOf(MANY), floor: await stepOf(FEW) };
  const measured = await compare(bench, {
    generator: {
      fire: (side, count) => {
        const step = steps[side as Side];
        const startedAt = performance.now();
        for (let done = 0; done < count; done += 1) step();
        return Promise.resolve({ elapsedMs: performance.now() - startedAt, samples: [] });
      },
    },
    pids: { candidate: process.pid, floor: process.pid },
    warmUp: bench.quick ? 20_000 : 200_000,
    pairs: PAIRS,
    roundMs: ROUND_MS,
  });
  const misses =
    measured.ratio > MOST ? [`a step with many waiting is faster by more than 10 %`] : [];
  return { ...measured, misses };
}

/**
 * A busy line of the mint in the middle of a sale, a piece of the drip due: what one tick reads and decides, again and
 * again, without writing it. It commits the same on both sides.
 */
async function stepOf(waiting: number): Promise<() => void> {
  const served = (BEFORE_SECONDS + HORIZON_SECONDS) * (RATE / 60);
  const at = await VirtualLine.start(
    { ratePerMinute: RATE, horizonSeconds: HORIZON_SECONDS },
    { seed: 1, waiting: served + waiting },
  );
  await at.crash();
  await at.tick();
  await at.pass(BEFORE_SECONDS * 1_000);
  const { line, clock } = at;
  const step = (): number => {
    const now = clock.now();
    const { record } = line;
    const settle = settleable(record, now).length;
    const change = planTick({ record, issued: issuedBy(line), now, claimed: new Map() });
    return settle + (change.segments ?? []).reduce((sum, { count }) => sum + count, 0);
  };
  for (let second = 0; step() === 0; second += 1) {
    if (second > HORIZON_SECONDS) throw new Error("no piece of the drip comes due");
    clock.advance(1_000);
  }
  const due = step();
  const expected = RATE / 12; // five seconds' worth
  if (due < expected || due > expected * 2) throw new Error(`${due} slots are due`);
  return () => {
    if (step() !== due) throw new Error("a step decided something else");
  };
}
