/** What estimates need to know of the line's speed besides the rate. */
import { OVERDRIVE_PERCENT_DEFAULT } from "@vestibule/contracts/limits";
import type { DripClaims } from "@vestibule/contracts/statements";
import { changesAfter, rateAt } from "@vestibule/drip/rate-plan";
import { liveCount } from "@vestibule/drip/segment";
import type { EpochMs } from "@vestibule/kernel/units";
import { BACKLOG_MS_MAX, RATES_SHOWN_MAX } from "../limits.ts";
import type { EventLine } from "./event-line.ts";
import type { LapseRange } from "./recent-lapses.ts";

const MICRO = 1_000_000;

/** Each member only where it is not the usual. */
export function speedOf(
  line: EventLine,
  now: EpochMs,
): Pick<DripClaims, "rates" | "overdrive" | "pace" | "come"> {
  const { settings } = line.record;
  const { overdrivePercent } = settings;
  const rates = changesAfter(settings, now, RATES_SHOWN_MAX);
  const { range } = line.lapses;
  return {
    ...(rates.length === 0 ? {} : { rates }),
    ...(overdrivePercent === OVERDRIVE_PERCENT_DEFAULT ? {} : { overdrive: overdrivePercent }),
    ...(range === undefined
      ? {}
      : { pace: paceOf(line, now, range), come: Math.floor(100 * (1 - range.most)) }),
  };
}

/**
 * Between these per cents of the rate the line moves, if as many come as did lately. What lapses is given back a claim
 * window later: at first that is 1 + share, in the long run 1 ÷ (1 − share), and more where slots opened faster
 * before than they do now. A backlog of what was not given back yet opens as fast as the overdrive allows.
 */
function paceOf(line: EventLine, now: EpochMs, range: LapseRange): [number, number] {
  const { settings, progress } = line.record;
  const fastest = settings.overdrivePercent;
  const { ratePerMinute } = rateAt(settings, now);
  const backlogMs = (progress.line.giveBackMicro / MICRO / ratePerMinute) * 60_000;
  const before = speedBefore(line) / ratePerMinute;
  const percent = (share: number, times: number): number =>
    Math.min(fastest, Math.max(100, 100 * (1 + share * times)));
  const least = percent(range.least, Math.min(1, before));
  const most = percent(range.most, Math.max(1 / Math.max(0.01, 1 - range.most), before));
  return [Math.floor(least), backlogMs > BACKLOG_MS_MAX ? fastest : Math.ceil(most)];
}

/** Slots per minute of what is not settled: what of it lapses is still to be given back. */
function speedBefore({ record }: EventLine): number {
  const { segments, progress } = record;
  const from = segments[0]?.from ?? progress.line.frontier;
  const slots = segments.reduce((sum, segment) => sum + liveCount(segment), 0);
  return (slots * 60_000) / Math.max(1, progress.line.frontier - from);
}
