/**
 * Law 3 by an accounting of its own, which knows nothing of the controller: every window that begins and ends with an
 * opening is looked at (the worst one that ends here began where openings minus allowance was lowest). Only time that
 * was committed earns, from the moment on at which that was decided, by the clock of the mint that did.
 */
import type { Segment } from "@vestibule/drip/line-state";
import { liveCount, opensAt } from "@vestibule/drip/segment";

export interface Commitment {
  /** By the deciding mint's clock. */
  readonly decidedAt: number;
  readonly ratePerMinute: number;
  readonly overdrivePercent: number;
  /** Slots that had lapsed by then, in all. */
  readonly lapsedSoFar: number;
}

const SLOT = 60_000 * 100;

/** What is wrong with these segments, in the order of their commits; `undefined`: nothing. */
export function dripViolation(
  history: readonly { readonly segment: Segment; readonly commitment: Commitment }[],
): string | undefined {
  // A slot is 6,000,000 of these; a millisecond earns rate × 100.
  let opened = 0;
  let earned = 0;
  let earnedFast = 0;
  let lowest = Infinity;
  let lowestFast = Infinity;
  let spent = 0;
  for (const { segment, commitment } of history) {
    const { decidedAt, ratePerMinute, overdrivePercent, lapsedSoFar } = commitment;
    const { from, until, count, base } = segment;
    const live = liveCount(segment);
    const end = from + Math.ceil((live * (until - from)) / count);
    const start = Math.max(from, decidedAt);
    const [perMs, fastPerMs] = [ratePerMinute * 100, ratePerMinute * overdrivePercent];
    for (let k = 0; k < live; k += 1) {
      const at = Math.max(decidedAt, opensAt(segment, base + k));
      const before = Math.max(0, Math.min(at, end) - start);
      const through = Math.max(0, Math.min(at + 1, end) - start);
      lowest = Math.min(lowest, opened * SLOT - (earned + before * perMs));
      lowestFast = Math.min(lowestFast, opened * SLOT - (earnedFast + before * fastPerMs));
      opened += 1;
      const excess = opened * SLOT - (earned + through * perMs) - lowest;
      const excessFast = opened * SLOT - (earnedFast + through * fastPerMs) - lowestFast;
      if (excess >= (lapsedSoFar + 1) * SLOT) {
        return `slot ${base + k} is ${excess / SLOT} beyond the rate, ${lapsedSoFar} had lapsed`;
      }
      if (excessFast >= SLOT)
        return `slot ${base + k} is ${excessFast / SLOT} beyond the overdrive`;
    }
    const length = Math.max(0, end - start);
    earned += length * perMs;
    earnedFast += length * fastPerMs;
    spent += Math.max(0, live * SLOT - length * perMs);
    if (spent > lapsedSoFar * SLOT) {
      return `with ${base} ${spent / SLOT} are given back, ${lapsedSoFar} had lapsed`;
    }
  }
  return undefined;
}

/** A number has one slot that is not void. */
export function twiceServed(segments: readonly Segment[]): number | undefined {
  const seen = new Set<number>();
  for (const segment of segments) {
    for (let k = 0; k < liveCount(segment); k += 1) {
      if (seen.has(segment.base + k)) return segment.base + k;
      seen.add(segment.base + k);
    }
  }
  return undefined;
}
