/** What the mint says about one event, and about all: the claims of drip statement and manifest. */
import type { EventSettings } from "@vestibule/contracts/event-settings";
import { DRIP_STATEMENT_SECONDS, MANIFEST_STATEMENT_SECONDS } from "@vestibule/contracts/limits";
import type { DripClaims, ManifestClaims, ManifestEvent } from "@vestibule/contracts/statements";
import { claimWindowMs } from "@vestibule/drip/slot";
import { servingNumber } from "@vestibule/drip/line";
import type { Segment } from "@vestibule/drip/line-state";
import { rateAt } from "@vestibule/drip/rate-plan";
import { type EpochMs, toSeconds } from "@vestibule/kernel/units";
import {
  CUT_MARGIN_MS,
  CUTS_MAX,
  ENDED_SHOWN_MS,
  JOINED_PRODUCT_MAX,
  SKIPS_MAX,
} from "../limits.ts";
import type { EventFacts, EventRecord } from "../store/store.ts";
import { splitBypass } from "../store/bypass-split.ts";
import type { EventLine } from "./event-line.ts";
import { endOf, stateAt } from "./event-state.ts";
import { lastCallOf } from "./last-call.ts";
import { leftOf } from "./left.ts";
import { speedOf } from "./speed.ts";

/** @param seq higher than that of every statement of this event before. */
export function dripClaims(
  line: EventLine,
  { issuer, seq, now }: { issuer: string; seq: number; now: EpochMs },
): DripClaims {
  const { record } = line;
  const { settings, facts, progress } = record;
  const heldSince = facts.hold?.since;
  const lastCall = lastCallOf(record, now);
  const left = leftOf(record, now);
  const owed = record.demand.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const computed = servingNumber(record.segments, now, { heldSince, atLeast: progress.serving });
  return {
    iss: issuer,
    aud: line.event,
    iat: toSeconds(now),
    exp: toSeconds(now) + DRIP_STATEMENT_SECONDS,
    at: now,
    seq,
    state: stateAt(record, now),
    segments: joined(record.segments),
    serving: line.showServing(computed),
    committed: progress.line.nextNumber - 1,
    skips: skips(line),
    ...(owed === 0 ? {} : { owed }),
    issued: rounded(line.issuedCount()),
    rate: rateAt(settings, now).ratePerMinute,
    ...speedOf(line, now),
    notice: settings.notice,
    ...(settings.presence === "confirm" ? { presence: settings.presence } : {}),
    ...(facts.hold === undefined
      ? {}
      : { heldSince: facts.hold.since, heldScope: facts.hold.scope }),
    ...(facts.hold === undefined || facts.hold.reason === ""
      ? {}
      : { heldReason: facts.hold.reason }),
    cuts: liveCuts(record, now),
    ...(settings.startsAt === undefined ? {} : { startsAt: settings.startsAt }),
    endsAt: endOf(settings, facts),
    ...(lastCall === undefined ? {} : { lastCall }),
    ...(settings.priceRange === "" ? {} : { priceRange: settings.priceRange }),
    ...(left === undefined ? {} : { left }),
  };
}

/** Of an event's record: what the manifest says is made of it. */
export interface Listed {
  readonly settings: EventSettings;
  readonly facts: Pick<EventFacts, "endedAt">;
}

export function manifestClaims(
  records: readonly Listed[],
  { issuer, seq, now }: { issuer: string; seq: number; now: EpochMs },
): ManifestClaims {
  return {
    iss: issuer,
    iat: toSeconds(now),
    exp: toSeconds(now) + MANIFEST_STATEMENT_SECONDS,
    seq,
    events: records
      .filter(({ settings, facts }) => endOf(settings, facts) + ENDED_SHOWN_MS > now)
      .map(manifestEvent),
  };
}

function manifestEvent({ settings, facts }: Listed): ManifestEvent {
  return {
    event: settings.event,
    title: settings.title,
    hosts: settings.hosts,
    paths: settings.paths,
    ...splitBypass(settings.bypass),
    homePath: settings.homePath,
    lifetimeSeconds: settings.lifetimeSeconds,
    claimWindowSeconds: claimWindowMs(settings) / 1_000,
    holdingStatus: settings.holdingStatus,
    accent: settings.accent,
    endsAt: endOf(settings, facts),
    ...(settings.startsAt === undefined ? {} : { startsAt: settings.startsAt }),
    ...(settings.joinableAt === undefined ? {} : { joinableAt: settings.joinableAt }),
    ...(settings.language === undefined ? {} : { language: settings.language }),
    ...(Object.keys(settings.looks ?? {}).length === 0 ? {} : { looks: settings.looks }),
    ...frictionOf(settings),
  };
}

/** What is as if nobody had set it is left out. */
function frictionOf({ friction = {} }: EventSettings): Pick<ManifestEvent, "friction"> {
  const { limit, proofOfWorkBits = 0 } = friction;
  const set = {
    ...(limit === false ? { limit } : {}),
    ...(proofOfWorkBits === 0 ? {} : { proofOfWorkBits }),
  };
  return Object.keys(set).length === 0 ? {} : { friction: set };
}

type ListedSegment = DripClaims["segments"][number];

/**
 * Neighbours of exactly the same pace become one: `opensAt` is the same function of every number, in
 * fewer bytes. Equal as fractions, (until−from)/count compared crosswise; and only as long as readers'
 * products of a count and a length stay exact.
 */
export function joined(segments: readonly Segment[]): ListedSegment[] {
  const list: ListedSegment[] = [];
  for (const { base, count, from, until, cutAfter } of segments) {
    const last = list.at(-1);
    const joins =
      last !== undefined &&
      last.cutAfter === undefined &&
      cutAfter === undefined &&
      last.base + last.count === base &&
      last.until === from &&
      (last.count + count) * (until - last.from) <= JOINED_PRODUCT_MAX &&
      (last.until - last.from) * count === (until - from) * last.count;
    if (joins) {
      list[list.length - 1] = {
        base: last.base,
        count: last.count + count,
        from: last.from,
        until,
      };
    } else {
      list.push({ base, count, from, until, ...(cutAfter === undefined ? {} : { cutAfter }) });
    }
  }
  return list;
}

/** Runs behind the committed numbers that nobody holds, as far as is known. */
function skips(line: EventLine): [number, number][] {
  const next = line.record.progress.line.nextNumber;
  const gaps: [number, number][] = [];
  let expected: number = next;
  for (const { first, last } of line.heldFrom(next)) {
    if (first > expected) gaps.push([expected, first - 1]);
    expected = last + 1;
  }
  // Whoever joins next has read this: the gap of a takeover is not people before them.
  const { first } = line.sequencer;
  if (first > expected) gaps.push([expected, first - 1]);
  return gaps.slice(0, SKIPS_MAX);
}

/** Two significant digits, never below the truth: the same bytes for a while, and no exact count. People, not numbers: gaps are wide. */
function rounded(issued: number): number {
  if (issued < 100) return issued;
  const step = 10 ** (Math.floor(Math.log10(issued)) - 1);
  return Math.ceil(issued / step) * step;
}

function liveCuts(
  { cuts, settings }: EventRecord,
  now: EpochMs,
): { since: number; until: number }[] {
  const { horizonSeconds, lifetimeSeconds } = settings;
  const aliveMs = (horizonSeconds + lifetimeSeconds) * 1_000 + CUT_MARGIN_MS;
  return cuts
    .filter(({ since }) => since + aliveMs > now)
    .slice(-CUTS_MAX)
    .map(({ since, until }) => ({ since, until }));
}
