/**
 * Which events are in their last call: what is left of them will not last at the pace of selling. The pace is seen in
 * PostgreSQL's stock rows, in which all instances sell, so that every instance comes to about the same answer.
 */
import type { EpochMs } from "@vestibule/kernel/units";
import {
  LAST_CALL_AHEAD_MS,
  LAST_CALL_LEAVE_FACTOR,
  LAST_CALL_STAY_MS,
  LAST_CALL_UNITS_PER_ADMISSION,
  PACE_LOOK_MS,
  PACE_SPAN_MS_MIN,
  PACE_WINDOW_MS,
} from "./limits.ts";

export interface Seen {
  readonly now: EpochMs;
  /** Pieces that are neither sold nor held, and those that are. */
  readonly left: number;
  readonly taken: number;
  /** Slots per minute of the drip; `undefined` while it is not known. */
  readonly ratePerMinute: number | undefined;
  /** For how long what is told of this event has been so. */
  readonly toldForMs: number;
}

export interface LastCalls {
  /**
   * One look at the stock of an event. `undefined`: it stays what it is, because what is left is in between, because it
   * has only just begun, or because this instance has not watched for long enough to call an end. So neither selling by
   * fits and starts nor instances that see a little apart make it come and go.
   */
  judge(event: string, seen: Seen): boolean | undefined;
  /** Forgets all events but these. */
  keep(events: ReadonlySet<string>): void;
}

interface Look {
  readonly at: EpochMs;
  readonly taken: number;
}

export function createLastCalls(): LastCalls {
  /** Of each event, the oldest first; the first one is the last that is not younger than the window. */
  const looks = new Map<string, Look[]>();

  /** The look from which the pace is measured. */
  function firstOf(event: string, { now, taken }: Seen): Look {
    const known = looks.get(event) ?? [];
    const last = known.at(-1);
    // A clock that was set back: what was seen before says nothing.
    const isUsable = last !== undefined && last.at <= now;
    const own = isUsable ? known : [];
    if (!isUsable || now - last.at >= PACE_LOOK_MS) own.push({ at: now, taken });
    while (own[1] !== undefined && own[1].at <= now - PACE_WINDOW_MS) own.shift();
    looks.set(event, own);
    return own[0] ?? { at: now, taken };
  }

  return {
    judge: (event, seen) => {
      const { now, left, taken, ratePerMinute, toldForMs } = seen;
      const first = firstOf(event, seen);
      // What came back counts against the pace; what was added to the stock does not.
      const sold = Math.max(0, taken - first.taken) / Math.max(now - first.at, PACE_SPAN_MS_MIN);
      const byDrip = ((ratePerMinute ?? 0) * LAST_CALL_UNITS_PER_ADMISSION) / 60_000;
      const soonGone = Math.max(sold, byDrip) * LAST_CALL_AHEAD_MS;
      if (left <= soonGone) return true;
      const isSure = ratePerMinute !== undefined && now - first.at >= PACE_WINDOW_MS;
      const mayEnd = isSure && toldForMs >= LAST_CALL_STAY_MS;
      return mayEnd && left > soonGone * LAST_CALL_LEAVE_FACTOR ? false : undefined;
    },
    keep: (events) => {
      for (const event of looks.keys()) if (!events.has(event)) looks.delete(event);
    },
  };
}
