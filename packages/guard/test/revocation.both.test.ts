/**
 * How long an admission of a revoked key still passes: never longer than `REVOCATION_SECONDS_MAX` from the answer to
 * `revoke`, however warm the guard is, however seldom it is asked, and whatever a cache before the mint holds.
 */
import { KEYS_TRUST_MS } from "@vestibule/feed/limits";
import { REVOCATION_SECONDS_MAX } from "@vestibule/contracts/limits";
import type { Guard } from "@vestibule/guard";
import { beforeEach, describe, expect, test } from "vitest";
import { type Pair, World, newPair, requestWith, eventOf, EVENT, VISITOR } from "./world.ts";

const BOUND_MS = REVOCATION_SECONDS_MAX * 1_000;
/** `max-age` of the key set: a cache before the mint keeps it for so long. */
const CACHE_MS = 60_000;
const LIFETIME_SECONDS = 86_400;

let world: World;
let guard: Guard;
let admissions: Pair;
let next: Pair;
let request: Request;
const away = () => new Response("", { status: 503 });

beforeEach(async () => {
  world = await World.create();
  [admissions, next] = [await newPair(), await newPair()];
  world.jwks = [world.pair.publicJwk, admissions.publicJwk, next.publicJwk];
  world.keysSeq = 1;
  world.events = [eventOf(EVENT, { lifetimeSeconds: LIFETIME_SECONDS })];
  guard = world.guard({ fetch: behindACache() as never });
  request = await passOf(admissions);
});

async function passOf({ signingKey }: Pair): Promise<Request> {
  const lifetimeSeconds = LIFETIME_SECONDS;
  return requestWith(await world.admission({ key: signingKey, lifetimeSeconds }), VISITOR);
}

/** A copy of each address of the key set, as old as it may be. */
function behindACache(): typeof world.fetch {
  const copies = new Map<string, { readonly text: string; readonly at: number }>();
  return async (url, init) => {
    if (!url.includes("/jwks.json")) return world.fetch(url, init);
    const copy = copies.get(url);
    if (copy !== undefined && world.now - copy.at < CACHE_MS) return new Response(copy.text);
    const answer = await world.fetch(url, init);
    if (answer.ok) copies.set(url, { text: await answer.clone().text(), at: world.now });
    return answer;
  };
}

/** One request of the shop's, and all that it started. */
async function passes(shown: Request = request): Promise<boolean> {
  const started: Promise<unknown>[] = [];
  const verdict = await guard.check(shown, { waitUntil: (work) => void started.push(work) });
  await Promise.all(started);
  return verdict.ok;
}

/** What the mint does before it answers `revoke`. */
function revoke(): void {
  world.jwks = [world.pair.publicJwk, next.publicJwk];
  world.keysSeq = 2;
}

/** Asks at this pace, for so long; when it passed last. */
async function ask({ everyMs, forMs }: { everyMs: number; forMs: number }): Promise<number> {
  let passed = Number.NEGATIVE_INFINITY;
  for (const end = world.now + forMs; world.now < end; world.now += everyMs)
    if (await passes()) passed = world.now;
  return passed;
}

const PACES = [
  ["ten times a second", 100],
  ["once a second", 1_000],
  ["every 3 s", 3_000],
  ["every 7 s", 7_000],
  ["every 13 s", 13_000],
  ["every 19 s", 19_000],
  ["every 21 s", 21_000],
  ["every 29 s", 29_000],
  ["once a minute", 60_000],
  ["once an hour", 3_600_000],
] as const;

describe.each(PACES)("a shop that is asked %s", (_pace, everyMs) => {
  test("refuses a revoked key's admission within the stated time, and takes one of the next at once", async () => {
    await ask({ everyMs, forMs: Math.max(90_000, 3 * everyMs) });
    expect(await passes()).toBe(true);
    // Anywhere between two requests.
    world.now += Math.floor(everyMs * 0.37);
    revoke();
    const revokedAt = world.now;
    world.now += Math.ceil(everyMs * 0.63);
    const passed = await ask({ everyMs, forMs: Math.max(60_000, 2 * everyMs) });
    expect(passed - revokedAt).toBeLessThan(BOUND_MS);
    expect(await passes()).toBe(false);
    expect(await passes(await passOf(next))).toBe(true);
  });

  test("refuses it within the stated time, too, when no mint answered until then", async () => {
    await ask({ everyMs, forMs: 10_000 });
    world.mint = away;
    await ask({ everyMs, forMs: Math.max(90_000, 3 * everyMs) });
    expect(await passes()).toBe(true);
    world.now += Math.floor(everyMs * 0.01);
    world.mint = undefined;
    revoke();
    const revokedAt = world.now;
    world.now += Math.ceil(everyMs * 0.99);
    const passed = await ask({ everyMs, forMs: Math.max(90_000, 2 * everyMs) });
    expect(passed - revokedAt).toBeLessThan(BOUND_MS);
    expect(await passes()).toBe(false);
  });
});

test("all who come at the same moment after an hour without anybody are refused", async () => {
  expect(await passes()).toBe(true);
  world.now += 3_600_000;
  revoke();
  const verdicts = await Promise.all(Array.from({ length: 50 }, () => passes()));
  expect(verdicts).toEqual(Array.from({ length: 50 }, () => false));
});

test("while no mint answers, the shop goes on by the keys that it knows, a revoked one among them, for a day at most", async () => {
  expect(await passes()).toBe(true);
  const knownAt = world.now;
  revoke();
  world.mint = away;
  world.now = knownAt + 3_600_000;
  expect(await passes()).toBe(true);
  world.now = knownAt + KEYS_TRUST_MS + 1;
  const verdict = await guard.check(await passOf(admissions));
  expect(verdict).toMatchObject({ ok: false, reason: "mint-unknown", status: 503 });
});
