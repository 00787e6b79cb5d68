/**
 * A circuit breaker: whoever kept somebody waiting until the deadline is asked no more for a while, and then by one
 * request at a time. Values only: a request that was cancelled leaves nothing pending.
 */
import type { EpochMs } from "@vestibule/kernel/units";
import { BREAKER_REST_MS_MAX, BREAKER_REST_MS_MIN } from "./limits.ts";

/** `closed`: everybody asks; `open`: nobody does; `half-open`: one request does, to see whether it is back. */
export type BreakerState = "closed" | "open" | "half-open";

export interface Breaker {
  state(now: EpochMs): BreakerState;
  /** True for the one request that may ask while it is half open. It reports by `answered` or `timedOut`. */
  probe(now: EpochMs): boolean;
  /** Changes with each answer, and with each time-out that counts: whoever asks notes it before. */
  readonly mark: number;
  /** It answered, with whatever. */
  answered(): void;
  /**
   * Counts for a question of the present mark only. Whoever has answered somebody else in the meantime is there, however
   * long this question took; and those that were asked together and time out one after the other are one.
   */
  timedOut(now: EpochMs, mark: number): void;
}

/**
 * Only time-outs open it: whoever fails at once costs nobody time, and is back the moment it is back. Each one in a row
 * doubles the rest, up to `BREAKER_REST_MS_MAX`.
 *
 * @param probeDeadMs a probe that has not reported by then was cancelled with its request
 */
export function createBreaker(probeDeadMs: number): Breaker {
  let timeouts = 0;
  let present = 0;
  let openedAt = 0;
  let probedAt: EpochMs | undefined;

  function state(now: EpochMs): BreakerState {
    if (timeouts === 0) return "closed";
    // By the distance: a clock that was set back must not keep it open.
    const restMs = Math.min(BREAKER_REST_MS_MIN * 2 ** (timeouts - 1), BREAKER_REST_MS_MAX);
    const isResting = Math.abs(now - openedAt) < restMs;
    const isProbed = probedAt !== undefined && Math.abs(now - probedAt) < probeDeadMs;
    return isResting || isProbed ? "open" : "half-open";
  }

  return {
    state,
    probe(now) {
      if (state(now) !== "half-open") return false;
      probedAt = now;
      return true;
    },
    get mark() {
      return present;
    },
    answered() {
      present += 1;
      timeouts = 0;
      probedAt = undefined;
    },
    timedOut(now, mark) {
      if (mark !== present) return;
      present += 1;
      timeouts = Math.min(timeouts + 1, 32);
      openedAt = now;
      probedAt = undefined;
    },
  };
}
