import type { Generator } from "./load/generator-handle.ts";
import type { Sample } from "./load/messages.ts";
import { cpuMs } from "./process-figures.ts";
import type { Bench, Measured } from "./row.ts";
import { median, spreadOf } from "./statistics.ts";

/** Names of the two sides, as the load generator knows them. */
export type Side = "candidate" | "floor";
const SIDES: readonly Side[] = ["candidate", "floor"];

const PAIRS = 40;
const PAIRS_QUICK = 6;
const ROUND_MS = 250;
const CALIBRATION_ROUNDS = 3;
/** Below this share of one core the server was waiting, and its throughput says little about it. */
const BUSY_LEAST = 0.85;

export interface Comparison {
  readonly generator: Pick<Generator, "fire">;
  /** Process of each side whose CPU time is its own cost. */
  readonly pids: Readonly<Record<Side, number>>;
  /** Requests that each side gets before anything counts. */
  readonly warmUp: number;
  /** Called once, when the size of the rounds is known: `total` requests to each side will follow. */
  readonly provide?: (total: number) => Promise<void>;
  /** Upper bound of `total`. */
  readonly totalMax?: number;
  /** More and shorter rounds, where what is compared differs by little. */
  readonly pairs?: number;
  readonly roundMs?: number;
  /** Looks at answers outside of the measured time; throws when one is wrong. */
  readonly inspect?: (side: Side, samples: readonly Sample[]) => Promise<void>;
}

interface Round {
  readonly perSecond: number;
  readonly cpuUs: number | undefined;
  readonly busy: number | undefined;
}

/**
 * Candidate and floor by turns (ABBA: whoever goes first alternates, so that a drift of the machine
 * falls on both), many short rounds of equal size. The ratio is the median of the ratios of the
 * pairs.
 */
export async function compare(bench: Bench, comparison: Comparison): Promise<Measured> {
  const count = await calibrate(bench, comparison);
  const pairs = bench.quick ? PAIRS_QUICK : (comparison.pairs ?? PAIRS);
  const bounded = Math.min(count, Math.floor((comparison.totalMax ?? Infinity) / pairs));
  await comparison.provide?.(bounded * pairs);

  const rounds: Record<Side, Round[]> = { candidate: [], floor: [] };
  for (let pair = 0; pair < pairs; pair += 1) {
    const order = pair % 2 === 0 ? SIDES : SIDES.toReversed();
    for (const side of order) rounds[side].push(await round(comparison, side, bounded));
    const soFar = median(ratios(rounds, (of) => of.perSecond));
    bench.progress(
      `round ${pair + 1} of ${pairs}, ${bounded} requests each: ratio ${soFar.toFixed(3)}`,
    );
  }
  return summary(rounds);
}

/** Warms both sides up and finds the number of requests that keeps the slower one busy for a round. */
async function calibrate(bench: Bench, comparison: Comparison): Promise<number> {
  const share = Math.ceil(comparison.warmUp / (2 * CALIBRATION_ROUNDS));
  const speeds: Record<Side, number> = { candidate: 0, floor: 0 };
  for (let index = 0; index < 2 * CALIBRATION_ROUNDS; index += 1) {
    bench.progress(`warming up, ${index + 1} of ${2 * CALIBRATION_ROUNDS}`);
    for (const side of SIDES) {
      const { perSecond } = await round(comparison, side, share);
      if (index >= CALIBRATION_ROUNDS) speeds[side] = Math.max(speeds[side], perSecond);
    }
  }
  const slower = Math.min(speeds.candidate, speeds.floor);
  const roundMs = comparison.roundMs ?? ROUND_MS;
  return Math.max(64, Math.round((slower * roundMs) / (bench.quick ? 2_000 : 1_000)));
}

async function round(comparison: Comparison, side: Side, count: number): Promise<Round> {
  const pid = comparison.pids[side];
  const before = cpuMs(pid);
  const { elapsedMs, samples } = await comparison.generator.fire(side, count);
  const after = cpuMs(pid);
  await comparison.inspect?.(side, samples);
  const spentMs = before === undefined || after === undefined ? undefined : after - before;
  return {
    perSecond: (count * 1_000) / elapsedMs,
    cpuUs: spentMs === undefined ? undefined : (spentMs * 1_000) / count,
    busy: spentMs === undefined ? undefined : spentMs / elapsedMs,
  };
}

type Rounds = Readonly<Record<Side, readonly Round[]>>;

function ratios(rounds: Rounds, figure: (round: Round) => number): number[] {
  return rounds.candidate.flatMap((candidate, index) => {
    const floor = rounds.floor[index];
    return floor === undefined ? [] : [figure(candidate) / figure(floor)];
  });
}

function summary(rounds: Rounds): Measured {
  const spread = spreadOf(ratios(rounds, (of) => of.perSecond));
  return {
    candidate: median(rounds.candidate.map(({ perSecond }) => perSecond)),
    floor: median(rounds.floor.map(({ perSecond }) => perSecond)),
    ratio: spread.median,
    spread,
    notes: [...cpuNotes(rounds)],
  };
}

/** CPU time per request steadies the picture where the machine is shared; throughput decides. */
function* cpuNotes(rounds: Rounds): Iterable<string> {
  const cost = (side: Side): number => median(rounds[side].map(({ cpuUs }) => cpuUs ?? Number.NaN));
  if (Number.isNaN(cost("candidate"))) return;
  const { median: ratio, low, high } = spreadOf(ratios(rounds, (of) => 1 / (of.cpuUs ?? 1)));
  yield `CPU per request: ${cost("candidate").toFixed(1)} µs, floor ${cost("floor").toFixed(1)} µs; by CPU time the ratio is ${ratio.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
  for (const side of SIDES) {
    const busy = median(rounds[side].map((of) => of.busy ?? 1));
    if (busy < BUSY_LEAST)
      yield `the ${side} used ${(busy * 100).toFixed(0)} % of a core: something else held it back, take the ratio by CPU time as the better one`;
  }
}
