/**
 * What may be said of a wait besides its figures (ADR 21): that it has grown, and why; that it is unlikely to be of use.
 * Pure, and small.
 */
import type { DripView } from "@vestibule/contracts/statements";
import { type EtaRange, etaRange } from "@vestibule/drip/estimate";

/** The rate was lowered; more people come than before; nobody went in for a while; others are served first. */
export type Growth = "slower" | "fuller" | "stopped" | "others";

/** What a place was told: whoever shows it keeps this, and what is told next is measured against it. */
export interface Told {
  /** The earliest moment that was said to be the latest one of its turn, epoch milliseconds; and what was known then. */
  readonly by: number;
  readonly drip: DripView;
  /** Since then the line stood still before our eyes. */
  readonly stood: boolean;
}

export interface HonestWait {
  readonly eta: EtaRange | undefined;
  /** Why the latest moment is later than it was said to be; absent: it is not. */
  readonly grew?: Growth | undefined;
  readonly told: Told | undefined;
}

/** Rounding and ticks: so much later is not shown at all, or so much of what is left. */
const SLACK_MS = 5_000;
const SLACK_SHARE = 0.02;
/** Once it was unlikely, it is so until fewer come than this share of what is left. */
const LIKELY_AGAIN = 0.7;

export function waitOf(n: number, drip: DripView, now: number, told?: Told): HonestWait {
  const eta = etaRange(n, drip, now);
  const stood = eta === undefined || drip.segments.every(({ until }) => until <= now);
  const seen = told && { ...told, stood: told.stood || stood };
  if (eta === undefined) return { eta, told: seen };
  const by = now + eta.untilMs;
  if (seen === undefined || by <= seen.by) return { eta, told: { by, drip, stood: false } };
  const most = seen.by + Math.max(SLACK_MS, eta.untilMs * SLACK_SHARE);
  if (by > most) return { eta, grew: growthOf(n, drip, now, { ...seen, by: most }), told: seen };
  return { eta: { ...eta, untilMs: Math.max(eta.fromMs, seen.by - now) }, told: seen };
}

/** By asking what would be said if one thing were still as it was. */
function growthOf(n: number, drip: DripView, now: number, { drip: then, by, stood }: Told): Growth {
  const { rate, rates, pace } = then;
  const fits = (as: Partial<DripView>): boolean =>
    now + (etaRange(n, { ...drip, ...as }, now)?.untilMs ?? Infinity) <= by;
  if (fits({ rate, rates })) return "slower";
  if (fits({ pace })) return "fuller";
  if (stood || drip.cuts.some(({ until }) => until > then.at)) return "stopped";
  return fits({ rate, rates, pace }) ? "slower" : "others";
}

/**
 * More come before this one than are left, each taking one, though as many stay away as the line's pace allows. Never
 * certain: holds end, and who comes need not buy.
 * @param before whether it was unlikely already
 */
export function isUnlikely(ahead: number, drip: DripView, before: boolean): boolean {
  const { left, pace, overdrive = 150 } = drip;
  if (left === undefined) return false;
  const come = (ahead * 100) / (pace?.[1] ?? overdrive);
  return come > left.atMost * (before ? LIKELY_AGAIN : 1);
}
