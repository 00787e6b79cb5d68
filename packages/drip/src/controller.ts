/**
 * The drip controller's decision: which slots to commit now (design section 5, law 3). Pure, and
 * its cost depends on the segments it commits, not on how many wait.
 *
 * The bound it keeps, for any window [a, b) of whole milliseconds and a constant rate:
 *
 *     slots < rate·(b−a) + what was given back in it + 1
 *
 * The 1 is the slot at the window's edge: in a window shorter than one spacing there can be one.
 * A segment's length is rounded up to a whole millisecond, so the drip is slower than the rate by
 * at most 1 ms a segment: 0.1 % at the shortest horizon, 0.02 % from 50 s on.
 */
import { assert } from "@vestibule/kernel/assert";
import type { EpochMs, TicketNumber } from "@vestibule/kernel/units";
import type { DripPolicy, LineState, NumberRange, Segment } from "./line-state.ts";

/** A busy line is committed in pieces of a tenth of the horizon, but no longer than this. */
export const QUANTUM_MS_MAX = 5_000;
/** Segments that one step commits at most: the longest horizon in quanta, and some. */
export const SEGMENTS_PER_STEP_MAX = 128;

const MICRO = 1_000_000;

export interface StepInput {
  readonly line: LineState;
  readonly policy: DripPolicy;
  readonly now: EpochMs;
  /** Numbers that somebody holds, ascending runs from `line.nextNumber` on. Gaps are skipped. */
  readonly held: readonly NumberRange[];
  /**
   * Numbers below `line.nextNumber` that are owed a slot (cut by a hold, or passed without one), in
   * the order in which they are served. They come before `held`.
   */
  readonly demand: readonly NumberRange[];
  /** Bound on the segments of this step; default `SEGMENTS_PER_STEP_MAX`. */
  readonly segmentsMax?: number;
}

export interface Step {
  /** To be stored, with `line`, before anybody sees them. In order of time. */
  readonly segments: readonly Segment[];
  /** The very object that came in when nothing changed. */
  readonly line: LineState;
  /** The part of `demand` that now has slots: always its beginning, in its order. */
  readonly demandServed: readonly NumberRange[];
}

/**
 * Plan what to commit at `now`. Call it about once a second while the event is open and not held.
 * A rate change takes effect at `line.frontier`: within one horizon, and one slot at a slow rate.
 * @throws AssertionError when the input breaks its contract.
 */
export function planStep(input: StepInput): Step {
  const { line, policy, now } = input;
  const unchanged: Step = { segments: [], line, demandServed: [] };
  if (policy.ratePerMinute <= 0) return unchanged;

  const pace = new Pace(policy);
  // Nothing was committed between the frontier and now: that time earns nothing. A clock stepped
  // back changes nothing either: the frontier only grows.
  const from = Math.max(line.frontier, now);
  const limit = now + policy.horizonMs;
  const room = (policy.maxAdmissions ?? Infinity) - line.granted;
  if (from >= limit || room <= 0) return unchanged;

  const fits = pace.slotsWithin(limit - from, 0);
  const waiting = countUpTo([input.demand, input.held], fits + 1);
  const quiet = Math.min(waiting, room) <= fits;
  if (!quiet && line.frontier > now) {
    const giveBack = line.giveBackMicro;
    if (pace.slotsWithin(limit - from, giveBack) < pace.quantumSlots(giveBack)) return unchanged;
  }
  // Who comes to an idle line needs no credit, and none is saved up while nobody waits.
  const idle = waiting <= fits && line.frontier < now;
  return commit(input, pace, {
    from,
    limit,
    room,
    spendGiveBack: !quiet,
    giveBackMicro: idle ? 0 : line.giveBackMicro,
  });
}

interface Window {
  readonly from: number;
  readonly limit: number;
  /** Slots that `maxAdmissions` still allows. */
  readonly room: number;
  readonly spendGiveBack: boolean;
  readonly giveBackMicro: number;
}

function commit(input: StepInput, pace: Pace, window: Window): Step {
  const { line } = input;
  const segments: Segment[] = [];
  const demandServed: NumberRange[] = [];
  const segmentsMax = input.segmentsMax ?? SEGMENTS_PER_STEP_MAX;
  const demand = new Runs(input.demand);
  const held = new Runs(input.held, line.nextNumber);
  let { giveBackMicro, room } = window;
  let frontier = window.from;
  let nextNumber: number = line.nextNumber;

  while (frontier < window.limit && room > 0 && segments.length < segmentsMax) {
    const credit = window.spendGiveBack ? giveBackMicro : 0;
    const enough = Math.min(room, pace.slotsWithin(window.limit - frontier, credit));
    const runs = demand.left(enough) > 0 ? demand : held;
    const left = runs.left(enough);
    if (left === 0) break;
    const piece = pace.piece(window.limit - frontier, credit, left);
    const base = runs.take(piece.count);
    const last = base + piece.count - 1;
    segments.push({
      base: base as TicketNumber,
      count: piece.count,
      from: frontier as EpochMs,
      until: (frontier + piece.lengthMs) as EpochMs,
    });
    if (runs === demand) {
      assert(last < line.nextNumber, "demand is for numbers that the line has passed");
      demandServed.push({ first: base as TicketNumber, last: last as TicketNumber });
    } else {
      nextNumber = last + 1;
    }
    frontier += piece.lengthMs;
    giveBackMicro -= piece.chargeMicro;
    room -= piece.count;
  }

  if (segments.length === 0 && giveBackMicro === line.giveBackMicro) {
    return { segments, line, demandServed };
  }
  const granted = segments.reduce((sum, { count }) => sum + count, line.granted);
  return {
    segments,
    demandServed,
    line: {
      nextNumber: nextNumber as TicketNumber,
      frontier: (segments.length === 0 ? line.frontier : frontier) as EpochMs,
      giveBackMicro,
      granted,
    },
  };
}

