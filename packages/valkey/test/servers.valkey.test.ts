import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { useLocalValkey } from "@vestibule/testkit/local-valkey";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

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
import { describeTokenBucket } from "./support/bucket-conformance.ts";
import { describeInventoryGate } from "./support/gate-conformance.ts";
import { selfSigned } from "./support/self-signed.ts";
import { callsOf, passForBuckets, passForLeases } from "./support/server-clock.ts";

const policy = { name: "purchase", capacity: 10, refillMs: 60_000 };

describe("one server", () => {
  const server = useLocalValkey();

  test("by its Unix socket, with a password and a database of its own", async () => {
    const { socketPath, password } = server();
    const { client, said } = await openUp(`unix://:${password}@${socketPath}?db=3`);
    expect(await createValkeyTokenBucket(client).take(policy, "a")).toMatchObject({ remaining: 9 });
    expect(said).toEqual([
      { event: "store-connected", fields: { store: socketPath, mode: "single" } },
    ]);
    expect(String(await server().command("INFO", "keyspace"))).toContain("db3:keys=1");
  });

  test("a database that is not there is an error, and not database 0", async () => {
    const { client, said } = openClient(`${server().url}/999`);
    await expect.poll(() => said.length).toBeGreaterThan(0);
    expect(said[0]).toMatchObject({ event: "store-away", fields: { reason: "ERR" } });
    expect(
      (await outcomeOf(() => createValkeyTokenBucket(client).take(policy, "a"))).away,
    ).toBeDefined();
    expect(client.isUp()).toBe(false);
  });

  test("by valkey://, and it can tell who we are", async () => {
    await openUp(server().url.replace("redis://", "valkey://"));
    expect(String(await server().command("CLIENT", "LIST"))).toContain("name=vestibule");
  });

  test("two addresses of a server that is no cluster: said, refused, and not a crash", async () => {
    const { client, said } = openClient(`${server().url},${server().url}`);
    await expect.poll(() => said.length, { timeout: 4_000 }).toBeGreaterThan(0);
    expect(said[0]?.event).toBe("store-away");
    const { away } = await outcomeOf(() => createValkeyTokenBucket(client).take(policy, "a"));
    expect(away).toBe("not connected");
  });
});

