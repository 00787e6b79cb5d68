/**
 * One committed piece of the drip as a function of time (design section 3). Exact integer maths:
 * every product here stays below 2^53 (count × length ≤ 10^8 × 10^6), so `floor` and `ceil` of a
 * quotient are exact. Read by the edge, the mint and the browser: small, and no import at run time.
 */
import type { EpochMs } from "@vestibule/kernel/units";

/** What readers need of a segment: the mint's `Segment` and a parsed statement's both fit. */
export interface SegmentView {
  readonly base: number;
  readonly count: number;
  /** Epoch milliseconds. */
  readonly from: number;
  readonly until: number;
  /** Slots that open after it are void. */
  readonly cutAfter?: number | undefined;
}

/** Is `n` one of the numbers of this segment, void or not? */
export function containsNumber(segment: SegmentView, n: number): boolean {
  return n >= segment.base && n < segment.base + segment.count;
}

/** When the slot of `n`, a number of this segment, opens. Says nothing about whether it is void. */
export function opensAt(segment: SegmentView, n: number): EpochMs {
  const { base, count, from, until } = segment;
  return (from + Math.floor(((n - base) * (until - from)) / count)) as EpochMs;
}

/**
 * How many slots of this segment have opened at `at` (inclusive), void ones included: the exact
 * inverse of `opensAt`, for slots open in order of their numbers.
 */
export function openedCount(segment: SegmentView, at: number): number {
  const { count, from, until } = segment;
  if (at < from) return 0;
  if (at >= until) return count;
  return Math.min(count, Math.ceil(((at - from + 1) * count) / (until - from)));
}

/** How many slots, counted from the first, are not void. */
export function liveCount(segment: SegmentView): number {
  return segment.cutAfter === undefined ? segment.count : openedCount(segment, segment.cutAfter);
}
