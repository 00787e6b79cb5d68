/** What both token buckets must do, whichever clock counts: run by the tests of each. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { BucketPolicy, Taken, TokenBucket } from "../../src/token-bucket.ts";

export interface BucketWorld {
  readonly bucket: TokenBucket;
  /** Lets `ms` go by for every bucket, at once. */
  readonly pass: (ms: number) => Promise<void>;
}

export interface BucketConformance {
  readonly open: () => Promise<BucketWorld>;
  /** Longest time that a test case takes by itself, where the clock cannot be stopped. */
  readonly driftMs: number;
  readonly runs: number;
}

/** Long enough that a quarter of it outlasts the drift. */
const REFILL_MS = 40_000;
const QUARTER_MS = REFILL_MS / 4;

const purchase: BucketPolicy = { name: "purchase", capacity: 10, refillMs: REFILL_MS };
let identities = 0;
const someone = (): string => `someone-${(identities += 1)}`;

async function takeTimes(world: BucketWorld, policy: BucketPolicy, id: string, times: number) {
  const taken: Taken[] = [];
  for (let turn = 0; turn < times; turn += 1) taken.push(await world.bucket.take(policy, id));
  return taken;
}

/** At most `ms`, and less only by what the test case itself took. */
function expectAbout(suite: BucketConformance, ms: number, got: number): void {
  expect(got).toBeLessThanOrEqual(ms);
  expect(got).toBeGreaterThanOrEqual(ms - suite.driftMs);
}

interface Guarantee {
  readonly title: string;
  readonly holds: (suite: BucketConformance) => Promise<void>;
}

