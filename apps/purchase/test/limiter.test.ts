import { AppError } from "@vestibule/kernel/app-error";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { createMemoryTokenBucket } from "@vestibule/valkey/memory-token-bucket";
import { StoreAwayError, type TokenBucket } from "@vestibule/valkey/token-bucket";
import { expect, test } from "vitest";
import { buyerOf, createHashIdentity, limitedIdentity } from "../src/identity.ts";
import { createLimiter } from "../src/limiter.ts";

const PURCHASE = { name: "purchase", capacity: 10, refillMs: 1_000 };
const hash = createHashIdentity("a secret of these tests");

function limiterOf(bucket: TokenBucket, policy = PURCHASE) {
  const limiter = createLimiter(policy, { bucket, hash });
  return {
    limiter,
    take: async (who = "a") => {
      const headers = new Map<string, string>();
      const sent = { set: (name: string, value: string) => void headers.set(name, value) };
      const error: unknown = await limiter.take(who, sent).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      return { headers: Object.fromEntries(headers), error: error as AppError | undefined };
    },
  };
}

test("ten at once, then one a second; every answer says how things stand", async () => {
  const clock = new FakeClock();
  const { take } = limiterOf(createMemoryTokenBucket(clock));
  const first = await take();
  expect(first).toEqual({
    error: undefined,
    headers: {
      "RateLimit-Policy": '"purchase";q=10;w=10',
      RateLimit: '"purchase";r=9;t=1',
    },
  });
  for (let more = 0; more < 9; more += 1) expect((await take()).error).toBeUndefined();
  const refused = await take();
  expect(refused.error).toMatchObject({
    code: "too-many-requests",
    retryAfterSeconds: 1,
    extensions: { retryAfterMs: 1_000 },
  });
  expect(refused.headers["RateLimit"]).toBe('"purchase";r=0;t=10');
  expect((await take("somebody else")).error).toBeUndefined();
  clock.advance(1_000);
  expect((await take()).error).toBeUndefined();
  expect((await take()).error).toBeDefined();
});

test("RL-10: 1,000 refusals at random moments: whole seconds of 1 or more, body and header agree, and whoever waits as told gets through", async () => {
  const clock = new FakeClock();
  const random = runRandomness(31);
  const below = (max: number) => (random.bytes(1)[0]! * 256 + random.bytes(1)[0]!) % max;
  const { take } = limiterOf(createMemoryTokenBucket(clock), {
    name: "purchase",
    capacity: 3,
    refillMs: 333,
  });
  for (let refusals = 0; refusals < 1_000;) {
    clock.advance(below(400));
    const { error } = await take();
    if (error === undefined) continue;
    refusals += 1;
    const { retryAfterSeconds, extensions } = error;
    const ms = extensions["retryAfterMs"] as number;
    expect(Number.isInteger(retryAfterSeconds) && retryAfterSeconds! >= 1).toBe(true);
    expect(retryAfterSeconds).toBe(Math.ceil(ms / 1_000));
    clock.advance(ms);
    expect((await take()).error).toBeUndefined();
  }
});

test("a store that does not say is 503, never allowed, never 429", async () => {
  const away = { take: () => Promise.reject(new StoreAwayError("away")), giveBack: async () => {} };
  const { error, headers } = await limiterOf(away).take();
  expect(error).toMatchObject({ code: "unavailable", retryAfterSeconds: 1 });
  expect(headers).toEqual({});
});

test("what is given back can be taken again; a store that is away then is no error", async () => {
  const bucket = createMemoryTokenBucket(new FakeClock());
  const { take, limiter } = limiterOf(bucket, { name: "log-in", capacity: 1, refillMs: 3_000 });
  for (let times = 0; times < 50; times += 1) {
    expect((await take()).error).toBeUndefined();
    await limiter.giveBack("a");
  }
  const broken: TokenBucket = {
    take: (...args) => bucket.take(...args),
    giveBack: () => Promise.reject(new StoreAwayError("away")),
  };
  await expect(limiterOf(broken).limiter.giveBack("a")).resolves.toBeUndefined();
});

test("names in the store: short, of one policy and one secret, and nothing of the identity in them", () => {
  const name = hash("purchase", "visitor:abc");
  expect(name).toMatch(/^[A-Za-z0-9_-]{22}$/);
  expect(hash("purchase", "visitor:abc")).toBe(name);
  const others = [
    hash("console-log-in", "visitor:abc"),
    hash("purchase", "visitor:abd"),
    hash("purchase\0visitor", ":abc"),
    createHashIdentity("another secret")("purchase", "visitor:abc"),
  ];
  expect(new Set([name, ...others]).size).toBe(5);
});

test("a user and a visitor never share a bucket or a per-buyer limit, whatever the user is called", () => {
  expect(limitedIdentity("v", undefined)).toBe("visitor:v");
  expect(limitedIdentity("v", "visitor:v")).toBe("user:visitor:v");
  expect(buyerOf("v", undefined)).toBe("v");
  expect(buyerOf("v", "ann")).toMatch(/^user:[A-Za-z0-9_-]{43}$/);
  expect(buyerOf("v", "ann")).toBe(buyerOf("w", "ann"));
  expect(buyerOf("v", "ann")).not.toContain("ann");
});
