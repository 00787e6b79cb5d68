import { useLocalValkey } from "@vestibule/testkit/local-valkey";
import { describe, expect, test } from "vitest";

import { GATE_KEEP_MS, GATE_LEASE_MS, type InventoryGate } from "../src/inventory-gate.ts";
import { createValkeyInventoryGate } from "../src/valkey-inventory-gate.ts";
import { describeInventoryGate } from "./support/gate-conformance.ts";
import { openUp, pass, startLoad } from "./support/open-client.ts";
import { passForLeases } from "./support/server-clock.ts";

const server = useLocalValkey();
const openGate = async (leaseMs = GATE_LEASE_MS): Promise<InventoryGate> =>
  createValkeyInventoryGate((await openUp(server().url)).client, { leaseMs });

describeInventoryGate("in a real server", {
  leaseMs: GATE_LEASE_MS,
  runs: 25,
  open: async () => ({ gate: await openGate(), pass: (ms) => passForLeases(server(), ms) }),
});

test("a lease lasts as long as it is told to, by the server's own clock", async () => {
  const gate = await openGate(300);
  const of = { event: "clock", sku: "floor" };
  await gate.reserve({ ...of, jti: "a", quantity: 1 });
  expect((await gate.inspect(of)).leases[0]?.expired).toBe(false);
  await pass(350);
  expect((await gate.inspect(of)).leases[0]?.expired).toBe(true);
});

/** A sale of `left` seats in which "winner" has bought one, and "busy" has one under way. */
async function openSale(sku: string, left: number) {
  const gate = await openGate();
  const of = { event: "lost", sku };
  const { version } = await gate.inspect(of);
  await gate.repair({ ...of, version, left: left + 2, drop: [], sold: [], sure: true });
  await gate.reserve({ ...of, jti: "winner", quantity: 1 });
  await gate.settle({ ...of, jti: "winner", sold: 1 });
  await gate.reserve({ ...of, jti: "busy", quantity: 1 });
  const key = (part: string): string => `vst:gate:{lost}:${sku}:${part}`;
  return { gate, of, key };
}

describe("what the server loses or is made to hold is unknown, never sold out and never unlimited (IG-08)", () => {
  test.each<[string, (key: (part: string) => string) => readonly string[]]>([
    ["the counter's key was deleted", (key) => ["DEL", key("state")]],
    ["the counter's field was deleted", (key) => ["HDEL", key("state"), "left"]],
    ["the counter is text", (key) => ["HSET", key("state"), "left", "many"]],
    ["the counter is empty", (key) => ["HSET", key("state"), "left", ""]],
    ["what leases owe is text", (key) => ["HSET", key("state"), "owed", "-"]],
    ["the counter is negative", (key) => ["HSET", key("state"), "left", "-1"]],
    ["the counter is a fraction", (key) => ["HSET", key("state"), "left", "1.5"]],
    ["the counter is infinite", (key) => ["HSET", key("state"), "left", "inf"]],
    ["the counter has 30 digits", (key) => ["HSET", key("state"), "left", "9".repeat(30)]],
    ["the counter's key is text", (key) => ["SET", key("state"), "12"]],
    ["the counter's key is a negative number", (key) => ["SET", key("state"), "-12"]],
    ["the counter's key is empty text", (key) => ["SET", key("state"), ""]],
    ["the leases were evicted", (key) => ["DEL", key("leases")]],
    ["the leases are text", (key) => ["SET", key("leases"), "none"]],
    ["one lease is gone", (key) => ["HDEL", key("leases"), "busy"]],
  ])("%s", async (_, damage) => {
    const { gate, of, key } = await openSale("unknown", 0);
    await server().command(...damage(key));
    expect(await gate.reserve({ ...of, jti: "next", quantity: 1 })).toEqual({ kind: "unknown" });
    const state = await gate.inspect(of);
    expect(state.left).toBeUndefined();
    // It stays so until somebody who asked PostgreSQL says otherwise; then it counts again.
    await gate.settle({ ...of, jti: "next", sold: 0 });
    const { version, leases } = await gate.inspect(of);
    const drop = leases.map(({ jti }) => jti);
    await gate.repair({ ...of, version, left: 1, drop, sold: ["winner"], sure: true });
    expect(await gate.reserve({ ...of, jti: "last", quantity: 1 })).toEqual({ kind: "leased" });
    expect(await gate.reserve({ ...of, jti: "none", quantity: 1 })).toMatchObject({
      kind: "sold-out",
    });
    await server().command("FLUSHALL");
  });

  test.each<[string, (key: (part: string) => string) => readonly string[]]>([
    ["the buyers were evicted", (key) => ["DEL", key("sold")]],
    ["the buyers are text", (key) => ["SET", key("sold"), "all"]],
    ["one buyer is gone", (key) => ["SREM", key("sold"), "winner"]],
    ["the mark is text", (key) => ["HSET", key("state"), "sure", "yes"]],
  ])("%s: sold out is said, and that it is not sure", async (_, damage) => {
    const { gate, of, key } = await openSale("unsure", 0);
    const { life } = await gate.inspect(of);
    await server().command(...damage(key));
    expect(await gate.reserve({ ...of, jti: "next", quantity: 1 })).toEqual({
      kind: "sold-out",
      sure: false,
    });
    // Whoever told it of buyers before must tell it again. The mark says nothing of what it remembers.
    const now = await gate.inspect(of);
    expect(now.life === life).toBe(damage(key)[0] === "HSET");
    expect((await gate.inspect(of)).version).toBe(now.version);
    const repair = { ...of, left: 0, drop: [], sold: ["winner"], sure: true };
    expect(await gate.repair({ ...repair, version: now.version })).toBe(true);
    expect(await gate.reserve({ ...of, jti: "next", quantity: 1 })).toMatchObject({ sure: true });
    await server().command("FLUSHALL");
  });

  test.each<[string, readonly string[]]>([
    ["text", ["busy", "text"]],
    ["a fraction", ["busy", "1.5:99"]],
    ["negative", ["busy", "-1:99"]],
  ])(
    "a lease that is %s counts as expired and of nothing, and giving it back gives nothing",
    async (_, field) => {
      const { gate, of, key } = await openSale("leases", 3);
      await server().command("HSET", key("leases"), ...field);
      expect((await gate.inspect(of)).leases).toEqual([
        { jti: "busy", quantity: 0, expired: true },
      ]);
      await gate.settle({ ...of, jti: "busy", sold: 0 });
      expect((await gate.inspect(of)).left).toBeUndefined();
      await server().command("FLUSHALL");
    },
  );

  test("a version that is rubbish is made anew, and a script that has begun to write is not stopped by it", async () => {
    const { gate, of, key } = await openSale("version", 3);
    for (const [field, value] of [
      ["moves", "many"],
      ["moves", "9".repeat(30)],
      ["repairs", "none"],
      ["asked", "-1"],
      ["born", ""],
      ["born", "then"],
    ] as const) {
      const { version } = await gate.inspect(of);
      await server().command("HSET", key("state"), field, value);
      expect(
        await gate.reserve({ ...of, jti: `fan-${field}-${value}`, quantity: 1 }),
      ).toBeDefined();
      expect((await gate.inspect(of)).version).not.toBe(version);
      await gate.settle({ ...of, jti: `fan-${field}-${value}`, sold: 0 });
    }
    expect(await gate.inspect(of)).toMatchObject({ left: 3, leases: [{ jti: "busy" }] });
    await server().command("FLUSHALL");
  });
});

