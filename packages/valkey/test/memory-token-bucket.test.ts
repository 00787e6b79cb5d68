import { FakeClock } from "@vestibule/testkit/fake-clock";
import { expect, inject, test } from "vitest";

import { createMemoryTokenBucket } from "../src/memory-token-bucket.ts";
import { StoreAwayError } from "../src/token-bucket.ts";
import { describeTokenBucket } from "./support/bucket-conformance.ts";

const HOUR_MS = 3_600_000;
const policy = { name: "purchase", capacity: 3, refillMs: 1_000 };

describeTokenBucket("in the process", {
  driftMs: 0,
  runs: inject("runs"),
  open: async () => {
    const clock = new FakeClock();
    return {
      bucket: createMemoryTokenBucket(clock),
      pass: async (ms) => void clock.advance(ms),
    };
  },
});

test("a clock that is set back an hour freezes nobody longer than one refill, and forgives nothing (RL-04)", async () => {
  const clock = new FakeClock();
  const bucket = createMemoryTokenBucket(clock);
  for (let turn = 0; turn < 3; turn += 1) await bucket.take(policy, "someone");
  clock.advance(-HOUR_MS);
  expect(await bucket.take(policy, "someone")).toEqual({
    allowed: false,
    remaining: 0,
    retryAfterMs: 1_000,
    fullAfterMs: 3_000,
  });
  clock.advance(1_000);
  expect(await bucket.take(policy, "someone")).toMatchObject({ allowed: true, remaining: 0 });
  expect(await bucket.take(policy, "someone")).toMatchObject({ allowed: false });
});

test("a clock that jumps ahead gives one full bucket and no more (RL-04)", async () => {
  const clock = new FakeClock();
  const bucket = createMemoryTokenBucket(clock);
  for (let turn = 0; turn < 3; turn += 1) await bucket.take(policy, "someone");
  clock.advance(HOUR_MS);
  const taken = [];
  for (let turn = 0; turn < 5; turn += 1)
    taken.push((await bucket.take(policy, "someone")).allowed);
  expect(taken).toEqual([true, true, true, false, false]);
});

test("a million identities leave nothing behind once their buckets are full (RL-06)", async () => {
  const clock = new FakeClock();
  const bucket = createMemoryTokenBucket(clock);
  let most = 0;
  for (let who = 0; who < 1_000_000; who += 1) {
    // 5,000 a second, each of which owes a second.
    if (who % 5 === 0) clock.advance(1);
    await bucket.take(policy, `visitor-${who}`);
    most = Math.max(most, bucket.size());
  }
  expect(most).toBeLessThan(20_000);
  clock.advance(10_000);
  for (let who = 0; who < 20_000; who += 1) await bucket.take(policy, "one more");
  expect(bucket.size()).toBeLessThanOrEqual(1);
});

test("more callers than it may hold are refused as by a store that is full, and known ones are not", async () => {
  const clock = new FakeClock();
  const bucket = createMemoryTokenBucket(clock, { bucketsMax: 100 });
  for (let who = 0; who < 100; who += 1) await bucket.take(policy, `visitor-${who}`);
  await expect(bucket.take(policy, "one too many")).rejects.toThrow(StoreAwayError);
  expect(await bucket.take(policy, "visitor-7")).toMatchObject({ allowed: true });
  clock.advance(5_000);
  expect(await bucket.take(policy, "visitor-7")).toMatchObject({ allowed: true });
  for (let who = 0; who < 50; who += 1) await bucket.take(policy, "visitor-7");
  expect(await bucket.take(policy, "one too many")).toMatchObject({ allowed: true });
});
