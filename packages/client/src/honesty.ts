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
  readonly stood?: boolean | undefined;
  /** Why that moment is later by now; absent: it is not. */
  readonly grew?: Growth | undefined;
}

export interface HonestWait {
  readonly eta: EtaRange | undefined;
  readonly told: Told | undefined;
}

/** Rounding and ticks: so much later is not shown. */
const SLACK_MS = 5_000;
/** Of a hundred: who comes, while nobody knows; and what a band is at least, being rounded up from 0.4 of it. */
const HALF = 50;
const BAND_LEAST = 40;

export function waitOf(n: number, drip: DripView, now: number, told?: Told): HonestWait {
  const eta = etaRange(n, drip, now);
  const by = now + (eta?.untilMs ?? Infinity);
  if (eta !== undefined && by <= (told?.by ?? Infinity)) return { eta, told: { by, drip } };
  if (told === undefined) return { eta, told };
  const stood = told.stood || !eta || drip.segments.every(({ until }) => until <= now);
  const seen = { ...told, stood };
  if (eta === undefined || by > told.by + SLACK_MS || now + eta.fromMs > told.by)
    return { eta, told: { ...seen, grew: eta && growthOf(n, drip, now, seen) } };
  return { eta: { ...eta, untilMs: told.by - now }, told: { ...seen, grew: undefined } };
}

/**
 * Between two looks at the line: it is taken to move on, for what it has done since nobody knows.
 *
 * @param heardAt of the last look
 */
export function waitSince(
  n: number,
  drip: DripView,
  { now, heardAt, told }: { now: number; heardAt: number; told?: Told | undefined },
): HonestWait {
  const { eta, told: seen } = waitOf(n, drip, heardAt, told);
  const later = (ms: number): number => Math.max(0, heardAt + ms - now);
  return { eta: eta && { fromMs: later(eta.fromMs), untilMs: later(eta.untilMs) }, told: seen };
}

/** By asking what would be said if one thing were still as it was; what is lost already stays lost to it. */
function growthOf(n: number, drip: DripView, now: number, told: Told): Growth {
  const { rate, rates, pace, at } = told.drip;
  const fits = (then: Partial<DripView>): boolean =>
    now + (etaRange(n, { ...drip, ...then }, now)?.untilMs ?? 0) <= told.by + SLACK_MS;
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
