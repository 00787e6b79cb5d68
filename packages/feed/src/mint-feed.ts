/**
 * What a location knows of the mint: keys, manifest, drips. Fetched from a list of mints tried in
 * order, verified, and kept as values. What is known is only ever replaced by something newer that
 * verified; an empty, cut-off, oversize, slow or redirected answer changes nothing (KR-05).
 */
import { JWKS_COOLDOWN_MS } from "@vestibule/contracts/limits";
import type { DripClaims, ManifestClaims } from "@vestibule/contracts/statements";
import { assert } from "@vestibule/kernel/assert";
import { type EpochMs, epochMs } from "@vestibule/kernel/units";
import type { KeySet } from "@vestibule/keys/key-set";
import { verifyDrip } from "@vestibule/token/verify-drip";
import { verifyManifest } from "@vestibule/token/verify-manifest";
import { againMs } from "./again.ts";
import { type ClockWatch, type StartClockWatch, unwatched } from "./clock-watch.ts";
import { KnownKeys } from "./known-keys.ts";
import { isNewerStatement } from "./newer.ts";
import {
  CLOCK_LAG_MS,
  FIRST_WAIT_MS,
  FIRST_WAIT_STEP_MS,
  KEYS_BEHIND_EVERY_MS,
  MINT_DEADLINE_MS,
  MINT_URLS_MAX,
  REFRESH_SLACK_MS,
} from "./limits.ts";
import { type MintOrder, createMintOrder } from "./mint-order.ts";
import type { CachedText, FeedAlarm, FeedCache, FetchText, Sleep } from "./ports.ts";
import { withSameEvents } from "./same-events.ts";
import { type Schedule, createSchedule } from "./schedule.ts";
import { type Thing, type ThingPlan, dripOf, eventOf, planOf } from "./thing.ts";

export interface FeedOptions {
  /** Base addresses, the preferred one first. */
  readonly mintUrls: readonly string[];
  /** The `iss` that every statement must carry. */
  readonly issuer: string;
  readonly skewSeconds: number;
  /** The keys deployed with the location: in force until a mint's own were fetched once. */
  readonly bootKeys?: KeySet | undefined;
  readonly fetchText: FetchText;
  readonly sleep: Sleep;
  readonly cache?: FeedCache;
  /** Watches the own clock; without it that is believed. */
  readonly watch?: StartClockWatch;
  readonly alarm?: (alarm: FeedAlarm) => void;
}

/** A drip statement as it was received. Its identity changes exactly when its content does. */
export interface KnownDrip {
  readonly claims: DripClaims;
  /** When it was asked for, by the clock of the location. */
  readonly askedAt: EpochMs;
  /** With `claims.at` this bounds the offset from the mint's clock; `undefined` from the cache. */
  readonly roundTripMs: number | undefined;
}

/** `fresh`: a mint (or the cache) answered with something good; `kept`: nothing better was found. */
export type RefreshOutcome = "fresh" | "kept" | "busy";

export interface MintFeed {
  /** `undefined` when none are known, or when they are older than they may be relied on. */
  keys(now: EpochMs): KeySet | undefined;
  /** The last good one. It routes: an outage must not open or close a path. */
  manifest(): ManifestClaims | undefined;
  /** The last good one of `event`. Whether it has run out (`claims.exp`) is for the caller to say. */
  drip(event: string): KnownDrip | undefined;
  /** True when it is time to ask again and nobody is asking. Cheap enough for every request. */
  refreshDue(thing: Thing, now: EpochMs): boolean;
  /**
   * True when nobody asked for longer than `staleMs`: what is known may be long out of date, and is
   * asked for before it decides. Never true of a location that keeps asking, in vain or not.
   */
  isStale(thing: Thing, now: EpochMs, staleMs: number): boolean;
  /**
   * Asks now, unless somebody is asking. Never rejects. Meant for `ctx.waitUntil`. When it is due, what
   * another isolate was told a moment ago will do; whoever asks earlier wants news, and a mint is asked.
   */
  refresh(thing: Thing, now: EpochMs): Promise<RefreshOutcome>;
  /** The same, and whatever else is due by then: the question for the time. For the background; never rejects. */
  tend(thing: Thing, now: EpochMs): Promise<void>;
  /**
   * While somebody is asking: a promise for the end of that, or of `FIRST_WAIT_MS`. By looking, never by
   * sharing a promise between requests. `undefined` when nobody is.
   */
  whenAnswered(thing: Thing, now: EpochMs): Promise<void> | undefined;
  /**
   * Returns at once when `thing` is known or was just looked for in vain; else refreshes, or waits for
   * the refresh of somebody else, for at most `FIRST_WAIT_MS`. True when it is known afterwards.
   */
  whenKnown(thing: Thing, now: EpochMs): Promise<boolean>;
  /**
   * For a `kid` that is not known: asks for the keys, at most once per cool-down (KR-01), or waits for
   * whoever is asking, for at most `FIRST_WAIT_MS`. Everybody else is told at once.
   *
   * @returns whether it is worth looking at the keys again.
   */
  newerKeys(now: EpochMs): Promise<boolean>;
  /** The own clock against the mint's. */
  readonly clock: ClockWatch;
  /** A manifest is known, and how the own clock is, or that nobody can tell. */
  readonly isLearnt: boolean;
  /** Also the order in which joins and claims try the mints. */
  readonly mints: MintOrder;
  health(now: EpochMs): FeedHealth;
}

