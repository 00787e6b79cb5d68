import { useLocalValkey } from "@vestibule/testkit/local-valkey";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { expect, test, vi } from "vitest";

import { FULL_AFTER_MS_MAX } from "../src/token-bucket.ts";
import { createValkeyTokenBucket } from "../src/valkey-token-bucket.ts";
import { describeTokenBucket } from "./support/bucket-conformance.ts";
import { openUp, pass, startLoad } from "./support/open-client.ts";
import { callsOf, passForBuckets, usedMemory } from "./support/server-clock.ts";

const server = useLocalValkey();
const HOUR_MS = 3_600_000;
const policy = { name: "purchase", capacity: 3, refillMs: 60_000 };
const keyOf = (identity: string): string => `vst:bucket:purchase:${identity}`;
const openBucket = async () => createValkeyTokenBucket((await openUp(server().url)).client);

describeTokenBucket("in a real server", {
  driftMs: 5_000,
  runs: 20,
  open: async () => ({
    bucket: await openBucket(),
    pass: (ms) => passForBuckets(server(), ms),
  }),
});

const drain = async (bucket: Awaited<ReturnType<typeof openBucket>>, id: string) => {
  for (let turn = 0; turn < policy.capacity; turn += 1) await bucket.take(policy, id);
};

test("a refusal writes nothing: neither the value nor the expiry of the key changes", async () => {
  const bucket = await openBucket();
  await drain(bucket, "calm");
  const before = await server().command("GET", keyOf("calm"));
  const expiry = await server().command("PEXPIRETIME", keyOf("calm"));
  for (let turn = 0; turn < 50; turn += 1) {
    expect(await bucket.take(policy, "calm")).toMatchObject({ allowed: false });
  }
  expect(await server().command("GET", keyOf("calm"))).toBe(before);
  expect(await server().command("PEXPIRETIME", keyOf("calm"))).toBe(expiry);
});

test("a level is a whole number of milliseconds, however large: 10 digits, and none is rounded (RL-05)", async () => {
  const bucket = await openBucket();
  // 500,000,000 ms a token: debts of 10^9 and its multiples, which some print as 1e+09.
  for (const refillMs of [500_000_000, FULL_AFTER_MS_MAX / 5]) {
    const large = { name: "purchase", capacity: 5, refillMs };
    const id = `large-${refillMs}`;
    for (let turn = 1; turn <= 5; turn += 1) {
      const taken = await bucket.take(large, id);
      expect(taken).toMatchObject({ allowed: true, remaining: 5 - turn });
      expect(turn * refillMs - taken.fullAfterMs).toBeLessThan(5_000);
      expect(taken.fullAfterMs).toBeLessThanOrEqual(turn * refillMs);
      const ttl = Number(await server().command("PTTL", keyOf(id)));
      expect(taken.fullAfterMs - ttl).toBeGreaterThanOrEqual(0);
      expect(taken.fullAfterMs - ttl).toBeLessThan(1_000);
    }
    const refused = await bucket.take(large, id);
    expect(refused).toMatchObject({ allowed: false, remaining: 0 });
    expect(refused.fullAfterMs - refused.retryAfterMs).toBe(4 * refillMs);
    await bucket.giveBack(large, id);
    expect(await bucket.take(large, id)).toMatchObject({ allowed: true, remaining: 0 });
  }
});

test("in real time it lets through what came back, and whoever waits to the millisecond gets in (RL-10)", async () => {
  const bucket = await openBucket();
  const quick = { name: "purchase", capacity: 3, refillMs: 40 };
  const since = performance.now();
  let through = 0;
  while (performance.now() - since < 1_200) {
    const taken = await bucket.take(quick, "steady");
    if (taken.allowed) through += 1;
    else await pass(taken.retryAfterMs);
    if (!taken.allowed) {
      expect(await bucket.take(quick, "steady")).toMatchObject({ allowed: true });
      through += 1;
    }
  }
  const tookMs = performance.now() - since;
  expect(through).toBeLessThanOrEqual(quick.capacity + tookMs / quick.refillMs);
  expect(through).toBeGreaterThan(quick.capacity);
});

test("under more than it can bear it lets through exactly the capacity and what came back (RL-05)", async () => {
  const bucket = await openBucket();
  const quick = { name: "purchase", capacity: 5, refillMs: 10 };
  const since = performance.now();
  let through = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() - since < 1_000) {
      if ((await bucket.take(quick, "hammered")).allowed) through += 1;
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  const tookMs = performance.now() - since;
  expect(through).toBeLessThanOrEqual(quick.capacity + Math.ceil(tookMs / quick.refillMs));
  // A machine that stops for longer than the bucket lasts wastes tokens, as it should.
  expect(through).toBeGreaterThan(quick.capacity + 50);
});

