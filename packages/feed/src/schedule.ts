import type { EpochMs } from "@vestibule/kernel/units";
import { BACKOFF_MS_MAX, STALE_IN_VAIN_MS } from "./limits.ts";

/**
 * When one thing is asked for again. A refresh under way is a moment, never a promise: in workerd a
 * promise of one request must not be awaited by another (jose 355, 509), and a cancelled request
 * would leave it pending for ever.
 */
export interface Schedule {
  due(now: EpochMs): boolean;
  underWay(now: EpochMs): boolean;
  /**
   * True when the last answer is older than `staleMs`: nobody asked lately, so what is known may be
   * long out of date. After a try that failed it takes longer, and from the beginning of the next one: while a
   * location keeps asking in vain it goes by what it knows.
   */
  isStale(now: EpochMs, staleMs: number): boolean;
  /** False when a refresh is under way already. */
  begin(now: EpochMs): boolean;
  /** @param againMs after a success: when it is due again */
  end(now: EpochMs, success: boolean, againMs?: number): void;
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
  let askedAt = Number.NEGATIVE_INFINITY;
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
    isStale(now, staleMs) {
      if (failures === 0) return Math.abs(now - askedAt) > staleMs;
      const triedAt = Math.max(askedAt, startedAt ?? askedAt);
      return Math.abs(now - triedAt) > Math.max(staleMs, STALE_IN_VAIN_MS);
    },
    begin(now) {
      if (underWay(now)) return false;
      startedAt = now;
      return true;
    },
    end(now, success, againMs = refreshMs) {
      startedAt = undefined;
      askedAt = now;
      failures = success ? 0 : failures + 1;
      const backoffMs = Math.min(1_000 * 2 ** Math.min(failures - 1, 10), BACKOFF_MS_MAX);
      nextAt = now + (success ? againMs : backoffMs);
    },
  };
}
