/**
 * How long an admission of a revoked key still buys: never longer than `REVOCATION_SECONDS_MAX` from the answer to
 * `revoke`, however warm this process is, however seldom it is asked, and whatever a cache before the mint holds.
 */
import { REVOCATION_SECONDS_MAX } from "@vestibule/contracts/limits";
import type { DripClaims } from "@vestibule/contracts/statements";
import { sleep } from "@vestibule/feed/fetch-text.system";
import { KEYS_TRUST_MS } from "@vestibule/feed/limits";
import { createMintFeed } from "@vestibule/feed/mint-feed";
import type { FetchText } from "@vestibule/feed/ports";
import { ok, refuse } from "@vestibule/kernel/result";
import { ticketNumber, toSeconds } from "@vestibule/kernel/units";
import type { SigningKey } from "@vestibule/keys/signing-key";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { signAdmission, signDrip, signManifest } from "@vestibule/token/sign";
import { hashVisitor } from "@vestibule/token/visitor";
import { beforeEach, describe, expect, test } from "vitest";
import { FEED_TICK_MS } from "../src/limits.ts";
import { createMintKnowledge, type MintKnowledge } from "../src/mint-knowledge.ts";
import { atTheDoor, codeOf } from "./door.ts";
import { EVENT, eventOf, ISSUER, newSigningKey } from "./purchase-world.ts";

const BOUND_MS = REVOCATION_SECONDS_MAX * 1_000;
/** `max-age` of the key set: a cache before the mint keeps it for so long. */
const CACHE_MS = 60_000;
const LIFETIME_SECONDS = 86_400;
const VISITOR = "dmlzaXRvci1zZWNyZXQtb2YtMzItYnl0ZXMtaGVyZSE";

let clock: FakeClock;
let keys: { line: Pair; admission: Pair; next: Pair };
let isRevoked: boolean;
let isAway: boolean;
let mint: MintKnowledge;
let admission: string;
/** Refreshes of which nobody waits for the end. */
const started: Promise<unknown>[] = [];
type Pair = Awaited<ReturnType<typeof newSigningKey>>;

beforeEach(async () => {
  clock = new FakeClock();
  [isRevoked, isAway] = [false, false];
  const [line, one, next] = [await newSigningKey(), await newSigningKey(), await newSigningKey()];
  keys = { line, admission: one, next };
  const options = { mintUrls: ["https://mint.test"], issuer: ISSUER, skewSeconds: 5 };
  const feed = createMintFeed({ ...options, sleep, fetchText: behindACache(publish) });
  const refresh = feed.refresh.bind(feed);
  feed.refresh = (thing, now) => {
    const refreshing = refresh(thing, now);
    started.push(refreshing);
    return refreshing;
  };
  mint = createMintKnowledge(feed);
  admission = await passOf(one.signingKey);
});

function passOf(key: SigningKey): Promise<string> {
  return signAdmission(key, {
    ...{ issuer: ISSUER, event: EVENT, sub: hashVisitor(VISITOR), action: "purchase" },
    ...{ number: ticketNumber(7), iat: toSeconds(clock.now()), opensAt: clock.now() },
    lifetimeSeconds: LIFETIME_SECONDS,
  });
}

let seq = 0;
const publish: FetchText = async ({ url }) => {
  if (isAway) return refuse({ reason: "unreachable" });
  const { line, admission: one, next } = keys;
  const answer = (text: string) => ok({ text, roundTripMs: 1 });
  const keysSeq = isRevoked ? 2 : 1;
  if (url.includes("/jwks.json")) {
    const published = isRevoked ? [line, next] : [line, one, next];
    const set = { seq: keysSeq, keys: published.map(({ publicJwk }) => publicJwk) };
    return answer(JSON.stringify(set));
  }
  seq += 1;
  const iat = toSeconds(clock.now());
  const common = { iss: ISSUER, iat, exp: iat + 3_600, seq, keysSeq };
  if (url.endsWith("/v1/manifest")) {
    const events = [{ ...eventOf(EVENT), lifetimeSeconds: LIFETIME_SECONDS }];
    return answer(await signManifest(line.signingKey, { ...common, events }));
  }
  const drip: Omit<DripClaims, keyof typeof common> = {
    ...{ aud: EVENT, at: clock.now(), state: "open", segments: [], serving: 9, committed: 9 },
    ...{ skips: [], issued: 9, rate: 60, notice: "", cuts: [], endsAt: 253_402_300_000_000 },
  };
  return answer(await signDrip(line.signingKey, { ...common, ...drip }));
};

