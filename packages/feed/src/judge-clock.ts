import type { ClockEstimate, ClockState } from "@vestibule/contracts/edges-api";

/**
 * What an estimate of a clock's offset says, for a location and for the mint alike. Only what is sure counts: a slow
 * answer measures badly, and closes nobody. Tokens carry whole seconds, so that clocks less than one apart never part
 * but inside a second: a tolerance of 0 counts as 1 here, or no clock at all would do.
 *
 * - `wrong`: surely further off than the tolerance. Such a location admits nobody.
 * - `warn`: surely further off than half of it.
 * - `good`: surely within the tolerance.
 * - `unknown`: no estimate, or one that is too rough to tell.
 */
export function judgeClock(estimate: ClockEstimate | undefined, skewSeconds: number): ClockState {
  if (estimate === undefined) return "unknown";
  const offMs = Math.abs(estimate.offsetMs);
  const surelyMs = offMs - estimate.uncertaintyMs;
  const toleranceMs = Math.max(1, skewSeconds) * 1_000;
  if (surelyMs > toleranceMs) return "wrong";
  if (surelyMs > toleranceMs / 2) return "warn";
  return offMs + estimate.uncertaintyMs <= toleranceMs ? "good" : "unknown";
}
