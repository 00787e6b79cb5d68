/** What the purchase API knows of the mint: keys, the terms of each event, holds. The feed's only user here. */
import { DRIP_ACTIVE_MS, DRIP_STALE_MS } from "@vestibule/feed/limits";
import { dripOf, type Thing } from "@vestibule/feed/thing";
import type { MintFeed } from "@vestibule/feed/mint-feed";
import type { DripClaims, ManifestEvent } from "@vestibule/contracts/statements";
import type { EpochMs } from "@vestibule/kernel/units";
import type { KeySet } from "@vestibule/keys/key-set";
import {
  LAST_CALL_AHEAD_MS,
  RATE_KNOWN_MS,
  RATE_STALE_MS,
  UNKNOWN_EVENT_LOOK_MS,
} from "./limits.ts";

export interface MintKnowledge {
  /** Nothing: no key is known, or they are too old to be relied on. */
  keys(now: EpochMs): KeySet | undefined;
  /** For a `kid` that is not known: whether it is worth looking at the keys again. */
  newerKeys(now: EpochMs): Promise<boolean>;
  /**
   * `undefined`: no manifest is known. `"no-such-event"`: it is known and does not list the event, also
   * after a new look; made-up names cause at most one in `UNKNOWN_EVENT_LOOK_MS`, however many there are.
   */
  terms(event: string, now: EpochMs): Promise<ManifestEvent | "no-such-event" | undefined>;
  /** Those that the manifest names; none while none is known. */
  events(): readonly string[];
  /** The last good statement of `event`, also when it has run out: a hold stays in force. */
  drip(event: string, now: EpochMs): Promise<DripClaims | undefined>;
  /** This instance's clock is surely further off than the tolerance: valid and over cannot be told apart. */
  isClockWrong(): boolean;
  /** When the first question for the time has come to an end, or after the feed's bound for waiting. */
  whenClockAsked(): Promise<void>;
  /**
   * The highest rate, slots per minute, of now and of the time that a last call is told ahead, of an event that goes
   * on, a look of some seconds ago; `undefined` while it is not known, and of
   * one that has ended. Returns at once.
   */
  rate(event: string, now: EpochMs): number | undefined;
  /** Starts the refreshes that are due. Called on a timer; never rejects. */
  tick(now: EpochMs): void;
  isReady(now: EpochMs): boolean;
}

export function createMintKnowledge(feed: MintFeed): MintKnowledge {
  const askedAt = new Map<string, EpochMs>();
  let lookedAt = Number.NEGATIVE_INFINITY;

  const refreshDue = (thing: Thing, now: EpochMs): void => {
    if (feed.refreshDue(thing, now)) void feed.tend(thing, now);
  };

  /** True once in a while, whatever the name. A clock that stepped back keeps nobody from looking. */
  const mayLook = (now: EpochMs): boolean => {
    if (Math.abs(now - lookedAt) < UNKNOWN_EVENT_LOOK_MS) return false;
    lookedAt = now;
    return true;
  };

  return {
    keys: (now) => feed.keys(now),
    newerKeys: (now) => feed.newerKeys(now),
    terms: async (event, now) => {
      await feed.whenKnown("manifest", now);
      const find = () => feed.manifest()?.events.find((each) => each.event === event);
      if (find() === undefined) {
        // A sale that was set up a moment ago. Who is asking already may have asked before it was, so that
        // another look follows.
        await feed.whenAnswered("manifest", now);
        if (find() === undefined) {
          await (mayLook(now) ? feed.refresh("manifest", now) : feed.whenAnswered("manifest", now));
        }
      }
      return feed.manifest() === undefined ? undefined : (find() ?? "no-such-event");
    },
    events: () => feed.manifest()?.events.map(({ event }) => event) ?? [],
    drip: async (event, now) => {
      askedAt.set(event, now); // only events of the manifest get here, so that this stays bounded
      const thing = dripOf(event);
      await feed.whenKnown(thing, now);
      if (feed.isStale(thing, now, DRIP_STALE_MS)) {
        await (feed.whenAnswered(thing, now) ?? feed.refresh(thing, now));
      }
      return feed.drip(event)?.claims;
    },
    isClockWrong: () => feed.clock.isWrong,
    whenClockAsked: async () => {
      const { clock } = feed;
      if (clock.isAsked) return;
      if (clock.due()) void clock.ask();
      await clock.whenAnswered();
    },
    rate: (event, now) => {
      const found = feed.manifest()?.events.find((each) => each.event === event);
      if (found === undefined || now >= found.endsAt) return undefined;
      const thing = dripOf(event);
      if (feed.isStale(thing, now, RATE_STALE_MS)) refreshDue(thing, now);
      const drip = feed.drip(event);
      // A rate that only this instance still goes by, since it reaches no mint, would have it contradict the others for ever.
      const isKnown = drip !== undefined && now - drip.askedAt <= RATE_KNOWN_MS;
      return isKnown ? highestRate(drip.claims, now) : undefined;
    },
    tick: (now) => {
      refreshDue("keys", now);
      refreshDue("manifest", now);
      for (const [event, at] of askedAt) {
        if (now - at > DRIP_ACTIVE_MS) askedAt.delete(event);
        else refreshDue(dripOf(event), now);
      }
    },
    isReady: (now) => feed.keys(now) !== undefined && feed.manifest() !== undefined,
  };
}

/** Of now, and of what a plan brings while a last call is told ahead. */
function highestRate({ rate, rates = [] }: DripClaims, now: EpochMs): number {
  return Math.max(
    rate,
    ...rates.filter(([at]) => at < now + LAST_CALL_AHEAD_MS).map(([, planned]) => planned),
  );
}