/** A copy of each address of the key set, as old as it may be. */
function behindACache(fetchText: FetchText): FetchText {
  const copies = new Map<string, { readonly answer: Awaited<ReturnType<FetchText>>; at: number }>();
  return async (request) => {
    const copy = copies.get(request.url);
    if (copy !== undefined && clock.now() - copy.at < CACHE_MS) return copy.answer;
    const answer = await fetchText(request);
    if (request.url.includes("/jwks.json") && answer.ok)
      copies.set(request.url, { answer, at: clock.now() });
    return answer;
  };
}

function ask(text: string = admission): Promise<string> {
  return codeOf(atTheDoor({ admission: text, visitor: VISITOR, now: clock.now() }, { mint }));
}

/** The process lives on: its timer ticks, and what a tick asked for is here before the next. */
async function live(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= FEED_TICK_MS) {
    clock.advance(Math.min(left, FEED_TICK_MS));
    mint.tick(clock.now());
    await Promise.all(started.splice(0));
  }
}

/** Asks at this pace, for so long; when it passed last. */
async function buy({ everyMs, forMs }: { everyMs: number; forMs: number }): Promise<number> {
  let passed = Number.NEGATIVE_INFINITY;
  for (const end = clock.now() + forMs; clock.now() < end; await live(everyMs))
    if ((await ask()) === "good") passed = clock.now();
  return passed;
}

describe.each([
  ["ten times a second", 100],
  ["every 3 s", 3_000],
  ["every 7 s", 7_000],
  ["every 21 s", 21_000],
  ["once an hour", 3_600_000],
] as const)("a purchase API that is asked %s", (_pace, everyMs) => {
  const warmMs = Math.min(everyMs, 600_000);

  test("refuses a revoked key's admission within the stated time, and takes one of the next", async () => {
    await live(1_000);
    await buy({ everyMs: warmMs, forMs: 70_000 });
    expect(await ask()).toBe("good");
    await live(Math.floor(everyMs * 0.37));
    isRevoked = true;
    const revokedAt = clock.now();
    await live(Math.ceil(everyMs * 0.63));
    const passed = await buy({ everyMs: warmMs, forMs: 40_000 });
    expect(passed - revokedAt).toBeLessThan(BOUND_MS);
    expect(await ask()).toBe("admission-required");
    expect(await ask(await passOf(keys.next.signingKey))).toBe("good");
  });

  test("refuses it within the stated time, too, when no mint answered until then", async () => {
    await live(1_000);
    expect(await ask()).toBe("good");
    isAway = true;
    await buy({ everyMs: warmMs, forMs: 90_000 });
    expect(await ask()).toBe("good");
    [isAway, isRevoked] = [false, true];
    const revokedAt = clock.now();
    const passed = await buy({ everyMs: warmMs, forMs: 40_000 });
    expect(passed - revokedAt).toBeLessThan(BOUND_MS);
    expect(await ask()).toBe("admission-required");
  });
});

test("a process that stood still for an hour refuses it in the first request, whose own look at the mint tells", async () => {
  await live(1_000);
  expect(await ask()).toBe("good");
  isRevoked = true;
  clock.advance(3_600_000);
  const answers = await Promise.all(Array.from({ length: 50 }, () => ask()));
  expect(answers).toEqual(Array.from({ length: 50 }, () => "admission-required"));
});

test("while no mint answers, it sells by the keys that it knows, a revoked one among them, for a day at most, and then to nobody", async () => {
  await live(1_000);
  expect(await ask()).toBe("good");
  const knownAt = clock.now();
  [isAway, isRevoked] = [true, true];
  clock.set(knownAt + 3_600_000);
  await live(1_000);
  expect(await ask()).toBe("good");
  clock.set(knownAt + KEYS_TRUST_MS + 1);
  await live(1_000);
  expect(await ask()).toBe("unavailable");
});
