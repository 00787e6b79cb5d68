import { useLocalValkey } from "@vestibule/testkit/local-valkey";
import { type LocalValkey, startLocalValkey } from "@vestibule/testkit/valkey-server";
import { Wire } from "@vestibule/testkit/wire";
import { expect, onTestFinished, test } from "vitest";

import { createValkeyInventoryGate } from "../src/valkey-inventory-gate.ts";
import { createValkeyTokenBucket } from "../src/valkey-token-bucket.ts";
import {
  DEADLINE_MS,
  openClient,
  openUp,
  outcomeOf,
  pass,
  SLACK_MS,
  startLoad,
  untilUp,
} from "./support/open-client.ts";
import { callsOf } from "./support/server-clock.ts";

const policy = { name: "purchase", capacity: 10, refillMs: 60_000 };
const shared = useLocalValkey();

async function start(options: Parameters<typeof startLocalValkey>[0] = {}): Promise<LocalValkey> {
  const server = await startLocalValkey(options);
  onTestFinished(() => server.stop());
  return server;
}

test("killed under load and started again: refused within the deadline, and back by itself (RL-07)", async () => {
  const server = await start();
  const { client, said } = await openUp(server.url);
  const bucket = createValkeyTokenBucket(client);
  let who = 0;
  const load = startLoad(() => bucket.take(policy, `fan-${(who += 1)}`), { perSecond: 1_000 });
  await pass(200);
  await server.kill();
  await pass(800);
  expect(client.isUp()).toBe(false);
  const awayBefore = load.count().away;
  expect(awayBefore).toBeGreaterThan(500);
  await server.restart();
  expect(await untilUp(client)).toBeLessThan(1_500);
  const answeredBefore = load.count().answered;
  await pass(300);
  const { answered, wrong, slowestMs } = await load.stop();
  expect(wrong).toEqual([]);
  expect(slowestMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
  expect(answered - answeredBefore).toBeGreaterThan(200);
  expect(said.map(({ event }) => event)).toContain("store-away");
  expect(said.at(-1)?.event).toBe("store-connected");
});

test("stopped for 5 s with its connections standing: memory flat, no backlog when it goes on (RL-07)", async () => {
  const server = await start();
  const { client } = await openUp(server.url);
  const bucket = createValkeyTokenBucket(client);
  let who = 0;
  const load = startLoad(() => bucket.take(policy, `fan-${(who += 1)}`), { perSecond: 2_000 });
  await pass(300);
  server.pause();
  await pass(1_000);
  const heapBefore = process.memoryUsage().heapUsed;
  const { answered: answeredBefore } = load.count();
  await pass(4_000);
  expect(load.count().answered).toBe(answeredBefore);
  // 8,000 calls later. A queue of them would be some 10 MB, and would be sent when the server goes on.
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(16_000_000);
  server.resume();
  expect(await untilUp(client)).toBeLessThan(2_000);
  await pass(300);
  const { answered, away, wrong, slowestMs } = await load.stop();
  expect(wrong).toEqual([]);
  expect(slowestMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
  expect(away).toBeGreaterThan(8_000);
  // What it carried out unasked is what had been sent within one deadline before the connection was dropped.
  const carriedOut = await callsOf(server, "evalsha");
  expect(carriedOut - answered).toBeLessThan(2_000 * ((DEADLINE_MS + SLACK_MS) / 1_000));
}, 20_000);

test("started again without its scripts and without its keys: no refusal more, and stock is unknown (RL-01, IG-08)", async () => {
  const server = await start();
  const { client } = await openUp(server.url);
  const bucket = createValkeyTokenBucket(client);
  const gate = createValkeyInventoryGate(client);
  const of = { event: "restarted", sku: "floor" };
  const { version } = await gate.inspect(of);
  await gate.repair({ ...of, version, left: 1, drop: [], sold: [], sure: true });
  await bucket.take(policy, "someone");
  await server.restart();
  await untilUp(client);
  // It kept nothing: what is left is unknown, not nothing and not what it was (IG-08).
  expect(await gate.reserve({ ...of, jti: "a", quantity: 1 })).toEqual({ kind: "unknown" });
  const taken = await Promise.all(Array.from({ length: 50 }, () => bucket.take(policy, "someone")));
  expect(taken.filter(({ allowed }) => allowed)).toHaveLength(10);
});

test("demoted with its connections open: away meanwhile, back without a restart, and no take counts twice (RL-11)", async () => {
  const [server, other] = [await start(), await start()];
  const { client, said } = await openUp(server.url);
  const bucket = createValkeyTokenBucket(client);
  await bucket.take(policy, "someone");
  await server.command("CONFIG", "SET", "masterauth", other.password);
  await server.command("REPLICAOF", "127.0.0.1", String(other.port));
  const { away, tookMs } = await outcomeOf(() => bucket.take(policy, "someone"));
  expect(away).toContain("READONLY");
  expect(tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
  await expect.poll(() => said.some(({ event }) => event === "store-is-a-replica")).toBe(true);
  const load = startLoad(() => bucket.take(policy, "others"), { perSecond: 1_000 });
  await pass(600);
  expect(client.isUp()).toBe(false);
  expect(load.count().answered).toBe(0);
  await server.command("REPLICAOF", "NO", "ONE");
  expect(await untilUp(client)).toBeLessThan(1_500);
  expect((await load.stop()).wrong).toEqual([]);
  // The first and this one (or this one alone, when it was synchronized from the other meanwhile): what was refused
  // as READONLY was not kept and sent later.
  const { remaining } = await bucket.take(policy, "someone");
  expect([8, 9]).toContain(remaining);
});

test("its name leads to another server after a failover: that one is used within a second or two (RL-11)", async () => {
  // The name is a port here: who listens behind it changes, and the old server lives on as a replica.
  const [server, other] = [await start(), await start()];
  const wire = await Wire.open(server.port);
  onTestFinished(() => wire.close());
  await other.command("CONFIG", "SET", "requirepass", server.password);
  const { client } = await openUp(`redis://:${server.password}@127.0.0.1:${wire.port}`);
  const bucket = createValkeyTokenBucket(client);
  await bucket.take(policy, "someone");
  wire.target = other.port;
  await server.command("CONFIG", "SET", "masterauth", server.password);
  await server.command("REPLICAOF", "127.0.0.1", String(other.port));
  const load = startLoad(() => bucket.take(policy, "someone"), { perSecond: 200 });
  await expect
    .poll(() => load.count().answered, { timeout: 2_000, interval: 10 })
    .toBeGreaterThan(0);
  const { away, wrong } = await load.stop();
  expect(wrong).toEqual([]);
  expect(away).toBeGreaterThan(0);
});

test("memory is full and nothing may be evicted: the limiter is away, a settlement is not, and both come back (IG-08)", async () => {
  const server = await start({ policy: "noeviction" });
  const { client, said } = await openUp(server.url);
  const bucket = createValkeyTokenBucket(client);
  const gate = createValkeyInventoryGate(client);
  const of = { event: "full", sku: "floor" };
  const small = { name: "small", capacity: 1, refillMs: 60_000 };
  await bucket.take(small, "known");
  const { version } = await gate.inspect(of);
  await gate.repair({ ...of, version, left: 10, drop: [], sold: [], sure: true });
  await gate.reserve({ ...of, jti: "under way", quantity: 1 });
  await gate.reserve({ ...of, jti: "in vain", quantity: 2 });

  await server.command("CONFIG", "SET", "maxmemory", "1");
  expect((await outcomeOf(() => bucket.take(policy, "new"))).away).toContain("OOM");
  expect((await outcomeOf(() => gate.reserve({ ...of, jti: "new", quantity: 1 }))).away).toContain(
    "OOM",
  );
  // Whoever is refused anyway is told so: that needs no memory.
  expect(await bucket.take(small, "known")).toMatchObject({ allowed: false });
  // A lease that ends frees memory; the script that does it is not stopped half-way.
  await gate.settle({ ...of, jti: "under way", sold: 1 });
  await gate.settle({ ...of, jti: "in vain", sold: 0 });
  expect(client.isUp()).toBe(true);

  await server.command("CONFIG", "SET", "maxmemory", "0");
  expect(await gate.inspect(of)).toMatchObject({ left: 9, leases: [], buyers: 1 });
  expect(await bucket.take(policy, "new")).toMatchObject({ allowed: true, remaining: 9 });
  expect(said.map(({ event }) => event)).toEqual(["store-connected"]);
});

test("memory is full and the server evicts: said at the start, gates become unknown and never wrong (IG-08)", async () => {
  const server = await start({ policy: "allkeys-random" });
  const { client, said } = await openUp(server.url);
  expect(said).toContainEqual({
    event: "store-may-evict",
    fields: { store: `127.0.0.1:${server.port}`, policy: "allkeys-random" },
  });
  const gate = createValkeyInventoryGate(client);
  const bucket = createValkeyTokenBucket(client);
  const skus = Array.from({ length: 200 }, (_, index) => ({
    event: "evicted",
    sku: `sku-${index}`,
  }));
  for (const of of skus) {
    const { version } = await gate.inspect(of);
    await gate.repair({ ...of, version, left: 1, drop: [], sold: [], sure: true });
    await gate.reserve({ ...of, jti: "winner", quantity: 1 });
    await gate.settle({ ...of, jti: "winner", sold: 1 });
  }
  // Until about half of the 400 keys are gone, at random.
  for (;;) {
    const size = Number(await server.command("DBSIZE"));
    if (size < 250) break;
    const used = Number(
      /used_memory:(\d+)/.exec(String(await server.command("INFO", "memory")))?.[1],
    );
    await server.command("CONFIG", "SET", "maxmemory", String(used - 2_000));
    await outcomeOf(() => bucket.take(policy, "pressure"));
    await server.command("CONFIG", "SET", "maxmemory", "0");
  }
  const kinds = { unknown: 0, sure: 0, unsure: 0, known: 0 };
  for (const of of skus) {
    const loser = await gate.reserve({ ...of, jti: "loser", quantity: 1 });
    expect(loser.kind).not.toBe("leased");
    if (loser.kind === "sold-out") kinds[loser.sure ? "sure" : "unsure"] += 1;
    else kinds.unknown += 1;
    // Never "sold out for sure" to somebody who bought.
    const winner = await gate.reserve({ ...of, jti: "winner", quantity: 1 });
    expect(winner).not.toEqual({ kind: "sold-out", sure: true });
    if (winner.kind === "known") kinds.known += 1;
  }
  expect(kinds.unknown).toBeGreaterThan(0);
  expect(kinds.unsure).toBeGreaterThan(0);
  expect(kinds.sure).toBeGreaterThan(0);
});

test("a policy that evicts is said once for each change, not at every reconnect", async () => {
  const server = await start({ policy: "volatile-lru" });
  const { client, said } = await openUp(server.url);
  for (let turn = 0; turn < 2; turn += 1) {
    await server.restart();
    await untilUp(client);
  }
  expect(said.filter(({ event }) => event === "store-may-evict")).toHaveLength(1);
});

/** All that a user needs: the calls, and what the scripts call in turn. */
const COMMANDS =
  "evalsha eval ping time type set del unlink pttl pexpire hget hmget hgetall hlen hset hdel scard sadd sismember";

test("a user with just these commands on vst:* can use it; without INFO it is said that nothing is known", async () => {
  const rules = COMMANDS.split(" ").map((command) => `+${command}`);
  await shared().command("ACL", "SETUSER", "limited", "reset", "on", ">secret", "~vst:*", ...rules);
  const { client, said } = await openUp(`redis://limited:secret@127.0.0.1:${shared().port}`);
  expect(said.map(({ event }) => event)).toEqual(["store-connected", "store-safety-unknown"]);
  const bucket = createValkeyTokenBucket(client);
  const single = { name: "acl", capacity: 1, refillMs: 60_000 };
  await bucket.take(single, "a");
  expect(await bucket.take(single, "a")).toMatchObject({ allowed: false });
  await shared().command("PEXPIRE", "vst:bucket:acl:a", "3600000");
  expect(await bucket.take(single, "a")).toMatchObject({ allowed: false });
  await bucket.giveBack(single, "a");
  const gate = createValkeyInventoryGate(client);
  const of = { event: "acl", sku: "floor" };
  await shared().command("SET", "vst:gate:{acl}:floor:sold", "of another type");
  const { version } = await gate.inspect(of);
  await gate.repair({ ...of, version, left: 2, drop: ["x"], sold: ["y"], sure: true });
  await gate.reserve({ ...of, jti: "a", quantity: 1 });
  await gate.settle({ ...of, jti: "a", sold: 1 });
  await gate.reserve({ ...of, jti: "b", quantity: 1 });
  await gate.settle({ ...of, jti: "b", sold: 0 });
  expect(await gate.inspect(of)).toMatchObject({ left: 1, buyers: 2, leases: [] });
});

test("a wrong password is said as that, without the password, and is tried again until it is right", async () => {
  const password = "wrong#horse/battery";
  const url = `redis://:${encodeURIComponent(password)}@127.0.0.1:${shared().port}`;
  const { client, said } = openClient(url);
  await expect.poll(() => said.length).toBe(1);
  expect(said[0]).toMatchObject({ event: "store-away", fields: { reason: "WRONGPASS" } });
  expect(JSON.stringify(said)).not.toContain("horse");
  await shared().command("ACL", "SETUSER", "default", `>${password}`);
  await untilUp(client);
  expect(await createValkeyTokenBucket(client).take(policy, "login")).toMatchObject({
    allowed: true,
  });
});