test("after FLUSHALL an old repair does not fit, and the counter is unknown until a new one (IG-08)", async () => {
  const { gate, of } = await openSale("flushed", 3);
  const old = await gate.inspect(of);
  await server().command("FLUSHALL");
  const repair = { ...of, left: 99, drop: [], sold: [], sure: true };
  expect(await gate.repair({ ...repair, version: old.version })).toBe(false);
  expect(await gate.reserve({ ...of, jti: "next", quantity: 1 })).toEqual({ kind: "unknown" });
  expect(await gate.repair({ ...repair, version: old.version })).toBe(false);
  expect((await gate.inspect(of)).left).toBeUndefined();
});

test("all three keys expire a day after the last use, also when their expiry was removed by hand", async () => {
  const { gate, of, key } = await openSale("expiry", 0);
  const ttls = async () =>
    Promise.all(
      ["state", "leases", "sold"].map(async (part) =>
        Number(await server().command("PTTL", key(part))),
      ),
    );
  for (const ttl of await ttls()) {
    expect(ttl).toBeGreaterThan(GATE_KEEP_MS - 60_000);
    expect(ttl).toBeLessThanOrEqual(GATE_KEEP_MS);
  }
  for (const part of ["state", "leases", "sold"]) await server().command("PERSIST", key(part));
  // A refusal is a use too: a sale that is sold out for days stays so.
  expect(await gate.reserve({ ...of, jti: "next", quantity: 1 })).toMatchObject({
    kind: "sold-out",
  });
  for (const ttl of await ttls()) expect(ttl).toBeGreaterThan(GATE_KEEP_MS - 60_000);
});

test("SCRIPT FLUSH under load: no reservation fails and none counts twice (RL-01)", async () => {
  const gate = await openGate();
  const of = { event: "scripts", sku: "floor" };
  const { version } = await gate.inspect(of);
  await gate.repair({ ...of, version, left: 100_000, drop: [], sold: [], sure: true });
  let leased = 0;
  const buy = async (): Promise<void> => {
    const { kind } = await gate.reserve({ ...of, jti: `fan-${(leased += 1)}`, quantity: 1 });
    expect(kind).toBe("leased");
  };
  const load = startLoad(buy, { perSecond: 1_000 });
  for (let turn = 0; turn < 10; turn += 1) {
    await pass(40);
    await server().command("SCRIPT", "FLUSH");
  }
  expect(await load.stop()).toMatchObject({ away: 0, wrong: [] });
  const state = await gate.inspect(of);
  expect(state.leases).toHaveLength(leased);
  expect(state.left).toBe(100_000 - leased);
});

