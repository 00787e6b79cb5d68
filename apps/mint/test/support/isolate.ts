/** One isolate of a location, as far as keys and admissions go: what the edge and the purchase API do with a feed. */
import { JWKS_REFRESH_MS } from "@vestibule/contracts/limits";
import { DRIP_STALE_MS, MANIFEST_STALE_MS } from "@vestibule/feed/limits";
import { createMintFeed, type MintFeed } from "@vestibule/feed/mint-feed";
import type { FeedCache, FetchText } from "@vestibule/feed/ports";
import type { Thing } from "@vestibule/feed/thing";
import { addMs, type EpochMs } from "@vestibule/kernel/units";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import type { Wander } from "./wandering-clock.ts";
import { ISSUER } from "./world.ts";

export const LIFETIME_SECONDS = 600;

/** As old as the edge lets keys become in a location that was left alone. */
const KEYS_STALE_MS = 1.25 * JWKS_REFRESH_MS;
const THINGS: readonly (readonly [Thing, number])[] = [
  ["keys", KEYS_STALE_MS],
  ["manifest", MANIFEST_STALE_MS],
  ["drip:spring", DRIP_STALE_MS],
];
/** Refused for these, no signature was looked at. */
const BEFORE_SIGNATURE: ReadonlySet<string> = new Set([
  ...["malformed", "forbidden-header", "wrong-algorithm", "wrong-type", "unknown-key", "key-over"],
]);

export interface Shown {
  readonly text: string;
  readonly visitor: string;
}

export interface Verdict {
  readonly accepted: boolean;
  /** Signatures that were checked for it. */
  readonly signatures: number;
  /** Why not. */
  readonly reason: string;
}

export interface IsolateOptions {
  readonly name: string;
  readonly mintUrls: readonly string[];
  readonly fetchText: FetchText;
  readonly cache: FeedCache;
  readonly skewSeconds: number;
  readonly wander: Wander;
  /** Somebody comes so often. */
  readonly everyMs: number;
}

export class Isolate {
  readonly name: string;
  readonly skewSeconds: number;
  readonly everyMs: number;
  readonly feed: MintFeed;
  readonly #options: IsolateOptions;
  readonly #startedAt: EpochMs;
  #background: Promise<unknown>[] = [];
  #visitedAt = 0;

  constructor(options: IsolateOptions, startedAt: EpochMs) {
    this.#options = options;
    this.#startedAt = startedAt;
    this.name = options.name;
    this.skewSeconds = options.skewSeconds;
    this.everyMs = options.everyMs;
    const { mintUrls, skewSeconds, fetchText, cache } = options;
    this.feed = createMintFeed({
      ...{ mintUrls, issuer: ISSUER, skewSeconds, fetchText, cache },
      // The others go on: an answer is a matter of moments here.
      sleep: () => new Promise((resolve) => void setTimeout(resolve, 1)),
    });
  }

  /** Its own clock, when it really is `at`. */
  clock(at: EpochMs): EpochMs {
    return addMs(at, this.#options.wander(at - this.#startedAt));
  }

  /** Whether somebody comes now. */
  isVisited(at: EpochMs): boolean {
    return at - this.#visitedAt >= this.everyMs;
  }

  /** What every request begins with: what is due is asked for meanwhile, what is stale is waited for. */
  async visit(at: EpochMs): Promise<void> {
    this.#visitedAt = at;
    const now = this.clock(at);
    const { feed } = this;
    const waits = THINGS.map(([thing, staleMs]) => {
      if (feed.refreshDue(thing, now)) this.#background.push(feed.refresh(thing, now));
      return feed.isStale(thing, now, staleMs) ? feed.whenAnswered(thing, now) : undefined;
    });
    await Promise.all(waits.filter((wait) => wait !== undefined));
  }

  /** Until nothing is asked for any more. */
  async settle(): Promise<void> {
    const background = this.#background;
    this.#background = [];
    await Promise.all(background);
  }

  /** One look at newer keys for a `kid` that is not known, as everywhere. Nothing is remembered. */
  async check({ text, visitor }: Shown, at: EpochMs): Promise<Verdict> {
    const now = this.clock(at);
    const { skewSeconds } = this;
    for (let refreshed = false; ; refreshed = true) {
      const keys = this.feed.keys(now);
      if (keys === undefined) return { accepted: false, signatures: 0, reason: "no-keys" };
      const read = await verifyAdmission(text, {
        ...{ keys, issuer: ISSUER, event: "spring", visitor, now, action: "purchase" },
        ...{ lifetimeSeconds: LIFETIME_SECONDS, skewSeconds },
      });
      if (read.ok) return { accepted: true, signatures: 1, reason: "" };
      const { reason } = read.refusal;
      const signatures = BEFORE_SIGNATURE.has(reason) ? 0 : 1;
      const refused = { accepted: false, signatures, reason };
      if (reason !== "unknown-key" || refreshed) return refused;
      if (!(await this.feed.newerKeys(now))) return refused;
    }
  }
}