describe("a server that speaks TLS", () => {
  const home = mkdtempSync(join(tmpdir(), "vestibule-tls-"));
  const [certFile, keyFile] = [join(home, "cert.pem"), join(home, "key.pem")];
  beforeAll(() => {
    const { cert, key } = selfSigned("localhost");
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
  });
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const server = useLocalValkey({ tls: { certFile, keyFile } });

  test("is not believed when its certificate is unknown", async () => {
    const { client, said } = openClient(server().url.replace("redis://", "rediss://"));
    await expect.poll(() => said.length, { timeout: 3_000 }).toBeGreaterThan(0);
    expect(said[0]?.event).toBe("store-away");
    expect(String(said[0]?.fields["reason"])).toMatch(/CERT|ALTNAME|closed/);
    await pass(200);
    expect(client.isUp()).toBe(false);
  });

  test("is used when NODE_EXTRA_CA_CERTS knows it, in a process of its own", () => {
    const url = server().url.replace("redis://", "rediss://").replace("127.0.0.1", "localhost");
    const script = `
      const { connectValkey } = await import(${JSON.stringify(join(import.meta.dirname, "../src/client.system.ts"))});
      const said = [];
      const client = connectValkey({ url: process.env.STORE, deadlineMs: 250, log: (event) => said.push(event) });
      for (let turn = 0; turn < 200 && !client.isUp(); turn += 1) await new Promise((done) => setTimeout(done, 10));
      await client.close();
      process.stdout.write(JSON.stringify(said));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: certFile, STORE: url },
      encoding: "utf8",
      timeout: 15_000,
    });
    expect(JSON.parse(output)).toEqual(["store-connected"]);
  });
});

describe("a cluster", () => {
  const server = useLocalValkey({ cluster: true });
  const nodes = (): string => `${server().url},${server().url}`;

  describeTokenBucket("in a cluster", {
    driftMs: 5_000,
    runs: 5,
    open: async () => ({
      bucket: createValkeyTokenBucket((await openUp(nodes())).client),
      pass: (ms) => passForBuckets(server(), ms),
    }),
  });

  describeInventoryGate("in a cluster", {
    leaseMs: 15_000,
    runs: 5,
    open: async () => ({
      gate: createValkeyInventoryGate((await openUp(nodes())).client),
      pass: (ms) => passForLeases(server(), ms),
    }),
  });

  test("one address of one of its nodes is enough", async () => {
    const { client, said } = await openUp(server().url);
    expect(said).toEqual([
      {
        event: "store-connected",
        fields: { store: `127.0.0.1:${server().port}`, mode: "cluster" },
      },
    ]);
    expect(await createValkeyTokenBucket(client).take(policy, "seed")).toMatchObject({
      allowed: true,
    });
  });

  test("buckets are spread over the slots, an event's gates share one, and nothing is CROSSSLOT", async () => {
    const { client } = await openUp(nodes());
    const bucket = createValkeyTokenBucket(client);
    for (let who = 0; who < 64; who += 1) await bucket.take(policy, `spread-${who}`);
    const gate = createValkeyInventoryGate(client);
    for (const sku of ["floor", "balcony", "vip{x}"]) {
      const of = { event: "one-slot", sku };
      await gate.reserve({ ...of, jti: "a", quantity: 1 });
      await gate.settle({ ...of, jti: "a", sold: 1 });
      const { version } = await gate.inspect(of);
      await gate.repair({ ...of, version, left: 1, drop: [], sold: [], sure: true });
    }
    const slots = async (pattern: string): Promise<Set<unknown>> => {
      const keys = (await server().command("KEYS", pattern)) as readonly string[];
      expect(keys.length).toBeGreaterThanOrEqual(6);
      return new Set(
        await Promise.all(keys.map((key) => server().command("CLUSTER", "KEYSLOT", key))),
      );
    };
    expect((await slots("vst:gate:{one-slot}:*")).size).toBe(1);
    expect((await slots("vst:bucket:purchase:spread-*")).size).toBeGreaterThan(60);
  });

  test("SCRIPT FLUSH costs nobody an error there either (RL-01)", async () => {
    const { client } = await openUp(nodes());
    const bucket = createValkeyTokenBucket(client);
    for (let turn = 0; turn < 5; turn += 1) {
      await server().command("SCRIPT", "FLUSH");
      expect(await bucket.take(policy, `flushed-${turn}`)).toMatchObject({ allowed: true });
    }
  });

  test("a node that is stopped: refused within the deadline, no backlog, and back by itself (RL-07)", async () => {
    const { client } = await openUp(nodes());
    const bucket = createValkeyTokenBucket(client);
    let who = 0;
    const load = startLoad(() => bucket.take(policy, `stopped-${(who += 1)}`), {
      perSecond: 1_000,
    });
    await pass(200);
    const callsBefore = (await callsOf(server(), "evalsha")) - load.count().answered;
    server().pause();
    await pass(1_500);
    server().resume();
    await untilUp(client, 4_000);
    await expect
      .poll(async () => (await outcomeOf(() => bucket.take(policy, "after"))).value?.allowed, {
        timeout: 3_000,
      })
      .toBe(true);
    const { answered, away, wrong, slowestMs } = await load.stop();
    expect(wrong).toEqual([]);
    expect(away).toBeGreaterThan(500);
    expect(slowestMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    const unasked = (await callsOf(server(), "evalsha")) - callsBefore - answered;
    expect(unasked).toBeLessThan(1_000 * ((DEADLINE_MS + SLACK_MS) / 1_000));
  });

  test("a slot that is asked for elsewhere, or is down, is a refusal within the deadline (RL-11)", async () => {
    const { client } = await openUp(nodes());
    const bucket = createValkeyTokenBucket(client);
    const slot = Number(
      await server().command("CLUSTER", "KEYSLOT", "vst:bucket:purchase:unserved"),
    );
    await server().command("CLUSTER", "DELSLOTS", String(slot));
    const { away, tookMs } = await outcomeOf(() => bucket.take(policy, "unserved"));
    expect(away).toBeDefined();
    expect(tookMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
    await server().command("CLUSTER", "ADDSLOTS", String(slot));
    await expect
      .poll(async () => (await outcomeOf(() => bucket.take(policy, "unserved"))).value?.allowed, {
        timeout: 5_000,
      })
      .toBe(true);
  });
});
