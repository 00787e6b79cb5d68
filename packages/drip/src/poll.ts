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
  /** Until the last call begins, 0 while it lasts (`lastCallInMs`); absent: there is none. */
  readonly lastCallInMs?: number | undefined;
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
const HIDDEN_MS_MAX = 600_000;
/** Hidden and far away: a share of the least time to a turn, so that a rate may be raised to more than twice before one is missed. */
const HIDDEN_SHARE = 4;
const FAILED_MS = 4_000;
const FAILED_MS_MAX = 240_000;
/** However short the claim window: nobody looks more often for it than this, and half as often on failures. */
const LOOK_MS = 2_000;
const FAILED_LOOK_MS = 10_000;
/** The longest delay, over the interval that it is spread around. */
const SPREAD_MAX = 1.5;
/** However far behind: no page that is visible, and is answered, goes without a look for longer. */
export const VISIBLE_DELAY_MS_MAX: number = FAR_MS * SPREAD_MAX;
/** Between the looks of a last call: whoever changes it changes what reaches a fan in time (apps/edge/src/limits.ts). */
export const LAST_CALL_LOOK_MS = { min: 600, max: 1_000 } as const;

/**
 * Whole milliseconds until the next poll: around the interval, spread from half to one and a half of
 * it, so that people who came in the same second do not stay in step.
 *
 * An exact time needs no poll: the page moves in by its own clock, and looks only rarely whether the
 * drip was stopped. Waiting: a tenth of what is left, 5 s to 60 s. Hidden: every 90 s or so, and not
 * after the earliest turn; from six minutes on a quarter of the least that is left, up to 10 minutes. Failures double the interval, up to 4 minutes.
 *
 * Of all of it, one rule comes first: whoever may get a slot before the next look looks within half of the claim
 * window, so that the slot is seen in time to be claimed. Only advice and the floors above are stronger.
 *
 * In a last call a page that is visible looks about every second, wherever it stands and whatever it knows of its own
 * turn: what it waits for may be gone. Failures and advice slow that down like everything else.
 */
export function pollDelayMs(input: PollInput): number {
  const { random, claimWindowMs, untilTurnMs = Infinity, failures = 0 } = input;
  const { soonestMs = UNKNOWN_MS * 10, advisedMs = 0 } = input;
  let interval = Math.min(FAR_MS, Math.max(SOON_MS, soonestMs / 10));
  if (untilTurnMs < Infinity) interval = FAR_MS / 2;
  if (input.hidden === true) {
    const rare = Math.min(HIDDEN_MS_MAX, Math.max(HIDDEN_MS, soonestMs / HIDDEN_SHARE));
    interval = Math.min(rare, Math.max(interval, soonestMs / SPREAD_MAX));
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
  if (input.lastCallInMs !== undefined && input.hidden !== true && failures === 0) {
    delay = Math.min(delay, lastCallLookMs(input.lastCallInMs, random));
  }
  // Advice is the same for everyone: add to it, or it would bring everyone back in step.
  return Math.ceil(delay < advisedMs ? advisedMs * (1 + random / 2) : delay);
}

/** Where it has not begun, everybody begins at once: their first looks are spread over the whole of an interval. */
function lastCallLookMs(untilBeginMs: number, random: number): number {
  const { min, max } = LAST_CALL_LOOK_MS;
  return untilBeginMs > 0 ? untilBeginMs + random * max : min + random * (max - min);
}