export interface FeedHealth {
  readonly keyIds: readonly string[];
  readonly keysAgeMs: number | null;
  readonly manifestSeq: number | null;
  readonly drips: Readonly<Record<string, { seq: number; ageMs: number; expired: boolean }>>;
}

/** @throws AssertionError when `mintUrls` is empty or too long. */
export function createMintFeed(options: FeedOptions): MintFeed {
  assert(options.mintUrls.length >= 1, "a location needs the address of a mint");
  assert(options.mintUrls.length <= MINT_URLS_MAX, "a location has a bounded list of mints");
  return new Feed(options);
}

type Adoption = "adopted" | "same" | "unknown-key" | (string & {});

/** Refused for its time: by a clock that is wrong, maybe. */
const BY_TIME: ReadonlySet<Adoption> = new Set(["issued-in-future", "over", "key-over"]);

class Feed implements MintFeed {
  readonly mints: MintOrder;
  readonly clock: ClockWatch;
  readonly #options: FeedOptions;
  readonly #keys: KnownKeys;
  #manifest: ManifestClaims | undefined;
  readonly #drips = new Map<string, KnownDrip>();
  readonly #schedules = new Map<Thing, Schedule>();
  #askedForKeyAt = Number.NEGATIVE_INFINITY;
  #askedForSeqAt = Number.NEGATIVE_INFINITY;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.mints = createMintOrder(options.mintUrls.map((url) => url.replace(/\/+$/, "")));
    this.#keys = new KnownKeys(options.bootKeys);
    this.clock = options.watch?.({ feed: this, known: this.#keys, options }) ?? unwatched;
  }

  get isLearnt(): boolean {
    return this.#manifest !== undefined && this.clock.isAsked;
  }

  keys(now: EpochMs): KeySet | undefined {
    return this.#keys.inForce(now);
  }

  manifest(): ManifestClaims | undefined {
    return this.#manifest;
  }

  drip(event: string): KnownDrip | undefined {
    return this.#drips.get(event);
  }

  refreshDue(thing: Thing, now: EpochMs): boolean {
    return this.#schedules.get(thing)?.due(now) ?? true;
  }

  isStale(thing: Thing, now: EpochMs, staleMs: number): boolean {
    return this.#schedules.get(thing)?.isStale(now, staleMs) ?? true;
  }

  async newerKeys(now: EpochMs): Promise<boolean> {
    const mayAsk = Math.abs(now - this.#askedForKeyAt) >= JWKS_COOLDOWN_MS;
    if (mayAsk) {
      this.#askedForKeyAt = now;
      if ((await this.refresh("keys", now)) !== "busy") return true;
    }
    const underWay = this.whenAnswered("keys", now);
    await underWay;
    return underWay !== undefined;
  }

  async refresh(thing: Thing, now: EpochMs): Promise<RefreshOutcome> {
    const schedule = this.#scheduleOf(thing);
    const early = !schedule.due(now);
    if (!schedule.begin(now)) return "busy";
    let [cached, fresh] = [false, false];
    try {
      const needsKeys = thing !== "keys" && this.keys(now) === undefined;
      if (needsKeys) await this.whenKnown("keys", now);
      cached = !early && (await this.#fromCache(thing, now));
      fresh = cached || (await this.#fromMints(thing, now));
      if (thing !== "keys") await this.#catchUpWithKeys(now);
    } catch (error) {
      this.#alarm(thing, "", error instanceof Error ? error.name : "unknown");
    } finally {
      schedule.end(now, fresh, againMs(thing, this.#drips, { now, cached }));
    }
    return fresh ? "fresh" : "kept";
  }

  async tend(thing: Thing, now: EpochMs): Promise<void> {
    const { clock } = this;
    const asking = clock.due() ? clock.ask() : undefined;
    await this.refresh(thing, now);
    await asking;
    // It may have found a reason to.
    if (clock.due()) await clock.ask();
  }

  /**
   * A statement told of a newer key set: a key may have been revoked. It is asked for at once, within the refresh
   * that heard of it, so that whoever waits for that waits for the keys too.
   */
  async #catchUpWithKeys(now: EpochMs): Promise<void> {
    if (!this.#keys.isBehind()) return;
    if (Math.abs(now - this.#askedForSeqAt) < KEYS_BEHIND_EVERY_MS) return;
    this.#askedForSeqAt = now;
    if ((await this.refresh("keys", now)) === "busy") await this.whenAnswered("keys", now);
  }

  async whenKnown(thing: Thing, now: EpochMs): Promise<boolean> {
    if (this.#knows(thing)) return true;
    if (this.refreshDue(thing, now)) await this.refresh(thing, now);
    await this.#look(thing, now, () => this.#knows(thing));
    return this.#knows(thing);
  }

  whenAnswered(thing: Thing, now: EpochMs): Promise<void> | undefined {
    if (this.#schedules.get(thing)?.underWay(now) !== true) return undefined;
    return this.#look(thing, now, () => false);
  }

  /** Until it is done or no refresh is under way, for at most `FIRST_WAIT_MS`. */
  async #look(thing: Thing, now: EpochMs, isDone: () => boolean): Promise<void> {
    const schedule = this.#scheduleOf(thing);
    for (let waitedMs = 0; waitedMs < FIRST_WAIT_MS; waitedMs += FIRST_WAIT_STEP_MS) {
      if (isDone() || !schedule.underWay(epochMs(now + waitedMs))) return;
      await this.#options.sleep(FIRST_WAIT_STEP_MS);
    }
  }

  health(now: EpochMs): FeedHealth {
    const drips: Record<string, { seq: number; ageMs: number; expired: boolean }> = {};
    for (const [event, { claims, askedAt }] of this.#drips) {
      const expired = now >= (claims.exp + this.#options.skewSeconds) * 1000;
      drips[event] = { seq: claims.seq, ageMs: now - askedAt, expired };
    }
    return {
      keyIds: [...(this.keys(now)?.keys() ?? [])],
      keysAgeMs: this.#keys.ageMs(now),
      manifestSeq: this.#manifest?.seq ?? null,
      drips,
    };
  }

  #knows(thing: Thing): boolean {
    if (thing === "keys") return this.#keys.isFetched;
    if (thing === "manifest") return this.#manifest !== undefined;
    return this.#drips.has(thing.slice(5));
  }

  #scheduleOf(thing: Thing): Schedule {
    let schedule = this.#schedules.get(thing);
    if (schedule === undefined) {
      const deadMs = MINT_DEADLINE_MS * this.#options.mintUrls.length + REFRESH_SLACK_MS;
      schedule = createSchedule({ refreshMs: planOf(thing).refreshMs, deadMs });
      this.#schedules.set(thing, schedule);
    }
    return schedule;
  }

  /** True when another isolate of this location asked a moment ago: then no mint needs to be asked. */
  async #fromCache(thing: Thing, now: EpochMs): Promise<boolean> {
    const entry = await this.#options.cache?.get(thing);
    if (entry === undefined || entry.fetchedAt > now) return false;
    const adoption = await this.#adopt(thing, entry, { now, roundTripMs: undefined });
    const behind = thing === "keys" && this.#keys.isBehind();
    const recent = !behind && now - entry.fetchedAt < againMs(thing, this.#drips, { now });
    // An older copy is still worth having when the mint cannot be reached, so it is adopted as well.
    return recent && (adoption === "adopted" || adoption === "same");
  }

  async #fromMints(thing: Thing, now: EpochMs): Promise<boolean> {
    const plan = planOf(thing);
    let answered = false;
    for (const base of this.mints.urls(now)) {
      answered = (await this.#fromMint({ thing, plan, base }, now)) || answered;
      // A standby may not have read the newest keys yet; another mint has them.
      const isEnough = thing !== "keys" || !this.#keys.isBehind();
      if (answered && isEnough) return true;
    }
    return answered;
  }

  async #fromMint(
    { thing, plan, base }: { thing: Thing; plan: ThingPlan; base: string },
    now: EpochMs,
  ): Promise<boolean> {
    const { accept, bytesMax } = plan;
    // By its number no cache before the mint answers with an older set.
    const asked = thing === "keys" && this.#keys.isBehind() ? `?seq=${this.#keys.seqTold}` : "";
    const url = base + plan.path + asked;
    const deadlineMs = MINT_DEADLINE_MS;
    const answer = await this.#options.fetchText({ url, accept, bytesMax, deadlineMs });
    if (!answer.ok) {
      const { refusal } = answer; // "No such event" is the answer of one that is well.
      const well = refusal.reason === "status" && refusal.status < 500;
      if (!well) this.mints.failed(base, now);
      this.#alarm(thing, url, refusal.reason);
      return false;
    }
    this.mints.worked(base);
    const { text, roundTripMs } = answer.value;
    let fetchedAt = now;
    const adopt = () => this.#adopt(thing, { text, fetchedAt }, { now: fetchedAt, roundTripMs });
    let adoption = await adopt();
    if (adoption === "unknown-key" && (await this.newerKeys(now))) adoption = await adopt();
    const time = BY_TIME.has(adoption) ? await this.#timeOfMint() : undefined;
    if (time !== undefined) {
      fetchedAt = time;
      adoption = await adopt();
    }
    if (adoption !== "adopted" && adoption !== "same") {
      this.#alarm(thing, url, adoption);
      return false;
    }
    await this.#options.cache?.put(thing, { text, fetchedAt });
    return true;
  }

  /** When the own clock is surely wrong: asked, if that was not done a moment ago. */
  async #timeOfMint(): Promise<EpochMs | undefined> {
    const { clock } = this;
    clock.askSoon();
    await (clock.due() ? clock.ask() : clock.whenAnswered());
    const time = clock.isWrong ? clock.time?.now() : undefined;
    // By another time they may look too old.
    if (time !== undefined && this.keys(time) === undefined) await this.refresh("keys", time);
    return time;
  }

  async #adopt(
    thing: Thing,
    entry: CachedText,
    at: { now: EpochMs; roundTripMs: number | undefined },
  ): Promise<Adoption> {
    if (thing === "keys") {
      const before = this.#keys.seq;
      const adoption = await this.#keys.adopt(entry);
      // The mint is told how far a rotation has come.
      if (this.#keys.seq !== before) this.clock.askSoon();
      return adoption;
    }
    const keys = this.keys(at.now);
    if (keys === undefined) return "unknown-key";
    const { issuer, skewSeconds } = this.#options;
    const event = eventOf(thing);
    const text = entry.text.trim();
    if (event === undefined) {
      const read = await verifyManifest(text, { keys, issuer, now: at.now, skewSeconds });
      if (!read.ok) return read.refusal.reason;
      this.#keys.tell(read.value.keysSeq);
      return this.#adoptManifest(read.value);
    }
    const read = await verifyDrip(text, { keys, issuer, event, now: at.now, skewSeconds });
    if (!read.ok) return read.refusal.reason;
    this.#keys.tell(read.value.keysSeq);
    // Older than a cache on the way makes it, or the own clock is ahead.
    const lagMs = at.roundTripMs === undefined ? 0 : at.now + at.roundTripMs - read.value.at;
    if (lagMs > skewSeconds * 1000 + CLOCK_LAG_MS) this.clock.askSoon();
    const known = this.#drips.get(event);
    if (known !== undefined && !isNewerStatement(read.value, known.claims)) {
      return read.value.seq === known.claims.seq ? "same" : "older";
    }
    // The next leader's clock may be behind the last one's: a newer statement can know a lower number. Nobody is shown it (law 2).
    const serving = Math.max(read.value.serving, known?.claims.serving ?? 0);
    this.#drips.set(event, {
      claims: { ...read.value, serving },
      askedAt: entry.fetchedAt,
      roundTripMs: at.roundTripMs,
    });
    return "adopted";
  }

  #adoptManifest(next: ManifestClaims): Adoption {
    if (this.#manifest !== undefined && !isNewerStatement(next, this.#manifest)) {
      return next.seq === this.#manifest.seq ? "same" : "older";
    }
    this.#manifest = withSameEvents(next, this.#manifest);
    // What is in no manifest any more is forgotten, so that the memory stays bounded by it.
    const events = new Set(next.events.map(({ event }) => event));
    for (const event of this.#drips.keys()) {
      if (events.has(event)) continue;
      this.#drips.delete(event);
      this.#schedules.delete(dripOf(event));
    }
    return "adopted";
  }

  #alarm(thing: Thing, url: string, reason: string): void {
    this.#options.alarm?.({ thing, url, reason });
  }
}
