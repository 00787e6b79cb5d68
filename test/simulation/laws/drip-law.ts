/**
 * Law 3 by an accounting of its own, which knows nothing of the controller: every window that begins and ends with an
 * opening is looked at (the worst one that ends here began where openings minus allowance was lowest). Only time that
 * was committed earns, from the moment on at which that was decided, by the clock of the mint that did. Where there is a
 * budget, all time earns since the organizer changed rate, plan or budget and since a hold ended, and the budget is on top.
 */
import type { Segment } from "@vestibule/drip/line-state";
import { rateAt, type Rates } from "@vestibule/drip/rate-plan";
import { liveCount, opensAt } from "@vestibule/drip/segment";

export interface Commitment {
  /** By the deciding mint's clock. */
  readonly decidedAt: number;
  readonly rates: Rates;
  readonly overdrivePercent: number;
  readonly approximationBudget: number;
  /** Since when time in which nothing is committed earns of the budget. */
  readonly earnsSince: number;
  /** Slots that had lapsed by then, in all. */
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
  let saved = 0; // what idle time may have earned of budgets, in all
  let budget = 0; // the greatest so far
  let ended = Infinity;
  for (const { segment, commitment } of history) {
    const { decidedAt, rates, overdrivePercent, approximationBudget, lapsedSoFar } = commitment;
    const { from, until, count, base } = segment;
    const live = liveCount(segment);
    const end = from + Math.ceil((live * (until - from)) / count);
    const start = Math.max(from, decidedAt);
    if (approximationBudget > 0) {
      const idle = workOf(rates, Math.max(ended, commitment.earnsSince), start) * 100;
      const full = approximationBudget * SLOT;
      earned += idle;
      saved += ended === Infinity ? full : Math.min(idle, full);
      budget = Math.max(budget, approximationBudget);
    }
    const beyond = lapsedSoFar + budget;
    for (let k = 0; k < live; k += 1) {
      const at = Math.max(decidedAt, opensAt(segment, base + k));
      const before = workOf(rates, start, Math.min(at, end));
      const through = workOf(rates, start, Math.min(at + 1, end));
      lowest = Math.min(lowest, opened * SLOT - (earned + before * 100));
      lowestFast = Math.min(lowestFast, opened * SLOT - (earnedFast + before * overdrivePercent));
      opened += 1;
      const excess = opened * SLOT - (earned + through * 100) - lowest;
      const excessFast = opened * SLOT - (earnedFast + through * overdrivePercent) - lowestFast;
      if (excess >= (beyond + 1) * SLOT) {
        return `slot ${base + k} is ${excess / SLOT} beyond the rate, ${lapsedSoFar} had lapsed, budget ${budget}`;
      }
      if (excessFast >= SLOT)
        return `slot ${base + k} is ${excessFast / SLOT} beyond the overdrive`;
    }
    const work = workOf(rates, start, end);
    earned += work * 100;
    earnedFast += work * overdrivePercent;
    ended = Math.max(start, end);
    spent += Math.max(0, live * SLOT - work * 100);
    if (spent > lapsedSoFar * SLOT + saved) {
      return `with ${base} ${spent / SLOT} are given back, ${lapsedSoFar} had lapsed, ${saved / SLOT} were saved`;
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
