/**
 * The rate as a function of time: what an organizer set, dated steps and ramps. Pure; what is between two changes
 * is constant, so that integrals are sums of integers.
 */

/** From `at` (epoch milliseconds) on: so many slots a minute, or with `ramp` from there to the next entry's rate. */
export interface RateEntry {
  readonly at: number;
  readonly ratePerMinute: number;
  readonly ramp?: boolean | undefined;
}

export interface Rates {
  /** Before the first entry, and where there is none. */
  readonly ratePerMinute: number;
  /** Strictly ascending in time; the last one is no ramp. */
  readonly ratePlan: readonly RateEntry[];
}

/** The rate of a moment, and the first moment (epoch milliseconds, or Infinity) at which it may be another. */
export interface RateSpan {
  readonly ratePerMinute: number;
  readonly until: number;
}

/** A ramp is a staircase: so many equal steps at most, none shorter than this unless the ramp is. */
const RAMP_STEPS_MAX = 60;
const RAMP_STEP_MS_MIN = 10_000;

export function rateAt({ ratePerMinute, ratePlan }: Rates, at: number): RateSpan {
  const index = ratePlan.findLastIndex((entry) => entry.at <= at);
  const entry = ratePlan[index];
  const next = ratePlan[index + 1];
  if (entry?.ramp === true && next !== undefined) return stepOfRamp(entry, next, at);
  return {
    ratePerMinute: entry?.ratePerMinute ?? ratePerMinute,
    until: next?.at ?? Infinity,
  };
}

/** The highest rate in [from, until). */
export function peakRate(rates: Rates, from: number, until: number): number {
  let peak = 0;
  for (let at = from; at < until;) {
    const span = rateAt(rates, at);
    peak = Math.max(peak, span.ratePerMinute);
    at = span.until;
  }
  return peak;
}

/** The changes after `at`, as `[moment, rate from then on]`: the next `max` of them. */
export function changesAfter(rates: Rates, at: number, max: number): [number, number][] {
  const changes: [number, number][] = [];
  for (let span = rateAt(rates, at); span.until < Infinity && changes.length < max;) {
    const next = rateAt(rates, span.until);
    if (next.ratePerMinute !== span.ratePerMinute) changes.push([span.until, next.ratePerMinute]);
    span = next;
  }
  return changes;
}

/** Each step has the rate that the straight line has in its middle: the whole gives as many slots as the line. */
function stepOfRamp(entry: RateEntry, next: RateEntry, at: number): RateSpan {
  const lengthMs = next.at - entry.at;
  const steps = Math.min(RAMP_STEPS_MAX, Math.max(1, Math.floor(lengthMs / RAMP_STEP_MS_MIN)));
  const stepMs = Math.floor(lengthMs / steps);
  const step = Math.min(steps - 1, Math.floor((at - entry.at) / stepMs));
  const rise = next.ratePerMinute - entry.ratePerMinute;
  return {
    ratePerMinute: entry.ratePerMinute + Math.round((rise * (2 * step + 1)) / (2 * steps)),
    until: step === steps - 1 ? next.at : entry.at + (step + 1) * stepMs,
  };
}
