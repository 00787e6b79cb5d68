/**
 * The drip controller's decision: which slots to commit now (design section 5, law 3). Pure, and
 * its cost depends on the segments it commits, not on how many wait.
 *
 * The bound it keeps, for any window [a, b) of whole milliseconds:
 *
 *     slots < ∫rate over [a, b) + what was given back in it + budget + 1
 *
 * The 1 is the slot at the window's edge: in a window shorter than one spacing there can be one.
 * Without a budget (the default) only time that was committed counts. With one, time in which nothing
 * was committed fills a bucket of that depth, from which slots open like those given back.
 * A segment's length is rounded up to a whole millisecond, so the drip is slower than the rate by
 * at most 1 ms a segment: 0.1 % at the shortest horizon, 0.02 % from 50 s on.
 */
import { assert } from "@vestibule/kernel/assert";
import type { EpochMs, TicketNumber } from "@vestibule/kernel/units";
import type { DripPolicy, LineState, NumberRange, Segment } from "./line-state.ts";
import { Pace } from "./pace.ts";

/** Segments that one step commits at most: the longest horizon in quanta, and some. */
export const SEGMENTS_PER_STEP_MAX = 128;

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
  /** The event's end: no slot opens from then on. Absent: there is none. */
  readonly endsAt?: number;
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
 * A change of the policy takes effect at `line.frontier`: within one horizon, and one slot at a slow
 * rate. A rate of the plan is that of the time at which a slot opens, to the millisecond.
 * @throws AssertionError when the input breaks its contract.
 */
export function planStep(input: StepInput): Step {
  const { line, policy, now } = input;
  const unchanged: Step = { segments: [], line, demandServed: [] };
  const pace = new Pace(policy);
  // Nothing was committed between the frontier and now: that time earns nothing. A clock stepped
  // back changes nothing either: the frontier only grows.
  const from = Math.max(line.frontier, now);
  const limit = Math.min(now + policy.horizonMs, input.endsAt ?? Infinity);
  const room = (policy.maxAdmissions ?? Infinity) - line.granted;
  if (from >= limit || room <= 0) return unchanged;

  const fits = pace.slotsWithin(from, limit - from, 0);
  const waiting = countUpTo([input.demand, input.held], fits + 1);
  const quiet = Math.min(waiting, room) <= fits;
  if (!quiet && line.frontier > now) {
    const credit = line.giveBackMicro;
    const open = pace.slotsWithin(from, limit - from, credit);
    if (open < pace.quantumSlots(from, credit)) return unchanged;
  }
  // Who comes to an idle line needs no credit, and beyond the budget none is saved up while nobody waits.
  const idle = waiting <= fits && line.frontier < now;
  const saved = idle ? { ...line, giveBackMicro: pace.idleCredit(line) } : line;
  return commit(input, pace, {
    from,
    limit,
    room,
    spendCredit: !quiet,
    savedMicro: saved.giveBackMicro,
    creditMicro: pace.creditAt(saved, now),
  });
}

interface Window {
  readonly from: number;
  readonly limit: number;
  /** Slots that `maxAdmissions` still allows. */
  readonly room: number;
  readonly spendCredit: boolean;
  /** The credit when nothing is committed: time goes on earning. */
  readonly savedMicro: number;
  readonly creditMicro: number;
}

function commit(input: StepInput, pace: Pace, window: Window): Step {
  const { line } = input;
  const segments: Segment[] = [];
  const demandServed: NumberRange[] = [];
  const segmentsMax = input.segmentsMax ?? SEGMENTS_PER_STEP_MAX;
  const demand = new Runs(input.demand);
  const held = new Runs(input.held, line.nextNumber);
  let { creditMicro, room } = window;
  let frontier = window.from;
  let nextNumber: number = line.nextNumber;

  while (frontier < window.limit && room > 0 && segments.length < segmentsMax) {
    const credit = window.spendCredit ? creditMicro : 0;
    const ms = window.limit - frontier;
    const enough = Math.min(room, pace.slotsWithin(frontier, ms, credit));
    const runs = demand.left(enough) > 0 ? demand : held;
    const left = runs.left(enough);
    if (left === 0) break;
    const piece = pace.piece({ from: frontier, ms }, credit, left);
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
    creditMicro -= piece.chargeMicro;
    room -= piece.count;
  }

  if (segments.length === 0) {
    const giveBackMicro = window.savedMicro;
    const isSame = giveBackMicro === line.giveBackMicro;
    return { segments, line: isSame ? line : { ...line, giveBackMicro }, demandServed };
  }
  const granted = segments.reduce((sum, { count }) => sum + count, line.granted);
  return {
    segments,
    demandServed,
    line: {
      nextNumber: nextNumber as TicketNumber,
      frontier: frontier as EpochMs,
      giveBackMicro: creditMicro,
      granted,
    },
  };
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
