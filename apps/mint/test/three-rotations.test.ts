/**
 * Law 7 with everything that is real but the time: a mint that rotates three times, locations that know it through
 * packages/feed, with copies of every age and clocks as far off as the tolerance allows; one rotation while every second
 * request to the mint fails.
 */
import { REVOCATION_SECONDS_MAX, SKEW_SECONDS_MAX } from "@vestibule/contracts/limits";
import { createMintFeed, type MintFeed } from "@vestibule/feed/mint-feed";
import type { CachedText, FetchText } from "@vestibule/feed/ports";
import { ok, refuse } from "@vestibule/kernel/result";
import { addMs, type EpochMs, toSeconds } from "@vestibule/kernel/units";
import type { KeyUse } from "@vestibule/keys/public-key";
import { kekOf } from "@vestibule/keys/seal";
import { generateSigningKey, type SigningKey } from "@vestibule/keys/signing-key";
import { kekVault } from "@vestibule/keys/vault";
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { signAdmission } from "@vestibule/token/sign";
import { type AdmissionOptions, verifyAdmission } from "@vestibule/token/verify-admission";
import { ticketNumber } from "@vestibule/kernel/units";
import { expect, it } from "vitest";
import { runRandomness } from "@vestibule/testkit/run-seed";
import type { MemoryStore } from "./support/memory-store.ts";
import { ISSUER, memoryWorld, type World } from "./support/world.ts";

const LIFETIME_SECONDS = 600;
const SKEW_MS = SKEW_SECONDS_MAX * 1_000;
/** `max-age` of the mint's answer: a cache before it keeps copies for that long. */
const CACHE_MS = 60_000;

interface Token {
  readonly text: string;
  readonly visitor: string;
  /** Epoch seconds. */
  readonly exp: number;
  readonly kid: string;
}

class Location {
  readonly feed: MintFeed;
  readonly offMs: number;
  readonly #askEveryMs: number;
  #askedAt = 0;

  constructor(
    fetchText: FetchText,
    {
      offMs,
      askEveryMs,
      cache,
    }: { offMs: number; askEveryMs: number; cache: Map<string, CachedText> },
  ) {
    this.offMs = offMs;
    this.#askEveryMs = askEveryMs;
    this.feed = createMintFeed({
      mintUrls: ["https://mint.example"],
      ...{ issuer: ISSUER, skewSeconds: SKEW_SECONDS_MAX, fetchText, sleep: async () => {} },
      cache: {
        get: (key) => Promise.resolve(cache.get(key)),
        put: (key, entry) => Promise.resolve(void cache.set(key, entry)),
      },
    });
  }

  /** Its traffic of this second: what is due is asked for, as a request would. */
  async live(mintNow: EpochMs): Promise<void> {
    if (mintNow - this.#askedAt < this.#askEveryMs) return;
    this.#askedAt = mintNow;
    const now = addMs(mintNow, this.offMs);
    for (const thing of ["keys", "manifest", "drip:spring"] as const)
      if (this.feed.refreshDue(thing, now)) await this.feed.refresh(thing, now);
  }

  /** As edge and purchase API do: one look at newer keys for a `kid` that is not known. */
  async accepts({ text, visitor }: Token, mintNow: EpochMs): Promise<boolean> {
    const now = addMs(mintNow, this.offMs);
    for (let refreshed = false; ; refreshed = true) {
      const keys = this.feed.keys(now);
      if (keys === undefined) return false;
      const read = await verifyAdmission(text, {
        ...{ keys, issuer: ISSUER, event: "spring", visitor, now, action: "purchase" },
        ...{ lifetimeSeconds: LIFETIME_SECONDS, skewSeconds: SKEW_SECONDS_MAX },
      } satisfies AdmissionOptions);
      if (read.ok) return true;
      if (read.refusal.reason !== "unknown-key" || refreshed) return false;
      if (!(await this.feed.newerKeys(now))) return false;
    }
  }
}

class Scene {
  readonly world: World<MemoryStore>;
  readonly random: SeededRandomness;
  readonly locations: readonly Location[];
  readonly tokens: Token[] = [];
  readonly counts = { checked: 0, refused: 0, accepted: 0 };
  /** Percent of requests to the mint that fail. */
  outage = 0;
  #n = 0;

