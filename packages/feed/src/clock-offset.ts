/**
 * How far a clock is from another one, by a question and its answer: pure. For a location and the mint, and for the
 * mint and its database.
 */
import type { ClockEstimate } from "@vestibule/contracts/edges-api";
import type { EpochMs } from "@vestibule/kernel/units";
import { DRIFT_PPM_MAX, READING_TRUST_MS, ROUND_TRIP_MS_MAX } from "./limits.ts";

/** What each clock said, whole milliseconds. */
export interface ClockAnswer {
  /** The own clock at the sending of the question, or earlier. */
  readonly sentAt: EpochMs;
  /** The own clock at the receipt of the answer, or later. */
  readonly receivedAt: EpochMs;
  /** The other clock in between. */
  readonly at: number;
  /** The same round trip by a clock that never steps, where the runtime has one. */
  readonly roundTripMs?: number | undefined;
}

/** The own clock less the other one was surely in `lowMs … highMs`, in the `tookMs` before the own clock said `until`. */
export interface ClockReading {
  readonly lowMs: number;
  readonly highMs: number;
  readonly tookMs: number;
  readonly until: EpochMs;
}

/** A clock that says `n` has passed `n` and not yet `n + 1`. */
const WHOLE_MS = 1;

/**
 * The other clock was read between sending and receipt: so the offset lies between `sentAt - at` and `receivedAt - at`,
 * whatever each way took. What makes the round trip look longer (a clock that stands still until the next event, a
 * busy machine, a clock set on in the middle) makes the interval wider, never wrong. So does one that was set back by
 * less than the round trip, where the runtime has a clock that never steps; where it has none, this one answer is
 * spoiled by as much.
 *
 * Each answer stands alone: earlier ones would narrow the interval only if the clock had not been set in between,
 * which nobody can know.
 *
 * @returns `undefined` for an answer that took too long to be worth anything, or to before its question.
 */
export function readClock(answer: ClockAnswer): ClockReading | undefined {
  const { sentAt, receivedAt, at, roundTripMs = 0 } = answer;
  const from = Math.min(sentAt, receivedAt - Math.ceil(roundTripMs));
  const tookMs = receivedAt - from;
  if (receivedAt < sentAt || tookMs > ROUND_TRIP_MS_MAX) return undefined;
  return {
    lowMs: from - at - WHOLE_MS,
    highMs: receivedAt - at + WHOLE_MS,
    tookMs,
    until: receivedAt,
  };
}

/**
 * What is still sure of a reading when the own clock says `now`: each millisecond since then it may have drifted.
 *
 * @returns `undefined` when it is too old, or the own clock was set back since.
 */
export function estimateAt(
  reading: ClockReading | undefined,
  now: EpochMs,
): ClockEstimate | undefined {
  if (reading === undefined || now < reading.until) return undefined;
  if (now - reading.until > READING_TRUST_MS) return undefined;
  const { lowMs, highMs, tookMs, until } = reading;
  const driftMs = ((now - until + tookMs) * DRIFT_PPM_MAX) / 1_000_000;
  const offsetMs = Math.round((lowMs + highMs) / 2) + 0; // never -0
  const uncertaintyMs = Math.ceil(Math.max(highMs - offsetMs, offsetMs - lowMs) + driftMs);
  return { offsetMs, uncertaintyMs };
}