test("a key expires when its bucket is full, and no later (RL-06)", async () => {
  const bucket = await openBucket();
  for (let turn = 1; turn <= 3; turn += 1) {
    await bucket.take(policy, "expires");
    const ttl = Number(await server().command("PTTL", keyOf("expires")));
    expect(ttl).toBeGreaterThan(turn * policy.refillMs - 5_000);
    expect(ttl).toBeLessThanOrEqual(turn * policy.refillMs);
  }
  await bucket.giveBack(policy, "expires");
  const ttl = Number(await server().command("PTTL", keyOf("expires")));
  expect(ttl).toBeLessThanOrEqual(2 * policy.refillMs);
  await bucket.giveBack(policy, "expires");
  await bucket.giveBack(policy, "expires");
  expect(await server().command("EXISTS", keyOf("expires"))).toBe(0);
});

test("at the millisecond of expiry and around it a bucket is full once, never twice (RL-06)", async () => {
  const bucket = await openBucket();
  const short = { name: "purchase", capacity: 2, refillMs: 20 };
  for (let turn = 0; turn < 25; turn += 1) {
    const id = `edge-${turn}`;
    await bucket.take(short, id);
    await bucket.take(short, id);
    await server().command("PEXPIRE", keyOf(id), String(38 + (turn % 5)));
    await pass(36 + (turn % 7));
    const taken = await Promise.all(Array.from({ length: 8 }, () => bucket.take(short, id)));
    // 2 that came back at most, and one more that may come back while these run.
    expect(taken.filter(({ allowed }) => allowed).length).toBeLessThanOrEqual(3);
  }
});

test("a key whose expiry was removed freezes nobody: a full bucket, which expires again (RL-06)", async () => {
  const bucket = await openBucket();
  await drain(bucket, "no-expiry");
  await server().command("PERSIST", keyOf("no-expiry"));
  expect(await bucket.take(policy, "no-expiry")).toMatchObject({ allowed: true, remaining: 2 });
  const ttl = Number(await server().command("PTTL", keyOf("no-expiry")));
  expect(ttl).toBeGreaterThan(0);
  expect(ttl).toBeLessThanOrEqual(policy.refillMs);
});

test.each([
  ["text", ["SET", "abc"]],
  ["a list", ["RPUSH", "1"]],
  ["a hash", ["HSET", "1", "2"]],
  ["a set", ["SADD", "1"]],
])(
  "a key that holds %s and does not expire heals to an ordinary bucket that expires",
  async (name, [command, ...rest]) => {
    const bucket = await openBucket();
    const id = `rubbish-${name.replaceAll(" ", "-")}`;
    await server().command(command!, keyOf(id), ...rest);
    const taken = [];
    for (let turn = 0; turn < 5; turn += 1) taken.push((await bucket.take(policy, id)).allowed);
    expect(taken).toEqual([true, true, true, false, false]);
    expect(Number(await server().command("PTTL", keyOf(id)))).toBeGreaterThan(0);

    await server().command("DEL", keyOf(id));
    await server().command(command!, keyOf(id), ...rest);
    await bucket.giveBack(policy, id);
    expect(await server().command("EXISTS", keyOf(id))).toBe(0);
  },
);

test("a key of another type that expires is a bucket like any other", async () => {
  const bucket = await openBucket();
  await server().command("RPUSH", keyOf("list"), "1");
  await server().command("PEXPIRE", keyOf("list"), String(3 * policy.refillMs));
  expect(await bucket.take(policy, "list")).toMatchObject({ allowed: false });
  await passForBuckets(server(), policy.refillMs);
  expect(await bucket.take(policy, "list")).toMatchObject({ allowed: true, remaining: 0 });
  for (let turn = 0; turn < 3; turn += 1) await bucket.giveBack(policy, "list");
  expect(await server().command("EXISTS", keyOf("list"))).toBe(0);
});

test("a server clock that was set back an hour freezes nobody longer than one refill (RL-04)", async () => {
  const bucket = await openBucket();
  // What a server an hour ahead left behind: an empty bucket, by its clock.
  const ttl = HOUR_MS + 3 * policy.refillMs;
  await server().command("SET", keyOf("back"), "1", "PX", String(ttl));
  const taken = await bucket.take(policy, "back");
  expect(taken).toMatchObject({ allowed: false, retryAfterMs: policy.refillMs });
  expect(Number(await server().command("PTTL", keyOf("back")))).toBeLessThanOrEqual(
    3 * policy.refillMs,
  );
  await passForBuckets(server(), policy.refillMs);
  expect(await bucket.take(policy, "back")).toMatchObject({ allowed: true, remaining: 0 });
  expect(await bucket.take(policy, "back")).toMatchObject({ allowed: false });

  await server().command("SET", keyOf("back"), "1", "PX", String(ttl));
  await bucket.giveBack(policy, "back");
  expect(await bucket.take(policy, "back")).toMatchObject({ allowed: true, remaining: 0 });
});