const GUARANTEES: readonly Guarantee[] = [
  {
    title: "the first gives capacity tokens in a row, then refuses until one is back",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const id = someone();
      const taken = await takeTimes(world, purchase, id, 12);
      expect(taken.map(({ allowed }) => allowed)).toEqual([...Array(10).fill(true), false, false]);
      expect(taken.map(({ remaining }) => remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]);
      for (const { allowed, retryAfterMs } of taken) {
        if (allowed) expect(retryAfterMs).toBe(0);
        else expectAbout(suite, REFILL_MS, retryAfterMs);
      }
      await world.pass(REFILL_MS);
      expect(await world.bucket.take(purchase, id)).toMatchObject({ allowed: true, remaining: 0 });
      expect(await world.bucket.take(purchase, id)).toMatchObject({ allowed: false });
    },
  },

  {
    title: "waiting exactly as told is enough, from any level (RL-05, RL-10)",
    holds: async (suite) => {
      const { open } = suite;
      const property = fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        // 3,333 ms a token is 0.3 a second: no level is a round number.
        fc.constantFrom(1, 7, 250, 3_333, REFILL_MS),
        fc.integer({ min: 0, max: 10_000 }),
        async (capacity, refillMs, aheadMs) => {
          const policy = { name: "purchase", capacity, refillMs };
          const world = await open();
          const id = someone();
          const first = await takeTimes(world, policy, id, capacity + 1);
          await world.pass(aheadMs % refillMs);
          let asked = await world.bucket.take(policy, id);
          for (let turn = 0; turn < 3 && !asked.allowed; turn += 1) {
            expect(asked.retryAfterMs).toBeGreaterThanOrEqual(1);
            expect(Number.isInteger(asked.retryAfterMs)).toBe(true);
            await world.pass(asked.retryAfterMs);
            asked = await world.bucket.take(policy, id);
            expect(asked.allowed).toBe(true);
          }
          expect(first[0]?.allowed).toBe(true);
        },
      );
      await fc.assert(property, { numRuns: suite.runs });
    },
  },

  {
    title: "asking while empty postpones nothing",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const id = someone();
      await takeTimes(world, purchase, id, 10);
      for (let turn = 0; turn < 4; turn += 1) {
        expect(await world.bucket.take(purchase, id)).toMatchObject({ allowed: false });
        await world.pass(QUARTER_MS);
      }
      expect(await world.bucket.take(purchase, id)).toMatchObject({ allowed: true });
    },
  },

  {
    title: "each identity and each policy has a bucket of its own",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const [one, other] = [someone(), someone()];
      const single = { name: "single", capacity: 1, refillMs: REFILL_MS };
      expect(await world.bucket.take(single, one)).toMatchObject({ allowed: true });
      expect(await world.bucket.take(single, one)).toMatchObject({ allowed: false });
      expect(await world.bucket.take(single, other)).toMatchObject({ allowed: true });
      expect(await world.bucket.take({ ...single, name: "second" }, one)).toMatchObject({
        allowed: true,
      });
    },
  },

  {
    title: "500 takes at once get exactly the capacity",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const id = someone();
      const all = Array.from({ length: 500 }, () => world.bucket.take(purchase, id));
      const allowed = (await Promise.all(all)).filter((taken) => taken.allowed);
      expect(allowed).toHaveLength(10);
      expect(new Set(allowed.map(({ remaining }) => remaining)).size).toBe(10);
    },
  },

  {
    title: "a token given back is there again, and never more than the capacity",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const id = someone();
      await world.bucket.giveBack(purchase, id);
      await takeTimes(world, purchase, id, 10);
      await world.bucket.giveBack(purchase, id);
      expect(await world.bucket.take(purchase, id)).toMatchObject({ allowed: true });
      expect(await world.bucket.take(purchase, id)).toMatchObject({ allowed: false });
      for (let turn = 0; turn < 15; turn += 1) await world.bucket.giveBack(purchase, id);
      const taken = await takeTimes(world, purchase, id, 11);
      expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10);
    },
  },

  {
    title:
      "a new policy counts at once, and gives nobody more than it holds or freezes them (RL-06)",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const id = someone();
      await takeTimes(world, purchase, id, 10);
      // Smaller: 10 tokens are owed where 2 fit. One refill later there is one.
      const smaller = { ...purchase, capacity: 2 };
      const refused = await world.bucket.take(smaller, id);
      expect(refused.allowed).toBe(false);
      expectAbout(suite, REFILL_MS, refused.retryAfterMs);
      expectAbout(suite, 2 * REFILL_MS, refused.fullAfterMs);
      await world.pass(REFILL_MS);
      expect(await world.bucket.take(smaller, id)).toMatchObject({ allowed: true, remaining: 0 });
      // Faster: what is owed is time, so it is paid back as fast.
      const faster = { ...smaller, refillMs: REFILL_MS / 8 };
      const sooner = await world.bucket.take(faster, id);
      expect(sooner.fullAfterMs).toBeLessThanOrEqual(2 * faster.refillMs);
      await world.pass(3 * faster.refillMs);
      const taken = await takeTimes(world, faster, id, 3);
      expect(taken.filter(({ allowed }) => allowed)).toHaveLength(2);
    },
  },

  {
    title: "whatever is taken, given back and waited, it counts like a jar of tokens",
    holds: async (suite) => {
      const { open } = suite;
      const step = fc.oneof(
        { weight: 5, arbitrary: fc.record({ kind: fc.constant("take"), who: fc.nat(2) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant("give back"), who: fc.nat(2) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant("pass"), who: fc.nat(9) }) },
      );
      const property = fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(step, { maxLength: 30 }),
        async (capacity, steps) => {
          const world = await open();
          const policy = { name: "purchase", capacity, refillMs: REFILL_MS };
          const ids = [someone(), someone(), someone()];
          const full = capacity * 4;
          const jars = [full, full, full];
          for (const { kind, who } of steps) {
            if (kind === "pass") {
              await world.pass(who * QUARTER_MS);
              for (const [index, quarters] of jars.entries()) {
                jars[index] = Math.min(full, quarters + who);
              }
              continue;
            }
            const [id = "", quarters = 0] = [ids[who], jars[who]];
            if (kind === "give back") {
              await world.bucket.giveBack(policy, id);
              jars[who] = Math.min(full, quarters + 4);
              continue;
            }
            const taken = await world.bucket.take(policy, id);
            const allowed = quarters >= 4;
            const after = allowed ? quarters - 4 : quarters;
            jars[who] = after;
            expect(taken).toMatchObject({ allowed, remaining: Math.floor(after / 4) });
            expectAbout(suite, allowed ? 0 : (4 - quarters) * QUARTER_MS, taken.retryAfterMs);
            expectAbout(suite, (full - after) * QUARTER_MS, taken.fullAfterMs);
          }
        },
      );
      await fc.assert(property, { numRuns: suite.runs });
    },
  },

  {
    title: "what is not a policy or an identity is refused before anything is stored",
    holds: async (suite) => {
      const { open } = suite;
      const { bucket } = await open();
      const wrong: readonly Partial<BucketPolicy>[] = [
        { capacity: 0 },
        { capacity: 1.5 },
        { capacity: Number.NaN },
        { refillMs: 0 },
        { refillMs: -1 },
        { refillMs: 2 ** 40 },
        { name: "" },
        { name: "a{b}" },
        { name: "a:b" },
      ];
      for (const part of wrong) {
        await expect(bucket.take({ ...purchase, ...part }, "x")).rejects.toThrow(
          /AssertionError|is|has/,
        );
      }
      await expect(bucket.take(purchase, "")).rejects.toThrow(/identity/);
      await expect(bucket.giveBack(purchase, "x".repeat(257))).rejects.toThrow(/identity/);
    },
  },
];

export function describeTokenBucket(name: string, suite: BucketConformance): void {
  describe(`token bucket: ${name}`, () => {
    const named = GUARANTEES.map(({ title, holds }) => [title, holds] as const);
    test.each(named)("%s", async (_, holds) => {
      await expect(holds(suite)).resolves.toBeUndefined();
    });
  });
}
