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
  /** The reason that was given last. */
  readonly grew?: Growth | undefined;
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
/** Of a hundred: who comes, while nobody knows; and what a band is at least, being rounded up from 0.4 of it. */
const HALF = 50;
const BAND_LEAST = 40;

export function waitOf(n: number, drip: DripView, now: number, told?: Told): HonestWait {
  const eta = etaRange(n, drip, now);
  const stood = eta === undefined || drip.segments.every(({ until }) => until <= now);
  const seen = told && { ...told, stood: told.stood || stood };
  if (eta === undefined) return { eta, told: seen };
  const by = now + eta.untilMs;
  if (seen === undefined || by <= seen.by) return { eta, told: { by, drip, stood: false } };
  const most = seen.by + Math.max(SLACK_MS, eta.untilMs * SLACK_SHARE);
  if (by > most) {
    const grew = growthOf(n, drip, now, { ...seen, by: most });
    return { eta, grew, told: { ...seen, grew } };
  }
  return { eta: { ...eta, untilMs: Math.max(eta.fromMs, seen.by - now) }, told: seen };
}

/** By asking what would be said if one thing were still as it was; what is lost already stays lost to it. */
function growthOf(n: number, drip: DripView, now: number, told: Told): Growth {
  const { rate, rates, pace, at } = told.drip;
  const fits = (then: Partial<DripView>): boolean =>
    now + (etaRange(n, { ...drip, ...then }, now)?.untilMs ?? Infinity) <= told.by;
  if (fits({ rate, rates })) return "slower";
  if (fits({ pace })) return "fuller";
  if (told.stood || drip.cuts.some(({ until }) => until > at)) return "stopped";
  const foreseen = rates?.findLast(([from]) => from <= now)?.[1] ?? rate;
  return drip.rate < foreseen ? "slower" : (told.grew ?? "others");
}

/**
 * More come before this one than are left, each taking one, though as few come as may, by those who came lately. Taken back
 * when there is enough by the least that the band may mean. Never certain: holds end, and who comes need not buy.
 * @param before whether it was unlikely already
 */
export function isUnlikely(
  ahead: number,
  { left, come = HALF }: DripView,
  before: boolean,
): boolean {
  return left !== undefined && ahead * come > left.atMost * (before ? BAND_LEAST : 100);
}
