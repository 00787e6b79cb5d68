/**
 * What a line will do, before it does it: by the same arithmetic that the controller commits by, so without a
 * simulation and at a cost that does not depend on how many wait. Exact but for the milliseconds that segments are
 * rounded up by, and by a piece of 5 s at the end of what is made up for; if everybody shows up, and nothing is held.
 */
import { assert } from "@vestibule/kernel/assert";
import type { EpochMs } from "@vestibule/kernel/units";
import type { DripPolicy, LineState, Segment } from "./line-state.ts";
import { Pace } from "./pace.ts";
import { peakRate } from "./rate-plan.ts";
import { liveCount, openedCount, opensAt } from "./segment.ts";

export interface OutlookInput {
  readonly line: LineState;
  readonly policy: DripPolicy;
  /** Committed, and not over. */
  readonly segments: readonly Segment[];
  readonly now: EpochMs;
  /** The drip runs from `startsAt` on, and until `endsAt`. Epoch milliseconds. */
  readonly startsAt: number;
  readonly endsAt: number;
  /** People who have no slot yet. */
  readonly waiting: number;
  readonly lifetimeSeconds: number;
  readonly minutes: number;
}

export interface Outlook {
  /** Where the committed drip ends: what is set now counts from here on. */
  readonly takesHoldAt: number;
  /** Slots that open in each minute from `now` on, committed ones included, while there are people for them. */
  readonly perMinute: readonly number[];
  /** The turn of the last one who waits now, or has a turn ahead, and gets it; absent: nobody does. */
  readonly lastTurnAt?: number;
  /** People who get no turn: beyond `endsAt`, also when it is committed already, or beyond `maxAdmissions`. */
  readonly leftOut: number;
  /**
   * Once what is committed is over, at most so many have an open slot at any one time, lapsed ones not counted: rate ×
   * lifetime, and the budget.
   */
  readonly shoppersAtOnce: number;
}

const MINUTE_MS = 60_000;

export function outlookOf(input: OutlookInput): Outlook {
  const { line, policy, segments, now, startsAt, endsAt, waiting, lifetimeSeconds } = input;
  assert(Number.isSafeInteger(waiting) && waiting >= 0 && waiting <= 1e9, "a count of people");
  const pace = new Pace(policy);
  const opens = Math.max(now, startsAt);
  const from = Math.max(line.frontier, opens);
  const room = Math.max(0, (policy.maxAdmissions ?? Infinity) - line.granted);
  const credit = pace.creditAt(line, opens);
  /** Slots that open before `at`, of a line that is full. */
  const openedBefore = (at: number, creditMicro = credit): number => {
    const ms = Math.min(at, endsAt) - from;
    return ms <= 0 ? 0 : Math.min(room, pace.slotsWithin(from, ms, creditMicro));
  };
  const all = (at: number): number =>
    committedBefore(segments, Math.min(at, endsAt)) + openedBefore(at);
  const perMinute = Array.from(
    { length: input.minutes },
    (_, minute) => all(now + (minute + 1) * MINUTE_MS) - all(now + minute * MINUTE_MS),
  );

  // Nobody speeds up a line that the next horizon serves whole.
  const horizonEnd = opens + policy.horizonMs;
  const fits = from < horizonEnd ? pace.slotsWithin(from, horizonEnd - from, 0) : 0;
  const lastCredit = Math.min(waiting, room) > fits ? credit : 0;
  const served = Math.min(waiting, openedBefore(Infinity, lastCredit));
  const lastTurnAt =
    served > 0
      ? from + pace.lengthMs(from, served - 1, lastCredit)
      : lastPending(segments, now, endsAt);
  // Nothing more is committed: what is then goes on.
  const peak = peakRate(policy, from < endsAt ? from : now, endsAt);
  const late = committedBefore(segments, Infinity) - committedBefore(segments, endsAt);
  return {
    takesHoldAt: from,
    perMinute,
    ...(lastTurnAt === undefined ? {} : { lastTurnAt }),
    leftOut: waiting - served + late,
    shoppersAtOnce: Math.ceil((peak * lifetimeSeconds) / 60) + policy.approximationBudget,
  };
}

function committedBefore(segments: readonly Segment[], at: number): number {
  return segments.reduce(
    (sum, segment) => sum + Math.min(openedCount(segment, at - 1), liveCount(segment)),
    0,
  );
}

function lastPending(
  segments: readonly Segment[],
  now: number,
  endsAt: number,
): number | undefined {
  let last: number | undefined;
  for (const segment of segments) {
    const live = Math.min(liveCount(segment), openedCount(segment, endsAt - 1));
    const at = live === 0 ? now : opensAt(segment, segment.base + live - 1);
    if (at > now) last = Math.max(last ?? at, at);
  }
  return last;
}