/** The arithmetic of one rate. Integers: every product stays below 2^53, so quotients round exactly. */
class Pace {
  readonly #rate: number;
  readonly #overdrive: number;
  readonly #quantumMs: number;

  constructor({ ratePerMinute, overdrivePercent, horizonMs }: DripPolicy) {
    assert(Number.isSafeInteger(ratePerMinute) && ratePerMinute <= 1_000_000, "rate is in bounds");
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
    this.#rate = ratePerMinute;
    this.#overdrive = overdrivePercent;
    this.#quantumMs = Math.max(1, Math.min(Math.floor(horizonMs / 10), QUANTUM_MS_MAX));
  }

  /** Slots whose opening falls within the next `ms`, with this give-back at hand; at least 1. */
  slotsWithin(ms: number, giveBackMicro: number): number {
    const fastest = Math.ceil((ms * this.#rate * this.#overdrive) / 6_000_000);
    return Math.min(fastest, Math.ceil((this.#earnedMicro(ms) + giveBackMicro) / MICRO));
  }

  quantumSlots(giveBackMicro: number): number {
    return this.slotsWithin(this.#quantumMs, giveBackMicro);
  }

  /**
   * The next segment of at most `left` slots, in a window of `ms`: a quantum, or all that fits when
   * less than two are left. Its slots are evenly spaced: as fast as the overdrive allows, as slow as
   * the give-back makes necessary. What it opens beyond rate × length is its charge.
   */
  piece(
    ms: number,
    giveBackMicro: number,
    left: number,
  ): { readonly count: number; readonly lengthMs: number; readonly chargeMicro: number } {
    const fits = this.slotsWithin(ms, giveBackMicro);
    const quantum = this.quantumSlots(giveBackMicro);
    let count = Math.min(left, fits < 2 * quantum ? fits : quantum);
    let lengthMs = this.#lengthMs(count, giveBackMicro);
    // Rounding, and give-back spread over the whole piece, can move the last opening past the limit.
    for (;;) {
      const late = Math.floor(((count - 1) * lengthMs) / count) - ms + 1;
      if (late <= 0) break;
      count -= Math.min(count - 1, Math.max(1, Math.floor((late * this.#rate) / 60_000)));
      lengthMs = this.#lengthMs(count, giveBackMicro);
    }
    const chargeMicro = Math.max(0, count * MICRO - Math.floor(this.#earnedMicro(lengthMs)));
    return { count, lengthMs, chargeMicro };
  }

  /** Millionths of a slot that `ms` at the base rate are worth; not rounded. */
  #earnedMicro(ms: number): number {
    return (ms * this.#rate * 50) / 3;
  }

  #lengthMs(count: number, giveBackMicro: number): number {
    const fastest = Math.ceil((count * 6_000_000) / (this.#rate * this.#overdrive));
    const earned = Math.ceil(((count * MICRO - giveBackMicro) * 3) / (this.#rate * 50));
    return Math.max(fastest, earned);
  }
}

/** A list of runs, consumed from its front. Adjacent runs are one. */
class Runs {
  readonly #runs: readonly NumberRange[];
  readonly #ascending: boolean;
  #above: number;
  #index = 0;
  #first = 1;
  #last = 0;

  /** @param ascendingFrom the runs must ascend from here on; absent: they come in any order. */
  constructor(runs: readonly NumberRange[], ascendingFrom?: number) {
    this.#runs = runs;
    this.#ascending = ascendingFrom !== undefined;
    this.#above = (ascendingFrom ?? 1) - 1;
  }

  /** How many numbers there are in one piece at the front, looking no further than `enough`. */
  left(enough: number): number {
    for (;;) {
      const count = this.#last - this.#first + 1;
      const next = this.#runs[this.#index];
      const more = count === 0 || (next?.first === this.#last + 1 && count < enough);
      if (next === undefined || !more) return Math.min(count, enough);
      assert(this.#above < next.first && next.first <= next.last, "runs have numbers, and ascend");
      if (count === 0) this.#first = next.first;
      this.#last = next.last;
      if (this.#ascending) this.#above = next.last;
      this.#index += 1;
    }
  }

  /** Takes `count` numbers, at most `left()`; returns the first of them. */
  take(count: number): number {
    const first = this.#first;
    this.#first += count;
    return first;
  }
}

/** Numbers in these lists of runs, counted no further than `enough`. */
function countUpTo(lists: readonly (readonly NumberRange[])[], enough: number): number {
  let count = 0;
  for (const runs of lists) {
    for (const { first, last } of runs) {
      if (count >= enough) return count;
      count += last - first + 1;
    }
  }
  return count;
}
