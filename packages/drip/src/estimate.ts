/**
 * How many people are ahead, and how long it may take: honest, or unknown. For the browser page and
 * the edge: small, and no import at run time but its neighbours.
 */
import { containsNumber, liveCount, openedCount, opensAt, type SegmentView } from "./segment.ts";
import { pendingCount, slotOf, type HoldView } from "./line.ts";

/** What a drip statement says that an estimate needs. `DripView` of the contracts fits. */
export interface EstimateView extends HoldView {
  readonly segments: readonly SegmentView[];
  /** Numbers are committed up to here. */
  readonly committed: number;
  /** Runs of numbers behind `committed` that nobody holds, `[first, last]`, ascending. */
  readonly skips: readonly (readonly [number, number])[];
  /** People whom the line has passed, who come before all others. */
  readonly owed?: number | undefined;
  /** Slots per minute. */
  readonly rate: number;
  /** What it will be: `[moment, rate from then on]`, ascending. */
  readonly rates?: readonly (readonly [number, number])[] | undefined;
  /** Per cent of the rate at which lapsed slots are given back. */
  readonly overdrive?: number | undefined;
  /** Per cent of the rate between which the line moves if as many come as did lately; absent: 100 to `overdrive`. */
  readonly pace?: readonly [number, number] | undefined;
  /** `scheduled`, `prequeue`, `open`, `paused`, `soldout`, `ended`. */
  readonly state: string;
  /** Epoch milliseconds; the drip does not run before it. */
  readonly startsAt?: number | undefined;
}

/** Milliseconds from now. */
export interface EtaRange {
  readonly fromMs: number;
  readonly untilMs: number;
}

const OVERDRIVE_DEFAULT = 150;
/** An estimate beyond a day says nothing: it is unknown. */
const ETA_MS_MAX = 86_400_000;
/** Added to the upper bound: a twentieth for numbers served out of turn and rounding, and the ticks of mint and edge. */
const MARGIN = 1.05;
const MARGIN_MS = 5_000;

/** People who wait for a slot between the committed numbers and `n`. */
function waitingBefore(n: number, { committed, skips }: EstimateView): number {
  let waiting = n - 1 - committed;
  for (const [first, last] of skips) {
    waiting -= Math.max(0, Math.min(last, n - 1) - Math.max(first, committed + 1) + 1);
  }
  return Math.max(0, waiting);
}

/**
 * People (not numbers) whose turn comes before that of `n`: slots committed and not yet open, and
 * those who wait without a slot. 0 when the slot of `n` is open. Slots that a hold stopped still
 * count: they come first when it ends. A number served out of turn can add one: who shows this to
 * a person shows the lowest value so far.
 */
export function aheadOf(n: number, view: EstimateView, now: number): number {
  const at = Math.min(now, view.heldSince ?? now);
  let own: SegmentView | undefined;
  for (const segment of view.segments) {
    const isLive = containsNumber(segment, n) && n - segment.base < liveCount(segment);
    if (isLive && (own === undefined || segment.from > own.from)) own = segment;
  }
  if (own === undefined) return waitingBefore(n, view) + pendingCount(view.segments, at);
  const { from } = own;
  const before = view.segments.filter((segment) => segment.from < from);
  const inOwn = n - own.base - openedCount(own, at);
  return inOwn < 0 ? 0 : pendingCount(before, at) + inOwn;
}

/**
 * The range of time until the slot of `n` opens; both ends equal when it is committed; `undefined`
 * when nobody can know (held, paused, over, no rate, more than a day). Lower bound: everything at
 * full overdrive. Upper bound: none, and a margin. Both by the rates of the time that is waited. Unchanged drip: neither
 * end ever grows with time.
 */
export function etaRange(n: number, view: EstimateView, now: number): EtaRange | undefined {
  const exact = slotOf(view.segments, n, view);
  if (exact !== undefined) {
    const ms = Math.max(0, exact - now);
    return { fromMs: ms, untilMs: ms };
  }
  const { rate, state, startsAt, heldSince } = view;
  const starting = state === "scheduled" && startsAt !== undefined;
  if (!(rate > 0) || heldSince !== undefined || (state !== "open" && !starting)) return undefined;

  const start = firstFree(view, now);
  // Whoever is owed a slot may be the first of those, or the last.
  const owed = view.owed ?? 0;
  const fewest = n > view.committed ? waitingBefore(n, view) + owed : 0;
  const waiting = waitingBefore(n, view) + owed;
  const [least, most] = view.pace ?? [100, view.overdrive ?? OVERDRIVE_DEFAULT];
  const fromMs = Math.floor(start - now + timeFor(fewest, { ...view, start }, most));
  const slow = timeFor(waiting * MARGIN, { ...view, start }, least);
  const untilMs = Math.ceil(start - now + slow + MARGIN_MS);
  return fromMs > ETA_MS_MAX ? undefined : { fromMs, untilMs };
}

/**
 * The least time from `now` until a slot of `n` can open, whatever happens to the line since the statement was
 * signed: what is held, paused or sold out may have gone on at that very moment, at full overdrive. 0: at any moment.
 * Only a rate that is raised, other than by the plan that the statement tells, can make it less.
 * @param view with `at`, when it was signed
 */
export function soonestTurnMs(
  n: number,
  view: EstimateView & { readonly at: number },
  now: number,
): number {
  const { at, heldSince, overdrive = OVERDRIVE_DEFAULT } = view;
  const exact = slotOf(view.segments, n, view);
  if (exact !== undefined) return Math.max(0, exact - now);
  // What a hold stopped comes first when it ends, this number perhaps among it.
  const isHeld = heldSince !== undefined;
  const ahead = isHeld ? aheadOf(n, view, at) : waitingBefore(n, view);
  const start = isHeld ? at : firstFree(view, at);
  const wait = timeFor(ahead, { ...view, start }, overdrive);
  // A number that the line has passed waits for nothing of this: its slot is given out of turn.
  return n <= view.committed && !isHeld ? 0 : Math.max(0, Math.floor(start + wait - now));
}

/** Milliseconds from `start` on in which so many slots open, at this percentage of the rates of their time. */
function timeFor(
  slots: number,
  { start, rate, rates = [] }: Pick<EstimateView, "rate" | "rates"> & { readonly start: number },
  percent: number,
): number {
  let left = slots * 6_000_000;
  let at = start;
  let speed = Math.max(rate, 1) * percent;
  for (const [from, next] of rates) {
    const ms = Math.max(0, from - at);
    if (left <= ms * speed) break;
    left -= ms * speed;
    at += ms;
    speed = next * percent;
  }
  return at - start + left / speed;
}

/** The earliest moment for a slot behind the committed ones. */
function firstFree({ segments, startsAt }: EstimateView, now: number): number {
  let start = Math.max(now, startsAt ?? 0);
  for (const segment of segments) {
    const live = liveCount(segment);
    if (live === segment.count) start = Math.max(start, segment.until);
    else if (live > 0) start = Math.max(start, opensAt(segment, segment.base + live));
  }
  return start;
}
