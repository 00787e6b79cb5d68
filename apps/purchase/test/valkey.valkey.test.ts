/** The service on a real Valkey or Redis and a real PostgreSQL. */
import { Secret } from "@vestibule/service/secret";
import { useLocalValkey } from "@vestibule/testkit/local-valkey";
import { connectValkey } from "@vestibule/valkey/client.system";
import { createValkeyInventoryGate } from "@vestibule/valkey/valkey-inventory-gate";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGateRepair } from "../src/gate-repair.ts";
import { createLedger } from "../src/ledger.ts";
import type { RunningPurchase } from "../src/service.ts";
import { many } from "./ledger-world.ts";
import { wordOf } from "./problem-of.ts";
import {
  ADMIN_TOKEN,
  EVENT,
  type Fan,
  type PurchaseWorld,
  purchaseWorld,
} from "./purchase-world.ts";
import { silentLog } from "@vestibule/service/log";

const DEADLINE_MS = 250;
/** What a busy machine may add before a test calls it slow. The client's own tests measure closely. */
const SLACK_MS = 1_000;
const SEAT = { event: EVENT, sku: "seat" };
const IDENTITY_SECRET = "the-secret-of-identities-in-the-tests";

const valkey = useLocalValkey();
let world: PurchaseWorld;
let others: RunningPurchase[];
let bases: string[];
let client: ReturnType<typeof connectValkey>;

beforeEach(async () => {
  await valkey().command("FLUSHALL");
  world = await purchaseWorld({
    config: {
      valkeyUrl: new Secret(valkey().url),
      valkeyDeadlineMs: DEADLINE_MS,
      identitySecret: new Secret(IDENTITY_SECRET),
      purchaseLimit: { capacity: 1_000, refillMs: 1_000 },
      consoleLogInLimit: { capacity: 1_000, refillMs: 1_000 },
    },
  });
  others = [await world.another(51), await world.another(52)];
  bases = [world.url, ...others.map(({ url }) => url)];
  client = connectValkey({ url: valkey().url, deadlineMs: 1_000, log: () => {} });
});
afterEach(async () => {
  await client.close();
  for (const other of others) await other.stop();
  await world.close();
});

const gate = () => createValkeyInventoryGate(client);
const leftAtGate = async () => (await gate().inspect(SEAT)).left;

async function sell(total: number): Promise<void> {
  await expect.poll(async () => (await world.setStock(EVENT, "seat", total)).status).toBe(200);
  await expect.poll(leftAtGate, { timeout: 6_000 }).toBe(total);
}

