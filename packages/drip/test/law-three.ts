/**
 * Law 3, checked by brute force and knowing nothing of the controller. Every window that begins with
 * one opening and ends with another is looked at (a maximum-subarray scan: the worst window that
 * ends here began where openings minus allowance was lowest). Strict: only time that was committed
 * earns, and only from the moment it was committed; with a budget, all time since the policy's last
 * change and the last hold does.
 */
import type { Segment } from "../src/line-state.ts";
import { rateAt, type Rates } from "../src/rate-plan.ts";
import { liveCount, opensAt } from "../src/segment.ts";

export interface Commitment {
  readonly segment: Segment;
  /** The mint's clock when this was decided: nobody enters before. */
  readonly committedAt: number;
  readonly rates: Rates;
  readonly overdrivePercent: number;
  readonly approximationBudget: number;
  /** Since when time in which nothing is committed earns of the budget. */
  readonly earnsSince: number;
  /** Slots that had lapsed and were settled by then, in all. */
  readonly lapsedSoFar: number;
}

const SLOT = 60_000 * 100;

/** The integral of the rate over [from, until): slots a minute × milliseconds. */
function workOf(rates: Rates, from: number, until: number): number {
  let work = 0;
  for (let at = from; at < until;) {
    const span = rateAt(rates, at);
    const stop = Math.min(until, span.until);
    work += (stop - at) * span.ratePerMinute;
    at = stop;
  }
  return work;
}

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
  let saved = 0; // what time in which nothing was committed may have earned of budgets, in all
  let budget = 0; // the greatest so far
  let ended = Infinity;
  for (const commitment of history) {
    const { segment, committedAt, rates, overdrivePercent, lapsedSoFar } = commitment;
    const live = liveCount(segment);
    const end = segment.from + Math.ceil((live * (segment.until - segment.from)) / segment.count);
    const start = Math.max(segment.from, committedAt);
    if (commitment.approximationBudget > 0) {
      const idle = workOf(rates, Math.max(ended, commitment.earnsSince), start) * 100;
      earned += idle;
      const full = commitment.approximationBudget * SLOT;
      saved += ended === Infinity ? full : Math.min(idle, full);
      budget = Math.max(budget, commitment.approximationBudget);
    }
    const bound = lapsedSoFar + budget;
    for (let k = 0; k < live; k += 1) {
      const at = Math.max(committedAt, opensAt(segment, segment.base + k));
      const before = workOf(rates, start, Math.min(at, end));
      const through = workOf(rates, start, Math.min(at + 1, end));
      lowest = Math.min(lowest, opened * SLOT - (earned + before * 100));
      lowestFast = Math.min(lowestFast, opened * SLOT - (earnedFast + before * overdrivePercent));
      opened += 1;
      const excess = opened * SLOT - (earned + through * 100) - lowest;
      const excessFast = opened * SLOT - (earnedFast + through * overdrivePercent) - lowestFast;
      if (excess >= (bound + 1) * SLOT) {
        violations.push(
          `slot ${segment.base + k}: ${excess / SLOT} beyond the rate, ${lapsedSoFar} had lapsed, budget ${budget}`,
        );
      }
      if (excessFast >= SLOT) {
        violations.push(`slot ${segment.base + k}: ${excessFast / SLOT} beyond the overdrive`);
      }
    }
    const work = workOf(rates, start, end);
    earned += work * 100;
    earnedFast += work * overdrivePercent;
    ended = Math.max(end, start);
    // A lapse is given back once: what all segments open beyond their rate is never more than lapsed.
    spent += Math.max(0, live * SLOT - work * 100);
    if (spent > lapsedSoFar * SLOT + saved) {
      violations.push(
        `segment at ${segment.base}: ${spent / SLOT} given back, ${lapsedSoFar} had lapsed, ${saved / SLOT} were saved`,
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
