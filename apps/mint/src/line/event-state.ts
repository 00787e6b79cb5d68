import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { EventState } from "@vestibule/contracts/statements";
import type { EpochMs } from "@vestibule/kernel/units";
import { problem } from "@vestibule/service/problems";
import { RETRY_AFTER_SECONDS_MAX } from "../limits.ts";
import type { EventFacts, EventRecord } from "../store/store.ts";

type Described = Pick<EventRecord, "settings" | "facts">;

/** From when numbers are given. */
export function joinableFrom({ joinableAt, startsAt }: EventSettings): number {
  return joinableAt ?? startsAt ?? 0;
}

/** What an event is at `now`, from what the organizer set and did: never stored, so never stale. */
export function stateAt({ settings, facts }: Described, now: EpochMs): EventState {
  if (isEnded({ settings, facts }, now)) return "ended";
  if (facts.soldoutAt !== undefined) return "soldout";
  if (now < joinableFrom(settings)) return "scheduled";
  if (isSoldOut(facts)) return "soldout";
  if (facts.hold !== undefined) return "paused";
  return now < (settings.startsAt ?? 0) ? "prequeue" : "open";
}

/** By the organizer's word, for good, or by the purchase API's, until it takes that back. */
export function isSoldOut({ soldoutAt, supply }: EventFacts): boolean {
  return soldoutAt !== undefined || supply.outAt !== undefined;
}

export function isEnded({ settings, facts }: Described, now: EpochMs): boolean {
  return facts.endedAt !== undefined || now >= settings.endsAt;
}

/** The moment of an event's end, as far as it is known. */
export function endOf(settings: EventSettings, facts: Pick<EventFacts, "endedAt">): number {
  return Math.min(facts.endedAt ?? Infinity, settings.endsAt);
}

/**
 * @throws AppError `event-ended`, `too-early` (with `joinableAt`) or `sold-out` when no new number is given.
 */
export function assertJoinable(record: Described, now: EpochMs): void {
  const state = stateAt(record, now);
  if (state === "ended") throw problem("event-ended");
  if (state === "soldout") throw soldOut();
  if (state !== "scheduled") return;
  const joinableAt = joinableFrom(record.settings);
  throw problem("too-early", {
    detail: "The line is not open yet",
    extensions: { joinableAt },
    retryAfterSeconds: boundedSeconds(joinableAt - now),
  });
}

export function soldOut(): Error {
  return problem("sold-out", { detail: "The sale is sold out" });
}

/** Milliseconds as a `Retry-After`: whole seconds, 1 to a minute. */
export function boundedSeconds(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms / 1_000), 1), RETRY_AFTER_SECONDS_MAX);
}