async function crowd(size: number): Promise<Record<string, number>> {
  const fans = await Promise.all(many(size, () => world.fan()));
  const counts: Record<string, number> = {};
  const answers = await Promise.all(
    fans.map((fan, index) => world.buy(fan, { base: bases[index % 3]! })),
  );
  for (const answer of answers) {
    const word = await wordOf(answer);
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

/**
 * From now on the crowd asks an instance that waits long for the store: on a machine so busy that it does not
 * answer in time, PostgreSQL would decide, and sell what a dead instance had counted off. It may.
 */
async function askPatiently(): Promise<void> {
  const patient = await world.another(91, { config: { valkeyDeadlineMs: 2_000 } });
  others.push(patient);
  bases = [patient.url, patient.url, patient.url];
}

const sold = async () => {
  const [row] = await world.database.sql<{ sold: number; ordered: number }[]>`
    select sold, (select coalesce(sum(quantity), 0)::int from orders) as ordered from stock`;
  return row;
};

/** The `jti` in the token's text. */
function admissionIdOf({ admission }: Fan): string {
  const claims = Buffer.from(admission.split(".")[1] ?? "", "base64url").toString();
  return (JSON.parse(claims) as { jti: string }).jti;
}

describe("names in the store", () => {
  test("say nothing of visitors, and every one of them goes away by itself", async () => {
    await sell(5);
    const fan = await world.fan();
    await world.buy(fan);
    const keys = (await valkey().command("KEYS", "*")) as string[];
    expect(keys.length).toBeGreaterThan(2);
    for (const key of keys) {
      const isBucket = /^vst:bucket:[a-z-]+:[A-Za-z0-9_-]{22}$/.test(key);
      expect(isBucket || /^vst:gate:\{spring\}:seat:[a-z]+$/.test(key)).toBe(true);
      // -1: it stays for ever. One that has gone meanwhile is -2.
      expect(await valkey().command("PTTL", key)).not.toBe(-1);
    }
    expect(keys.join()).not.toContain(fan.visitor);
  });

  test("one visitor has one bucket over all instances", async () => {
    const config = { purchaseLimit: { capacity: 10, refillMs: 60_000 } };
    const strict = [await world.another(61, { config }), await world.another(62, { config })];
    await sell(5);
    const fan = await world.fan();
    const answers = await Promise.all(
      many(40, (index) => world.buy(fan, { base: strict[index % 2]!.url })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(30);
    for (const each of strict) await each.stop();
  });
});

describe("one item, 200 buyers, three instances", () => {
  const sale = { "201": 1, "409 sold-out": 199 };
  const stateKey = `vst:gate:{${EVENT}}:seat:state`;

  test.each([
    ["as it should be", async () => {}],
    ["deleted", () => valkey().command("DEL", stateKey)],
    ["a text", () => valkey().command("SET", stateKey, "many")],
    ["empty", () => valkey().command("SET", stateKey, "")],
    ["-5", () => valkey().command("SET", stateKey, "-5")],
    ["flushed with everything else", () => valkey().command("FLUSHALL")],
    ["without its scripts", () => valkey().command("SCRIPT", "FLUSH")],
    [
      "1,000",
      async () => {
        const { version } = await gate().inspect(SEAT);
        await gate().repair({ ...SEAT, version, left: 1_000, drop: [], sold: [], sure: true });
        return leftAtGate();
      },
    ],
  ] as const)("the counter is %s", async (_name, breakIt) => {
    await sell(1);
    await breakIt();
    expect(await crowd(200)).toEqual(sale);
    expect(await sold()).toEqual({ sold: 1, ordered: 1 });
    await expect.poll(leftAtGate, { timeout: 6_000 }).toBe(0);
  });
});

test("repairs without pause, flushes and forgotten scripts while 600 buy 200 pieces: never more than there are, all of them in the end, and both agree", async () => {
  await sell(200);
  const log = silentLog;
  const repair = createGateRepair({
    gate: gate(),
    ledger: createLedger(world.database),
    listSkus: async () => [{ ...SEAT, perPurchaseMax: 10 }],
    clock: world.clock,
    log,
  });
  const sale = { isOver: false };
  const disturb = (async () => {
    for (let turn = 0; !sale.isOver; turn += 1) {
      await repair.round();
      if (turn % 20 === 10) await valkey().command("SCRIPT", "FLUSH");
      if (turn % 50 === 25) await valkey().command("FLUSHALL");
    }
  })();
  const counts = [await crowd(200), await crowd(200), await crowd(200)];
  sale.isOver = true;
  await disturb;
  const of = (word: string) => counts.reduce((sum, each) => sum + (each[word] ?? 0), 0);
  // Whoever came while seats were counted off for somebody else may be told "sold out": never an error.
  expect(of("201") + of("409 sold-out")).toBe(600);
  const left = 200 - of("201");
  expect(await sold()).toEqual({ sold: of("201"), ordered: of("201") });
  await expect.poll(leftAtGate, { timeout: 25_000 }).toBe(left);
  if (left > 0) expect(await crowd(left)).toEqual({ "201": left });
  expect(await crowd(3)).toEqual({ "409 sold-out": 3 });
}, 60_000);

describe("Valkey away", () => {
  async function timed(answer: Promise<Response>): Promise<{ word: string; ms: number }> {
    const startedAt = performance.now();
    const word = await wordOf(await answer);
    return { word, ms: performance.now() - startedAt };
  }

  async function expectClosed(): Promise<void> {
    const fan = await world.fan();
    for (const path of ["purchases", "holds", "spends"]) {
      const { word, ms } = await timed(world.buy(fan, { path }));
      expect(word).toBe("503 unavailable");
      expect(ms).toBeLessThan(DEADLINE_MS + SLACK_MS);
    }
    const admin = `/v1/admin/events/${EVENT}/stock/seat`;
    const guess = timed(world.get(admin, { Authorization: "Bearer wrong" }));
    expect((await guess).word).toBe("503 unavailable");
    const right = await timed(world.get(admin, { Authorization: `Bearer ${ADMIN_TOKEN}` }));
    expect(right.word).toBe("503 unavailable");
    expect((await world.get(`/v1/events/${EVENT}/stock`)).status).toBe(200);
    // Told, and no reason to take every instance out of service at once.
    const ready = async () => {
      const answer = await world.get("/readyz");
      return { status: answer.status, ...((await answer.json()) as object) };
    };
    await expect.poll(ready).toMatchObject({ status: 200, notes: { limiterAndGate: false } });
  }

  test("killed: 503 at once, nothing sold; back within two seconds after its return, with the counters made anew", async () => {
    await sell(2);
    await valkey().kill();
    await expectClosed();
    const loaded = await Promise.all(many(100, async () => timed(world.buy(await world.fan()))));
    expect(new Set(loaded.map(({ word }) => word))).toEqual(new Set(["503 unavailable"]));
    expect(await sold()).toEqual({ sold: 0, ordered: 0 });
    await valkey().restart();
    const fan = await world.fan();
    await expect
      .poll(async () => (await world.buy(fan)).status, { timeout: 2_000, interval: 20 })
      .toBe(201);
    await expect.poll(leftAtGate, { timeout: 6_000 }).toBe(1);
  });

  test("paused: 503 within the deadline, not a hang; on when it goes on", async () => {
    await sell(2);
    valkey().pause();
    try {
      await expectClosed();
    } finally {
      valkey().resume();
    }
    const fan = await world.fan();
    await expect
      .poll(async () => (await world.buy(fan)).status, { timeout: 2_000, interval: 20 })
      .toBe(201);
    expect(await sold()).toEqual({ sold: 1, ordered: 1 });
  });

  test("a replica: 503, and on when it is promoted", async () => {
    await sell(2);
    await valkey().command("REPLICAOF", "127.0.0.1", "1");
    const fan = await world.fan();
    await expect.poll(async () => wordOf(await world.buy(fan))).toBe("503 unavailable");
    await valkey().command("REPLICAOF", "NO", "ONE");
    await expect
      .poll(async () => (await world.buy(fan)).status, { timeout: 3_000, interval: 20 })
      .toBe(201);
  });

  test("full: 503, never 201 without a take; on when there is room", async () => {
    await sell(2);
    const fan = await world.fan();
    await valkey().command("CONFIG", "SET", "maxmemory", "1");
    await expect.poll(async () => wordOf(await world.buy(fan))).toBe("503 unavailable");
    await valkey().command("CONFIG", "SET", "maxmemory", "0");
    await expect.poll(async () => (await world.buy(fan)).status).toBe(201);
  });
});

test.each([
  ["before its transaction", false],
  ["between commit and settlement", true],
])(
  "an instance that dies %s: the lease runs out, both agree, and the buyer gets through",
  async (_name, hasBought) => {
    await sell(1);
    await askPatiently();
    const short = createValkeyInventoryGate(client, { leaseMs: 300 });
    const fan = await world.fan();
    const jti = admissionIdOf(fan);
    expect(await short.reserve({ ...SEAT, jti, quantity: 1 })).toEqual({ kind: "leased" });
    if (hasBought) {
      const plain = await world.another(71, { config: { gateEnabled: false } });
      expect((await world.buy(fan, { base: plain.url })).status).toBe(201);
      await plain.stop();
    }
    expect(await crowd(3)).toEqual({ "409 sold-out": 3 });
    const state = async () => {
      const { left, leases, sure } = await gate().inspect(SEAT);
      return { left, leases: leases.length, sure };
    };
    const after = { left: hasBought ? 0 : 1, leases: 0, sure: true };
    await expect.poll(state, { timeout: 12_000 }).toEqual(after);
    expect((await world.buy(fan)).status).toBe(201);
    expect(await sold()).toEqual({ sold: 1, ordered: 1 });
  },
);
