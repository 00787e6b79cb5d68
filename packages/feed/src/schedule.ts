import type { EpochMs } from "@vestibule/kernel/units";
import { BACKOFF_MS_MAX } from "./limits.ts";

/**
 * When one thing is asked for again. A refresh under way is a moment, never a promise: in workerd a
 * promise of one request must not be awaited by another (jose 355, 509), and a cancelled request
 * would leave it pending for ever.
 */
export interface Schedule {
  due(now: EpochMs): boolean;
  underWay(now: EpochMs): boolean;
  /** False when a refresh is under way already. */
  begin(now: EpochMs): boolean;
  end(now: EpochMs, success: boolean): void;
  readonly failuresInARow: number;
}

/** @param deadMs a refresh that has not reported back by then was cancelled: somebody else may start one */
export function createSchedule({
  refreshMs,
  deadMs,
}: {
  refreshMs: number;
  deadMs: number;
}): Schedule {
  let startedAt: EpochMs | undefined;
  let nextAt = 0;
  let failures = 0;
  const underWay = (now: EpochMs) => startedAt !== undefined && Math.abs(now - startedAt) < deadMs;
  return {
    underWay,
    due: (now) => {
      // A clock that stepped back must not keep a location from asking.
      const waiting = now < nextAt && nextAt - now <= Math.max(refreshMs, BACKOFF_MS_MAX);
      return !waiting && !underWay(now);
    },
    begin(now) {
      if (underWay(now)) return false;
      startedAt = now;
      return true;
    },
    end(now, success) {
      startedAt = undefined;
      failures = success ? 0 : failures + 1;
      const backoffMs = Math.min(1_000 * 2 ** Math.min(failures - 1, 10), BACKOFF_MS_MAX);
      nextAt = now + (success ? refreshMs : backoffMs);
    },
    get failuresInARow() {
      return failures;
    },
  };
}
