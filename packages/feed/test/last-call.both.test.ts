/** In a last call: how old a copy may become, and what that costs a mint. */
import type { DripClaims } from "@vestibule/contracts/statements";
import { DRIP_LAST_CALL_REFRESH_MS } from "@vestibule/contracts/limits";
import { ok, refuse } from "@vestibule/kernel/result";
import { epochMs } from "@vestibule/kernel/units";
import { generateKeyPair } from "@vestibule/keys/key-pair";
import type { PublicJwk } from "@vestibule/keys/public-key";
import { importPrivateJwk, type SigningKey } from "@vestibule/keys/signing-key";
import { signDrip } from "@vestibule/token/sign";
import { beforeAll, expect, test } from "vitest";
import { sleep } from "../src/fetch-text.system.ts";
import { LAST_CALL_COPY_MS_MAX } from "../src/limits.ts";
import { createMintFeed } from "../src/mint-feed.ts";
import type { CachedText, FeedCache } from "../src/ports.ts";

const NOW = 1_800_000_000_000;
const ISSUER = "https://mint.example";
const THING = "drip:demo" as const;
const LAST_CALL = { from: NOW + 10_000, until: NOW + 40_000 };
let key: SigningKey;
let jwk: PublicJwk;
beforeAll(async () => {
  const { privateJwk } = await generateKeyPair();
  const read = await importPrivateJwk(privateJwk);
  if (!read.ok) throw new Error(read.refusal);
  ({ signingKey: key, publicJwk: jwk } = read.value);
});

/** A mint whose statement says when it was signed, and the isolates of one location, in virtual time. */
function world(more: Partial<DripClaims>) {
  let now = NOW;
  const asked: number[] = [];
  const entries = new Map<string, CachedText>();
  const cache: FeedCache = {
    get: (name) => Promise.resolve(entries.get(name)),
    put: (name, entry) => Promise.resolve(void entries.set(name, entry)),
  };
  const isolate = () =>
    createMintFeed({
      ...{ mintUrls: [ISSUER], issuer: ISSUER, skewSeconds: 5, sleep: () => sleep(0), cache },
      fetchText: async ({ url }) => {
        if (url.endsWith("jwks.json"))
          return ok({ text: JSON.stringify({ keys: [jwk] }), roundTripMs: 1 });
        if (!url.endsWith("/drip")) return refuse({ reason: "unreachable" });
        asked.push(now);
        const second = Math.floor(now / 1000);
        const text = await signDrip(key, {
          ...{ iss: ISSUER, aud: "demo", iat: second, exp: second + 3_600, at: now, seq: now },
          ...{ state: "open", segments: [], serving: 0, committed: 0, skips: [], issued: 0 },
          ...{ rate: 60, notice: "", cuts: [], endsAt: NOW + 9_999_999, ...more },
        });
        return ok({ text, roundTripMs: 1 });
      },
    });
  return {
    isolate,
    asked,
    /** Polls on all of them, about a hundred a second each, until then. @returns the oldest copy seen from a moment on. */
    pollUntil: async (end: number, feeds: readonly ReturnType<typeof isolate>[], from: number) => {
      let oldestMs = 0;
      for (; now < end; now += 10) {
        for (const feed of feeds) {
          if (Math.random() < 0.3) continue;
          if (feed.refreshDue(THING, epochMs(now))) await feed.refresh(THING, epochMs(now));
          const at = feed.drip("demo")?.claims.at ?? 0;
          if (now >= from) oldestMs = Math.max(oldestMs, now - at);
        }
      }
      return oldestMs;
    },
  };
}

test("no isolate of a location goes by a copy that is older than stated, and the mint is asked as by one isolate", async () => {
  const { isolate, asked, pollUntil } = world({ lastCall: LAST_CALL });
  const feeds = Array.from({ length: 6 }, isolate);
  await pollUntil(LAST_CALL.from, feeds, NOW);
  const before = asked.length;
  expect(before).toBeLessThanOrEqual(13);
  // With the second of the copies from before it.
  const oldestMs = await pollUntil(LAST_CALL.from + 20_000, feeds, LAST_CALL.from + 2_000);
  expect(oldestMs).toBeLessThanOrEqual(LAST_CALL_COPY_MS_MAX + 50);
  const perSecond = (asked.length - before) / 20;
  expect(perSecond).toBeLessThanOrEqual(1_000 / DRIP_LAST_CALL_REFRESH_MS + 1);
  expect(perSecond).toBeGreaterThan(3);
});

test("law 11: when it is over, sold out or paused, once a second is enough again", async () => {
  for (const more of [
    { lastCall: { from: NOW - 60_000, until: NOW } },
    { lastCall: LAST_CALL, state: "soldout" as const },
    { lastCall: LAST_CALL, state: "paused" as const, heldSince: NOW },
  ]) {
    const { isolate, asked, pollUntil } = world(more);
    await pollUntil(NOW + 20_000, [isolate()], NOW);
    expect(asked.length).toBeLessThanOrEqual(21);
  }
});