test("a key that is over but not yet deleted is a full bucket and no more, as after a clock set ahead (RL-04)", async () => {
  const bucket = await openBucket();
  for (let turn = 0; turn < 20; turn += 1) {
    const id = `over-${turn}`;
    await drain(bucket, id);
    // Too short for the server to have come by and deleted it, most of the time.
    await server().command("PEXPIRE", keyOf(id), "1");
    await pass(2);
    const taken = [];
    for (let times = 0; times < 5; times += 1) taken.push((await bucket.take(policy, id)).allowed);
    expect(taken).toEqual([true, true, true, false, false]);
  }
});

test("two processes with clocks a minute apart share one bucket: theirs do not count (RL-04)", async () => {
  const [one, other] = [await openBucket(), await openBucket()];
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 30_000 });
  const first = await Promise.all([one.take(policy, "shared"), one.take(policy, "shared")]);
  vi.setSystemTime(Date.now() - 60_000);
  const second = [await other.take(policy, "shared"), await other.take(policy, "shared")];
  vi.useRealTimers();
  expect([...first, ...second].map(({ allowed }) => allowed)).toEqual([true, true, true, false]);
});

test("a thousand refusals at random moments: whoever waits as told gets in, and no sooner (RL-10)", async () => {
  const bucket = await openBucket();
  const random = runRandomness();
  const id = "obedient";
  // So slow that the machine's own time does not count.
  const slow = { name: "purchase", capacity: 1, refillMs: 1_000_000 };
  await bucket.take(slow, id);
  for (let turn = 0; turn < 1_000; turn += 1) {
    await passForBuckets(server(), random.integer({ min: 0, max: slow.refillMs - 20_000 }));
    const refused = await bucket.take(slow, id);
    expect(refused.allowed).toBe(false);
    expect(Number.isInteger(refused.retryAfterMs) && refused.retryAfterMs >= 1).toBe(true);
    await passForBuckets(server(), refused.retryAfterMs);
    expect(await bucket.take(slow, id)).toMatchObject({ allowed: true });
  }
});

test("60,000 identities leave nothing behind once their buckets are full (RL-06)", async () => {
  const bucket = await openBucket();
  const quick = { name: "purchase", capacity: 2, refillMs: 1 };
  await bucket.take(quick, "first");
  const base = await usedMemory(server());
  let who = 0;
  const worker = async (): Promise<void> => {
    for (; who < 60_000;) await bucket.take(quick, `crowd-${(who += 1)}`);
  };
  await Promise.all(Array.from({ length: 200 }, worker));
  await vi.waitFor(
    async () => {
      const left = await server().command(
        "EVAL",
        "return #redis.call('KEYS', 'vst:bucket:*:crowd-*')",
        "0",
      );
      expect(left).toBe(0);
    },
    { timeout: 15_000, interval: 200 },
  );
  // The empty table of keys is what stays: far less than 40 bytes an identity.
  expect((await usedMemory(server())) - base).toBeLessThan(2_000_000);
}, 60_000);

test("SCRIPT FLUSH under load costs one more round trip a script and no caller an error (RL-01)", async () => {
  const bucket = await openBucket();
  await bucket.take(policy, "flush-0");
  const evalsBefore = await callsOf(server(), "eval");
  let who = 0;
  const load = startLoad(() => bucket.take(policy, `flush-${(who += 1)}`), { perSecond: 1_000 });
  const flushes = 10;
  for (let turn = 0; turn < flushes; turn += 1) {
    await pass(60);
    await server().command("SCRIPT", "FLUSH");
  }
  await pass(60);
  const { answered, away, wrong } = await load.stop();
  expect({ away, wrong }).toEqual({ away: 0, wrong: [] });
  expect(answered).toBeGreaterThan(200);
  // At each flush only the calls that were under way meet a server that does not know the script.
  const evals = (await callsOf(server(), "eval")) - evalsBefore;
  expect(evals).toBeGreaterThanOrEqual(flushes / 2);
  expect(evals).toBeLessThan(answered / 2);
});

test("FLUSHALL under load is an ordinary moment: everybody has a full bucket, nobody an error", async () => {
  const bucket = await openBucket();
  await drain(bucket, "flushed");
  expect(await bucket.take(policy, "flushed")).toMatchObject({ allowed: false });
  await server().command("FLUSHALL");
  expect(await bucket.take(policy, "flushed")).toMatchObject({ allowed: true, remaining: 2 });
});
