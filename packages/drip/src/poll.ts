/** When a waiting page asks for the drip again. For the browser: small, no import. */

export interface PollInput {
  /** In [0, 1). */
  readonly random: number;
  /** The exact time to the turn, once it is committed. */
  readonly untilTurnMs?: number | undefined;
  /** Lower bound of the estimate, while the time is not exact; absent: unknown. */
  readonly etaFromMs?: number | undefined;
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

/**
 * Whole milliseconds until the next poll: around the interval, spread from half to one and a half of
 * it, so that people who came in the same second do not stay in step.
 *
 * An exact time needs no poll: the page moves in by its own clock, and looks only rarely whether the
 * drip was stopped. Waiting: a tenth of what is left, 5 s to 60 s. Hidden: every 90 s or so, which is
 * within the default claim window, and not after the lower bound of the estimate. Failures double
 * the interval, up to 4 minutes.
 */
export function pollDelayMs(input: PollInput): number {
  const { random, untilTurnMs = Infinity, etaFromMs = UNKNOWN_MS * 10, failures = 0 } = input;
  const advisedMs = input.advisedMs ?? 0;
  let interval = Math.min(FAR_MS, Math.max(SOON_MS, etaFromMs / 10));
  if (untilTurnMs < Infinity) interval = FAR_MS / 2;
  if (input.hidden === true) interval = Math.min(HIDDEN_MS, Math.max(interval, etaFromMs / 1.5));
  if (failures > 0) {
    const backOff = Math.min(FAILED_MS_MAX, FAILED_MS * 2 ** Math.min(failures, 10));
    interval = Math.max(interval, backOff);
  }
  let delay = interval * (0.5 + random);
  if (delay < untilTurnMs && delay > untilTurnMs - TURN_MS) delay += TURN_MS;
  // Advice is the same for everyone: add to it, or it would bring everyone back in step.
  return Math.ceil(delay < advisedMs ? advisedMs * (1 + random / 2) : delay);
}