test("a repair beside 2,000 purchases a second never invents a seat", async () => {
  const gate = await openGate();
  const of = { event: "repair", sku: "floor" };
  const total = 400;
  let left = total;
  const spent = new Set<string>();
  let fans = 0;
  let most = 0;
  const buy = async (): Promise<void> => {
    const jti = `fan-${(fans += 1)}`;
    const reservation = await gate.reserve({ ...of, jti, quantity: 1 });
    if (reservation.kind === "sold-out") return;
    await pass(1 + (fans % 5));
    // As PostgreSQL does: one step, and it may refuse. Each tenth fails for a reason of its own.
    const sells = left > 0 && fans % 10 !== 0;
    if (sells) {
      left -= 1;
      spent.add(jti);
    }
    await pass(fans % 3);
    await gate.settle({ ...of, jti, sold: sells ? 1 : 0 });
  };
  const repair = async (): Promise<boolean> => {
    const state = await gate.inspect(of);
    // One step, as a snapshot is.
    const [snapshot, bought] = [left, new Set(spent)];
    const alive = state.leases.filter(({ jti }) => !bought.has(jti));
    const leased = alive.reduce((sum, { quantity }) => sum + quantity, 0);
    const sold = state.leases.filter(({ jti }) => bought.has(jti)).map(({ jti }) => jti);
    const wanted = snapshot - leased;
    return gate.repair({
      ...of,
      version: state.version,
      left: wanted,
      drop: [],
      sold,
      sure: true,
    });
  };
  const load = startLoad(buy, { perSecond: 2_000 });
  let done = 0;
  for (let turn = 0; turn < 200; turn += 1) {
    if (await repair()) done += 1;
    const state = await gate.inspect(of);
    const leased = state.leases.filter(({ jti }) => !spent.has(jti)).length;
    if (state.left !== undefined && state.left > 0)
      most = Math.max(most, state.left + leased - left);
    await pass(2);
  }
  expect((await load.stop()).wrong).toEqual([]);
  expect(done).toBeGreaterThan(0);
  // The look at the gate and the look at `spent` are not one moment: what was sold between them, at 2,000 a second.
  expect(most).toBeLessThanOrEqual(20);
  await repair();
  expect(await gate.inspect(of)).toMatchObject({ left, leases: [] });
  expect(left).toBe(0);
});

test.each<[string, readonly string[]]>([
  ["forgot everything", ["FLUSHALL"]],
  ["says 1,000 too many", ["HINCRBY", "vst:gate:{crowd}:floor:state", "left", "1000"]],
])(
  "a gate that %s while a sold-out crowd is at it is right after one repair (IG-08)",
  async (_, damage) => {
    const gate = await openGate();
    const of = { event: "crowd", sku: "floor" };
    const first = await gate.inspect(of);
    await gate.repair({ ...of, version: first.version, left: 0, drop: [], sold: [], sure: true });
    const counts = { asked: 0, letThrough: 0 };
    const comeInVain = async (): Promise<void> => {
      const jti = `fan-${(counts.asked += 1)}`;
      const { kind } = await gate.reserve({ ...of, jti, quantity: 1 });
      if (kind === "sold-out") return;
      counts.letThrough += 1;
      // PostgreSQL has nothing left either.
      await pass(5);
      await gate.settle({ ...of, jti, sold: 0 });
    };
    const load = startLoad(comeInVain, { perSecond: 1_000 });
    await pass(100);
    expect(counts.letThrough).toBe(0);
    await server().command(...damage);
    await expect.poll(() => counts.letThrough, { interval: 5 }).toBeGreaterThan(20);
    const { version, leases } = await gate.inspect(of);
    await pass(20); // the look at PostgreSQL: meanwhile the gate moves
    const leased = leases.length;
    expect(
      await gate.repair({ ...of, version, left: 0 - leased, drop: [], sold: [], sure: false }),
    ).toBe(true);
    await pass(50);
    const before = { ...counts };
    await pass(200);
    expect(counts.asked - before.asked).toBeGreaterThan(100);
    expect(counts.letThrough).toBe(before.letThrough);
    expect((await load.stop()).wrong).toEqual([]);
    const state = await gate.inspect(of);
    // Quiet now: exact again.
    await gate.repair({ ...of, version: state.version, left: 0, drop: [], sold: [], sure: true });
    expect(await gate.inspect(of)).toMatchObject({ left: 0, leases: [] });
    await server().command("FLUSHALL");
  },
);
