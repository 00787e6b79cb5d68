/** How long answers take when requests come by a schedule, candidate and floor by turns. */
import type { Side } from "./compare.ts";
import type { Generator } from "./load/generator-handle.ts";
import type { Sample } from "./load/messages.ts";
import type { Bench } from "./row.ts";
import { median } from "./statistics.ts";

const ROUNDS = 12;
const ROUNDS_QUICK = 4;
const ROUND_SECONDS = 1;
const SIDES: readonly Side[] = ["candidate", "floor"];

export interface Latency {
  /** Of each side: the median over the rounds of each round's median and 99th percentile. */
  readonly medianMs: Readonly<Record<Side, number>>;
  readonly p99Ms: Readonly<Record<Side, number>>;
}

/** @param perSecond requests a second, to either side the same. */
export async function latency(
  bench: Bench,
  options: {
    readonly generator: Pick<Generator, "pace">;
    readonly perSecond: number;
    readonly inspect: (side: Side, samples: readonly Sample[]) => Promise<void>;
  },
): Promise<Latency> {
  const { generator, perSecond, inspect } = options;
  const rounds = bench.quick ? ROUNDS_QUICK : ROUNDS;
  const medians: Record<Side, number[]> = { candidate: [], floor: [] };
  const p99s: Record<Side, number[]> = { candidate: [], floor: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const count = Math.round(perSecond * ROUND_SECONDS);
      const paced = await generator.pace(side, { count, perSecond });
      medians[side].push(paced.medianMs);
      p99s[side].push(paced.p99Ms);
      await inspect(side, paced.samples);
    }
    bench.progress(`answers at ${Math.round(perSecond)} a second, ${round + 1} of ${rounds}`);
  }
  const of = (figures: Record<Side, number[]>) => ({
    candidate: median(figures.candidate),
    floor: median(figures.floor),
  });
  return { medianMs: of(medians), p99Ms: of(p99s) };
}
