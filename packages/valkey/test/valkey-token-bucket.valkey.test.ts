import { useLocalValkey } from "@vestibule/testkit/local-valkey";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { expect, test, vi } from "vitest";

import { BUCKET_MARGIN_MS } from "../src/scripts/take-token.ts";
import { createValkeyTokenBucket } from "../src/valkey-token-bucket.ts";
import { describeTokenBucket } from "./support/bucket-conformance.ts";
import { openUp, pass, startLoad } from "./support/open-client.ts";
import { callsOf, passForBuckets, serverMicros, usedMemory } from "./support/server-clock.ts";

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

test("what is stored is a whole number of 16 digits, not rounded on its way (RL-05)", async () => {
  const bucket = await openBucket();
  const before = await serverMicros(server());
  await bucket.take({ ...policy, capacity: 1, refillMs: 1 }, "digits");
  await bucket.take({ ...policy, refillMs: 3_333 }, "digits");
  const stored = String(await server().command("GET", keyOf("digits")));
  expect(stored).toMatch(/^\d{16}$/);
  expect(Number(stored) - before).toBeGreaterThanOrEqual(3_333_000);
  expect(Number(stored) - before).toBeLessThan(3_333_000 + 2_000_000);
});

test("a key expires when its bucket is full, plus a margin, and no later (RL-06)", async () => {
  const bucket = await openBucket();
  for (let turn = 1; turn <= 3; turn += 1) {
    await bucket.take(policy, "expires");
    const ttl = Number(await server().command("PTTL", keyOf("expires")));
    expect(ttl).toBeGreaterThan(turn * policy.refillMs - 5_000);
    expect(ttl).toBeLessThanOrEqual(turn * policy.refillMs + BUCKET_MARGIN_MS);
  }
  await bucket.giveBack(policy, "expires");
  const ttl = Number(await server().command("PTTL", keyOf("expires")));
  expect(ttl).toBeLessThanOrEqual(2 * policy.refillMs + BUCKET_MARGIN_MS);
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

test("a key whose expiry was removed gets one again at the next use, also when that is refused (RL-06)", async () => {
  const bucket = await openBucket();
  await drain(bucket, "no-expiry");
  await server().command("PERSIST", keyOf("no-expiry"));
  expect(await bucket.take(policy, "no-expiry")).toMatchObject({ allowed: false });
  const ttl = Number(await server().command("PTTL", keyOf("no-expiry")));
  expect(ttl).toBeGreaterThan(2 * policy.refillMs);
  expect(ttl).toBeLessThanOrEqual(3 * policy.refillMs + BUCKET_MARGIN_MS);
});

test.each([
  ["text", ["SET", "abc"]],
  ["nothing", ["SET", ""]],
  ["a negative number", ["SET", "-5"]],
  ["a fraction", ["SET", "12.5"]],
  ["inf, which tonumber believes", ["SET", "inf"]],
  ["nan", ["SET", "nan"]],
  ["hexadecimal", ["SET", "0xffffffffffff"]],
  ["a number with too many digits", ["SET", "9".repeat(30)]],
  ["a list", ["RPUSH", "1"]],
  ["a hash", ["HSET", "1", "2"]],
  ["a set", ["SADD", "1"]],
])(
  "a key that holds %s heals to an ordinary bucket that expires",
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

test("a server clock that was set back an hour freezes nobody longer than one refill (RL-04)", async () => {
  const bucket = await openBucket();
  // What a server an hour ahead left behind: an empty bucket, by its clock, and an expiry to match.
  const fullAt = (await serverMicros(server())) + (HOUR_MS + 3 * policy.refillMs) * 1_000;
  await server().command("SET", keyOf("back"), String(fullAt), "PX", String(2 * HOUR_MS));
  const taken = await bucket.take(policy, "back");
  expect(taken).toMatchObject({ allowed: false, retryAfterMs: policy.refillMs });
  expect(Number(await server().command("PTTL", keyOf("back")))).toBeLessThanOrEqual(
    3 * policy.refillMs + BUCKET_MARGIN_MS,
  );
  await passForBuckets(server(), policy.refillMs);
  expect(await bucket.take(policy, "back")).toMatchObject({ allowed: true, remaining: 0 });
  expect(await bucket.take(policy, "back")).toMatchObject({ allowed: false });
});

test("a server clock that was set ahead an hour gives one full bucket and no more (RL-04)", async () => {
  const bucket = await openBucket();
  const fullAt = (await serverMicros(server())) - HOUR_MS * 1_000;
  await server().command("SET", keyOf("ahead"), String(fullAt));
  const taken = [];
  for (let turn = 0; turn < 5; turn += 1) taken.push((await bucket.take(policy, "ahead")).allowed);
  expect(taken).toEqual([true, true, true, false, false]);
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
