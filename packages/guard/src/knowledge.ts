/** What the guard knows of the mint. Refreshed by requests: nothing here needs a timer to go on. */
import type { DripClaims, ManifestEvent } from "@vestibule/contracts/statements";
import { DRIP_ACTIVE_MS, DRIP_STALE_MS, MANIFEST_STALE_MS } from "@vestibule/feed/limits";
import type { MintFeed } from "@vestibule/feed/mint-feed";
import { type Thing, dripOf } from "@vestibule/feed/thing";
import type { EpochMs } from "@vestibule/kernel/units";
import type { KeySet } from "@vestibule/keys/key-set";
import { KEYS_STALE_MS } from "./limits.ts";

/** One request's view: one reading of the clock, and where its refreshes may go on. */
export interface Asking {
  readonly now: EpochMs;
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

export interface Knowledge {
  /** `undefined`: none are known, or they are too old to be relied on. */
  keys(asking: Asking): Promise<KeySet | undefined>;
  /** The same without asking. */
  keysNow(asking: Asking): KeySet | undefined;
  /** After an unknown `kid`: asks at most once per cool-down, or waits for whoever is asking. */
  newerKeys(asking: Asking): Promise<KeySet | undefined>;
  /** `undefined`: no manifest is known. `"unknown-event"`: it is known and does not list `event`. */
  terms(event: string, asking: Asking): Promise<ManifestEvent | "unknown-event" | undefined>;
  /** The last good statement, also when it has run out: a hold stays in force. Only for listed events. */
  drip(event: string, asking: Asking): Promise<DripClaims | undefined>;
  /** Starts what is due. Never rejects. */
  tick(now: EpochMs): void;
  isReady(now: EpochMs): boolean;
}

/** @param events those that are asked for in the background from the start; others once they were asked for */
export function createKnowledge(feed: MintFeed, events: readonly string[]): Knowledge {
  const askedAt = new Map<string, EpochMs>();

  /** Waits only for what is unknown or stale, within the feed's own bounds. */
  const freshen = async (thing: Thing, staleMs: number, asking: Asking): Promise<void> => {
    const { now, waitUntil } = asking;
    await feed.whenKnown(thing, now);
    if (feed.isStale(thing, now, staleMs)) {
      await (feed.whenAnswered(thing, now) ?? feed.refresh(thing, now));
    } else if (feed.refreshDue(thing, now)) {
      const refreshing = feed.refresh(thing, now);
      waitUntil?.(refreshing);
    }
  };
  const find = (event: string) => feed.manifest()?.events.find((each) => each.event === event);

  return {
    async keys(asking) {
      await freshen("keys", KEYS_STALE_MS, asking);
      return feed.keys(asking.now);
    },

    keysNow: ({ now }) => feed.keys(now),

    async newerKeys({ now }) {
      await feed.newerKeys(now);
      return feed.keys(now);
    },

    async terms(event, asking) {
      const { now } = asking;
      await freshen("manifest", MANIFEST_STALE_MS, asking);
      if (find(event) === undefined) {
        // A sale that was set up a moment ago: look again, within the feed's own schedule.
        if (feed.refreshDue("manifest", now)) await feed.refresh("manifest", now);
        else await feed.whenAnswered("manifest", now);
      }
      return feed.manifest() === undefined ? undefined : (find(event) ?? "unknown-event");
    },

    async drip(event, asking) {
      askedAt.set(event, asking.now); // only events of the manifest get here, so that this stays bounded
      await freshen(dripOf(event), DRIP_STALE_MS, asking);
      return feed.drip(event)?.claims;
    },

    tick(now) {
      const start = (thing: Thing): void => {
        if (feed.refreshDue(thing, now)) void feed.refresh(thing, now);
      };
      start("keys");
      start("manifest");
      for (const [event, at] of askedAt) {
        if (now - at > DRIP_ACTIVE_MS) askedAt.delete(event);
      }
      for (const event of new Set([...events, ...askedAt.keys()])) {
        if (find(event) !== undefined) start(dripOf(event));
      }
    },

    isReady: (now) => feed.keys(now) !== undefined && feed.manifest() !== undefined,
  };
}
