/** When a waiting page asks for the drip again. For the browser: small, no import. */

export interface PollInput {
  /** In [0, 1). */
  readonly random: number;
  /** Within this of its opening a slot must be claimed. */
  readonly claimWindowMs: number;
  /** The exact time to the turn, once it is committed. */
  readonly untilTurnMs?: number | undefined;
  /**
   * The least time to a turn that is not committed, whatever happens to the line meanwhile (`soonestTurnMs`);
   * absent: no place, and so no turn to miss.
   */
  readonly soonestMs?: number | undefined;
  readonly hidden?: boolean;
  /** Requests that failed in a row. */
  readonly failures?: number;
  /** `Retry-After` or the like: never sooner. */
  readonly advisedMs?: number | undefined;
}

/** No poll in the last moments before a known turn. */
const TURN_MS = 10_000;
const SOON_MS = 5_000;
const UNKNOWN_MS = 20_000;
const FAR_MS = 60_000;
const HIDDEN_MS = 90_000;
const FAILED_MS = 4_000;
const FAILED_MS_MAX = 240_000;
/** However short the claim window: nobody looks more often for it than this, and half as often on failures. */
const LOOK_MS = 2_000;
const FAILED_LOOK_MS = 10_000;
/** The longest delay, over the interval that it is spread around. */
const SPREAD_MAX = 1.5;

/**
 * Whole milliseconds until the next poll: around the interval, spread from half to one and a half of
 * it, so that people who came in the same second do not stay in step.
 *
 * An exact time needs no poll: the page moves in by its own clock, and looks only rarely whether the
 * drip was stopped. Waiting: a tenth of what is left, 5 s to 60 s. Hidden: every 90 s or so, and not
 * after the earliest turn. Failures double the interval, up to 4 minutes.
 *
 * Of all of it, one rule comes first: whoever may get a slot before the next look looks within half of the claim
 * window, so that the slot is seen in time to be claimed. Only advice and the floors above are stronger.
 */
export function pollDelayMs(input: PollInput): number {
  const { random, claimWindowMs, untilTurnMs = Infinity, failures = 0 } = input;
  const { soonestMs = UNKNOWN_MS * 10, advisedMs = 0 } = input;
  let interval = Math.min(FAR_MS, Math.max(SOON_MS, soonestMs / 10));
  if (untilTurnMs < Infinity) interval = FAR_MS / 2;
  if (input.hidden === true) {
    interval = Math.min(HIDDEN_MS, Math.max(interval, soonestMs / SPREAD_MAX));
  }
  if (failures > 0) {
    const backOff = Math.min(FAILED_MS_MAX, FAILED_MS * 2 ** Math.min(failures, 10));
    interval = Math.max(interval, backOff);
  }
  if (input.soonestMs !== undefined && untilTurnMs === Infinity) {
    const floor = failures > 0 ? FAILED_LOOK_MS : LOOK_MS;
    interval = Math.min(interval, Math.max(soonestMs, claimWindowMs / 2, floor) / SPREAD_MAX);
  }
  let delay = interval * (0.5 + random);
  if (delay < untilTurnMs && delay > untilTurnMs - TURN_MS) delay += TURN_MS;
  // Advice is the same for everyone: add to it, or it would bring everyone back in step.
  return Math.ceil(delay < advisedMs ? advisedMs * (1 + random / 2) : delay);
}