  private constructor(world: World<MemoryStore>, random: SeededRandomness) {
    this.world = world;
    this.random = random;
    this.locations = Array.from({ length: 12 }, (_, index) => {
      const cache = new Map<string, CachedText>();
      // The first two at the ends of what is allowed, the others anywhere; some are asked seldom.
      const offMs =
        index < 2 ? (index * 2 - 1) * SKEW_MS : random.integer({ min: -SKEW_MS, max: SKEW_MS });
      const askEveryMs = index % 3 === 0 ? random.integer({ min: 5_000, max: 14_000 }) : 1_000;
      return new Location(this.#mintBehindACache(), { offMs, askEveryMs, cache });
    });
  }

  static async start(): Promise<Scene> {
    return new Scene(await memoryWorld(), runRandomness());
  }

  /** Of each location: answers of the mint, those for the keys as old as `max-age` allows. */
  #mintBehindACache(): FetchText {
    let copy: { readonly url: string; readonly text: string; readonly at: number } | undefined;
    return async ({ url }) => {
      const { world } = this;
      if (this.random.chance(this.outage)) return refuse({ reason: "unreachable" });
      const term = world.mint.leading();
      const now = world.clock.now();
      if (url.includes("jwks")) {
        if (copy?.url !== url || now - copy.at >= CACHE_MS)
          copy = { url, text: world.keeper.published?.jwks ?? "", at: now };
        return ok({ text: copy.text, roundTripMs: 1 });
      }
      const text = url.endsWith("/drip")
        ? await term.drip(world.mint.entry("spring"))
        : await term.manifest();
      return ok({ text, roundTripMs: 1 });
    };
  }

