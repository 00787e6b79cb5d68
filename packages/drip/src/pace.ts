/**
 * The arithmetic of the drip's speed: how many slots a stretch of time is worth, and how long so many slots take.
 * Integers: products that decide stay below 2^53, so quotients round exactly.
 */
import { assert } from "@vestibule/kernel/assert";
import type { DripPolicy, LineState } from "./line-state.ts";
import { rateAt, type Rates } from "./rate-plan.ts";

/** A busy line is committed in pieces of a tenth of the horizon, but no longer than this. */
export const QUANTUM_MS_MAX = 5_000;
/** Of one slot. */
export const MICRO = 1_000_000;

/** Times are epoch milliseconds, credits millionths of a slot: what may open beyond the rate, at the overdrive's speed. */
export class Pace {
  readonly #rates: Rates;
  readonly #overdrive: number;
  readonly #quantumMs: number;
  readonly #budgetMicro: number;

  constructor(policy: DripPolicy) {
    const { ratePerMinute, ratePlan, overdrivePercent, horizonMs, approximationBudget } = policy;
    for (const rate of [ratePerMinute, ...ratePlan.map((entry) => entry.ratePerMinute)]) {
      assert(Number.isSafeInteger(rate) && rate >= 1 && rate <= 1_000_000, "rate is in bounds");
    }
    assert(
      Number.isSafeInteger(overdrivePercent) &&
        overdrivePercent >= 100 &&
        overdrivePercent <= 1_000,
      "overdrive is in bounds",
    );
    assert(
      Number.isSafeInteger(horizonMs) && horizonMs >= 1 && horizonMs <= 600_000,
      "horizon is in bounds",
    );
    assert(
      Number.isSafeInteger(approximationBudget) &&
        approximationBudget >= 0 &&
        approximationBudget <= 1_000_000,
      "budget is in bounds",
    );
    this.#rates = policy;
    this.#overdrive = overdrivePercent;
    this.#quantumMs = Math.max(1, Math.min(Math.floor(horizonMs / 10), QUANTUM_MS_MAX));
    this.#budgetMicro = approximationBudget * MICRO;
  }

  /** Slots whose opening falls within `ms` from `from` on, with this credit at hand; at least 1. */
  slotsWithin(from: number, ms: number, creditMicro: number): number {
    const fastest = Math.ceil((this.#work(from, ms) * this.#overdrive) / 6_000_000);
    return Math.min(fastest, Math.ceil((this.#earnedMicro(from, ms) + creditMicro) / MICRO));
  }

  quantumSlots(from: number, creditMicro: number): number {
    return this.slotsWithin(from, this.#quantumMs, creditMicro);
  }

  /** Whole milliseconds that `count` slots from `from` on take: the next one may open after them. */
  lengthMs(from: number, count: number, creditMicro: number): number {
    const fastest = this.#timeFor(from, count * 6_000_000, this.#overdrive);
    return Math.max(fastest, this.#timeFor(from, (count * MICRO - creditMicro) * 3, 50));
  }

  /**
   * The next segment of at most `left` slots, in a window of `ms`: a quantum, or all that fits when
   * less than two are left. Its slots are evenly spaced: as fast as the overdrive allows, as slow as
   * the credit makes necessary. What it opens beyond rate × length is its charge. It ends where the
   * rate changes, except that one slot takes as long as the rates of its time need for one.
   */
  piece(
    window: { readonly from: number; readonly ms: number },
    creditMicro: number,
    left: number,
  ): { readonly count: number; readonly lengthMs: number; readonly chargeMicro: number } {
    const { from, ms } = window;
    const { ratePerMinute, until } = rateAt(this.#rates, from);
    const fits = this.slotsWithin(from, ms, creditMicro);
    const quantum = this.quantumSlots(from, creditMicro);
    const whole = this.#wholeWithin(from, until - from, creditMicro);
    let count = Math.max(1, Math.min(left, fits < 2 * quantum ? fits : quantum, whole));
    let lengthMs = this.lengthMs(from, count, creditMicro);
    // Rounding, and credit spread over the whole piece, can move the last opening past the limit.
    for (;;) {
      const late = Math.floor(((count - 1) * lengthMs) / count) - ms + 1;
      if (late <= 0) break;
      count -= Math.min(count - 1, Math.max(1, Math.floor((late * ratePerMinute) / 60_000)));
      lengthMs = this.lengthMs(from, count, creditMicro);
    }
    const earned = Math.floor(this.#earnedMicro(from, lengthMs));
    return { count, lengthMs, chargeMicro: Math.max(0, count * MICRO - earned) };
  }

  /**
   * The line's credit at `now`: time in which nothing was committed adds to it until it is the budget; what
   * lapsed may be more, and stays.
   */
  creditAt({ giveBackMicro, frontier }: LineState, now: number): number {
    if (this.#budgetMicro <= giveBackMicro || frontier >= now) return giveBackMicro;
    const earned = Math.floor(this.#earnedMicro(frontier, now - frontier));
    return Math.min(this.#budgetMicro, giveBackMicro + earned);
  }

  /** What nobody needs while nobody waits: only the budget is saved up. */
  idleCredit({ giveBackMicro }: LineState): number {
    return Math.min(giveBackMicro, this.#budgetMicro);
  }

  /** Slots that are over when `ms` are, the last one's spacing included. */
  #wholeWithin(from: number, ms: number, creditMicro: number): number {
    if (ms === Infinity) return Infinity;
    const fastest = Math.floor((this.#work(from, ms) * this.#overdrive) / 6_000_000);
    return Math.min(fastest, Math.floor((this.#earnedMicro(from, ms) + creditMicro) / MICRO));
  }

  /** Millionths of a slot that `ms` at the rate are worth; not rounded. */
  #earnedMicro(from: number, ms: number): number {
    return (this.#work(from, ms) * 50) / 3;
  }

  /** The integral of the rate: slots a minute × milliseconds. */
  #work(from: number, ms: number): number {
    const end = from + ms;
    let work = 0;
    for (let at = from; at < end;) {
      const { ratePerMinute, until } = rateAt(this.#rates, at);
      const stop = Math.min(until, end);
      work += (stop - at) * ratePerMinute;
      at = stop;
    }
    return work;
  }

  /** The least whole milliseconds from `from` on in which the integral of rate × `times` reaches `need`. */
  #timeFor(from: number, need: number, times: number): number {
    let left = need;
    for (let at = from; left > 0;) {
      const { ratePerMinute, until } = rateAt(this.#rates, at);
      const ms = Math.ceil(left / (ratePerMinute * times));
      if (ms <= until - at) return at + ms - from;
      left -= (until - at) * ratePerMinute * times;
      at = until;
    }
    return 0;
  }
}
