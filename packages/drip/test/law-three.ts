/**
 * Law 3, checked by brute force and knowing nothing of the controller. Every window that begins with
 * one opening and ends with another is looked at (a maximum-subarray scan: the worst window that
 * ends here began where openings minus allowance was lowest). Strict: only time that was committed
 * earns, and only from the moment it was committed.
 */
import type { Segment } from "../src/line-state.ts";
import { liveCount, opensAt } from "../src/segment.ts";

export interface Commitment {
  readonly segment: Segment;
  /** The mint's clock when it was committed: nobody enters before. */
  readonly committedAt: number;
  readonly ratePerMinute: number;
  readonly overdrivePercent: number;
  /** Slots that had lapsed and were settled by then, in all. */
  readonly lapsedSoFar: number;
}

const SLOT = 60_000 * 100;

/** What is wrong with this history, in words; empty when law 3 holds. Commitments in order of time. */
export function lawThreeViolations(history: readonly Commitment[]): string[] {
  const violations: string[] = [];
  // Units: a slot is 6,000,000; a millisecond earns rate × 100 of them.
  let opened = 0;
  let earned = 0; // up to the end of the segments before
  let earnedFast = 0;
  let lowest = Infinity;
  let lowestFast = Infinity;
  let spent = 0;
  for (const commitment of history) {
    const { segment, committedAt, ratePerMinute, overdrivePercent, lapsedSoFar } = commitment;
    const live = liveCount(segment);
    const end = segment.from + Math.ceil((live * (segment.until - segment.from)) / segment.count);
    const start = Math.max(segment.from, committedAt);
    const perMs = ratePerMinute * 100;
    const fastPerMs = ratePerMinute * overdrivePercent;
    for (let k = 0; k < live; k += 1) {
      const at = Math.max(committedAt, opensAt(segment, segment.base + k));
      const before = Math.max(0, Math.min(at, end) - start);
      const through = Math.max(0, Math.min(at + 1, end) - start);
      lowest = Math.min(lowest, opened * SLOT - (earned + before * perMs));
      lowestFast = Math.min(lowestFast, opened * SLOT - (earnedFast + before * fastPerMs));
      opened += 1;
      const excess = opened * SLOT - (earned + through * perMs) - lowest;
      const excessFast = opened * SLOT - (earnedFast + through * fastPerMs) - lowestFast;
      if (excess >= (lapsedSoFar + 1) * SLOT) {
        violations.push(
          `slot ${segment.base + k}: ${excess / SLOT} beyond the rate, ${lapsedSoFar} lapsed`,
        );
      }
      if (excessFast >= SLOT) {
        violations.push(`slot ${segment.base + k}: ${excessFast / SLOT} beyond the overdrive`);
      }
    }
    const length = Math.max(0, end - start);
    earned += length * perMs;
    earnedFast += length * fastPerMs;
    // A lapse is given back once: what all segments open beyond their rate is never more than lapsed.
    spent += Math.max(0, live * SLOT - length * perMs);
    if (spent > lapsedSoFar * SLOT) {
      violations.push(
        `segment at ${segment.base}: ${spent / SLOT} given back, ${lapsedSoFar} lapsed`,
      );
    }
  }
  return violations;
}

/**
 * Laws about numbers: each has one live slot at most, and one more for each of its credits, which opens
 * later; and only numbers that somebody holds have one.
 */
export function numberViolations(
  history: readonly Commitment[],
  isHeld: (n: number) => boolean,
  creditsOf: (n: number) => number = () => 0,
): string[] {
  const violations: string[] = [];
  const seen = new Map<number, { readonly count: number; readonly at: number }>();
  let frontier = -Infinity;
  for (const { segment } of history) {
    if (liveCount(segment) === 0) continue; // void as a whole: its time was taken back
    if (segment.from < frontier) violations.push(`segment at ${segment.base} overlaps in time`);
    frontier =
      segment.from +
      Math.ceil((liveCount(segment) * (segment.until - segment.from)) / segment.count);
    for (let k = 0; k < liveCount(segment); k += 1) {
      const n = segment.base + k;
      const at = opensAt(segment, n);
      const before = seen.get(n);
      const count = (before?.count ?? 0) + 1;
      if (count > 1 + creditsOf(n)) violations.push(`${n} has two slots`);
      else if (before !== undefined && at <= before.at)
        violations.push(`${n} has two slots, the later one first`);
      if (!isHeld(n)) violations.push(`nobody holds ${n}`);
      seen.set(n, { count, at });
    }
  }
  return violations;
}