  async sign(key: SigningKey = this.world.ring.signing.admission): Promise<Token> {
    const { clock, tokens } = this.world;
    const visitor = Buffer.from(this.random.bytes(32)).toString("base64url");
    const now = clock.now();
    this.#n += 1;
    const text = await signAdmission(key, {
      ...{ issuer: ISSUER, event: "spring", sub: tokens.subOf(visitor).text, action: "purchase" },
      ...{ number: ticketNumber(this.#n), iat: toSeconds(now), opensAt: now },
      lifetimeSeconds: LIFETIME_SECONDS,
    });
    return { text, visitor, exp: toSeconds(now) + LIFETIME_SECONDS, kid: key.kid };
  }

  async second(): Promise<void> {
    const { world } = this;
    world.clock.advance(1_000);
    await world.keeper.tick(world.leading);
    await Promise.all(this.locations.map((location) => location.live(world.clock.now())));
    // By a clock that is ahead it was signed in the future at most as much as is tolerated.
    this.tokens.push(await this.sign());
  }

  /** Some of the tokens at every location, all at once: the oldest, the newest, and any. */
  async verify(sample: number): Promise<void> {
    const now = this.world.clock.now();
    const any = Array.from({ length: sample }, () => this.random.pick(this.tokens));
    const shown = [this.tokens.at(0), this.tokens.at(-1), ...any].filter(
      (token) => token !== undefined,
    );
    const checks = this.locations.flatMap((location) =>
      shown.map(async (token) => {
        const clock = toSeconds(addMs(now, location.offMs));
        const isValid = clock < token.exp + SKEW_SECONDS_MAX;
        const accepted = await location.accepts(token, now);
        this.counts.checked += 1;
        if (isValid && !accepted) this.counts.refused += 1;
        if (!isValid && accepted) this.counts.accepted += 1;
      }),
    );
    await Promise.all(checks);
    const over = toSeconds(now) - SKEW_SECONDS_MAX * 2 - 5;
    while (this.tokens[0] !== undefined && this.tokens[0].exp < over) this.tokens.shift();
  }

  async rotate(use: KeyUse): Promise<void> {
    const { keeper, leading } = this.world;
    const staged = keeper.stored.keys.find((key) => key.use === use && key.state === "staged");
    await keeper.command(leading, { do: "promote", kid: staged?.kid ?? "" }, { actor: "test" });
  }
}

it("law 7: three rotations in a row refuse no valid token and accept no other, at any cache age and clock", async () => {
  const scene = await Scene.start();
  const { world, counts } = scene;
  const stranger = await generateSigningKey(kekVault({ kek: kekOf(new Uint8Array(32)) }));
  let rotations = 0;
  let forgedAccepted = 0;
  for (let second = 0; rotations < 3 || second % 300 !== 0; second += 1) {
    await scene.second();
    scene.outage = rotations === 1 ? 50 : 0;
    if (second > 0 && second % 300 === 280) {
      await scene.rotate("admission");
      await scene.rotate("line");
      rotations += 1;
    }
    if (second % 2 === 0) await scene.verify(3);
    if (second % 50 !== 0) continue;
    for (const key of [stranger.signingKey, world.ring.signing.line]) {
      const forged = await scene.sign(key);
      for (const location of scene.locations)
        if (await location.accepts(forged, world.clock.now())) forgedAccepted += 1;
    }
  }
  // Until the last token of the first key is over everywhere.
  for (let second = 0; second < LIFETIME_SECONDS + 3 * SKEW_SECONDS_MAX; second += 1) {
    await scene.second();
    if (second % 10 === 0) await scene.verify(5);
  }
  expect({ ...counts, checked: counts.checked > 20_000, forgedAccepted }).toEqual({
    ...{ checked: true, refused: 0, accepted: 0, forgedAccepted: 0 },
  });
});

it("a revoked key is refused everywhere within the stated time, however warm a location is", async () => {
  const scene = await Scene.start();
  const { world } = scene;
  for (let second = 0; second < 30; second += 1) await scene.second();
  const token = scene.tokens.at(-1);
  if (token === undefined) throw new Error("nothing was signed");
  const now = () => world.clock.now();
  for (const location of scene.locations) expect(await location.accepts(token, now())).toBe(true);
  await world.keeper.command(world.leading, { do: "revoke", kid: token.kid }, { actor: "test" });
  let lastSeen = 0;
  for (let second = 1; second <= REVOCATION_SECONDS_MAX; second += 1) {
    await scene.second();
    for (const location of scene.locations)
      if (await location.accepts(token, now())) lastSeen = second;
  }
  // Locations that are asked every second hear of it within one refresh of the drip.
  expect(lastSeen).toBeLessThan(REVOCATION_SECONDS_MAX);
  const fresh = await scene.sign();
  for (const location of scene.locations) expect(await location.accepts(fresh, now())).toBe(true);
});

it("canary: the scene sees a refusal when a key signs before it is known, and an acceptance of a token that is over", async () => {
  const scene = await Scene.start();
  for (let second = 0; second < 20; second += 1) await scene.second();
  scene.outage = 100;
  const { keeper, leading } = scene.world;
  await keeper.command(leading, { do: "stage", use: "admission" }, { actor: "test" });
  const staged = keeper.stored.keys.findLast(
    ({ use, state }) => use === "admission" && state === "staged",
  );
  const force = { do: "promote", kid: staged?.kid ?? "", force: true } as const;
  await keeper.command(leading, force, { actor: "test", force: true, reason: "canary" });
  await scene.second();
  await scene.verify(1);
  expect(scene.counts.refused).toBeGreaterThan(0);
  scene.tokens.push({ ...(await scene.sign()), exp: 0 });
  scene.outage = 0;
  for (let second = 0; second < 30; second += 1) await scene.second();
  scene.tokens.unshift({ ...(await scene.sign()), exp: 0 });
  await scene.verify(1);
  expect(scene.counts.accepted).toBeGreaterThan(0);
});
