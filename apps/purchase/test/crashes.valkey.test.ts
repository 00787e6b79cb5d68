/** Processes that are killed, repeated presses and a store that stands still, on real servers. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { sleep } from "@vestibule/feed/fetch-text.system";
import { Secret } from "@vestibule/service/secret";
import { useLocalValkey } from "@vestibule/testkit/local-valkey";
import { Wire } from "@vestibule/testkit/wire";
import { connectValkey } from "@vestibule/valkey/client.system";
import type { InventoryGate } from "@vestibule/valkey/inventory-gate";
import { createValkeyInventoryGate } from "@vestibule/valkey/valkey-inventory-gate";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunningPurchase } from "../src/service.ts";
import { many } from "./ledger-world.ts";
import { wordOf } from "./problem-of.ts";
import {
  ADMIN_TOKEN,
  EVENT,
  type Fan,
  ISSUER,
  type PurchaseWorld,
  purchaseWorld,
} from "./purchase-world.ts";

const DEADLINE_MS = 250;
/** What a busy machine may add before a test calls it slow. */
const SLACK_MS = 1_000;
const IDENTITY_SECRET = "the-secret-of-identities-in-the-tests";

const valkey = useLocalValkey();
let world: PurchaseWorld;
let others: RunningPurchase[];
const children: ChildProcess[] = [];
let gate: InventoryGate;
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
  others = [];
  client = connectValkey({ url: valkey().url, deadlineMs: 2_000, log: () => {} });
  gate = createValkeyInventoryGate(client);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await client.close();
  for (const other of others) await other.stop();
  await world.close();
});

const stateOf = (sku: string) => gate.inspect({ event: EVENT, sku });

async function sell(sku: string, total: number): Promise<void> {
  const more = { perPurchaseMax: 5 };
  await expect.poll(async () => (await world.setStock(EVENT, sku, total, more)).status).toBe(200);
  await expect.poll(async () => (await stateOf(sku)).left, { timeout: 6_000 }).toBe(total);
}

async function another(seed: number, config: object = {}): Promise<RunningPurchase> {
  const instance = await world.another(seed, { config });
  others.push(instance);
  return instance;
}

async function words(answers: Promise<Response>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const answer of await Promise.all(answers)) {
    const word = await wordOf(answer);
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

describe("SIGKILL between reservation and settlement", () => {
  interface Victim {
    readonly url: string;
    readonly child: ChildProcess;
    readonly database: Wire;
    readonly store: Wire;
  }

  /** A process of its own, whose two networks can stand still. */
  async function startVictim(): Promise<Victim> {
    const [database, store] = await Promise.all([Wire.open(), Wire.open()]);
    const main = new URL("../src/main.ts", import.meta.url).pathname;
    const child = spawn(process.execPath, [main], {
      env: {
        PATH: process.env["PATH"],
        VESTIBULE_PORT: "0",
        VESTIBULE_DATABASE_URL: database.through(world.databaseUrl),
        VESTIBULE_ISSUER: ISSUER,
        VESTIBULE_MINT_URLS: world.mint.url,
        VESTIBULE_ADMIN_TOKEN: ADMIN_TOKEN,
        VALKEY_URL: store.through(valkey().url),
        VALKEY_DEADLINE_MS: "2000",
        VESTIBULE_IDENTITY_SECRET: IDENTITY_SECRET,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(child);
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const addressOf = () => /"listening"[^\n]*"url":"([^"]+)"/.exec(output)?.[1];
    await expect.poll(addressOf, { timeout: 20_000 }).toBeDefined();
    const url = addressOf()!;
    // Each of its connections knows the statement of a purchase: from now on that is one message.
    const warm = many(40, async () =>
      world.buy(await world.fan(), { base: url, body: { sku: "warm", quantity: 1 } }),
    );
    expect(await words(warm)).toEqual({ "201": 40 });
    return { url, child, database, store };
  }

  const isLeased = async (sku: string) => (await stateOf(sku)).leases.length === 1;
  const isOrdered = async (sku: string) => {
    const rows = await world.database.sql`select from orders where sku = ${sku}`;
    return rows.length === 1;
  };

  /** How the victim is brought to the point, with the answer of its buyer. What it returns cleans up. */
  type Point = (
    victim: Victim,
    sku: string,
    buy: () => Promise<Response>,
  ) => Promise<(() => Promise<unknown>) | undefined>;

  const POINTS: Readonly<Record<string, Point>> = {
    "before-its-transaction": async ({ database }, sku, buy) => {
      database.break("freeze-questions");
      buy().catch(() => {});
      await expect.poll(() => isLeased(sku)).toBe(true);
      return undefined;
    },
    "in-its-transaction": async (_victim, sku, buy) => {
      const release = Promise.withResolvers<void>();
      const isLocked = Promise.withResolvers<void>();
      const lock = world.database.sql.begin(async (tx) => {
        await tx`select from stock where sku = ${sku} for update`;
        isLocked.resolve();
        await release.promise;
      });
      await isLocked.promise;
      buy().catch(() => {});
      await expect.poll(() => isLeased(sku)).toBe(true);
      return async () => {
        release.resolve();
        await lock;
      };
    },
    "after-its-commit": async ({ database }, sku, buy) => {
      database.break("freeze-answers");
      buy().catch(() => {});
      await expect.poll(() => isOrdered(sku)).toBe(true);
      return undefined;
    },
    "after-its-answer": async ({ database, store }, sku, buy) => {
      database.break("freeze-answers");
      const answer = buy();
      await expect.poll(() => isOrdered(sku)).toBe(true);
      store.break("freeze-questions");
      database.mend();
      expect((await answer).status).toBe(201);
      expect(await isLeased(sku)).toBe(true);
      return undefined;
    },
  };

  test("at each point: nothing is sold twice, no seat is lost, both agree within 20 s, and the buyer gets what is theirs elsewhere", async () => {
    // The victims' clock is the machine's, so that the mint's must be.
    world.clock.set(Date.now());
    // An instance that waits long for the store: on a busy machine PostgreSQL would decide, and might sell.
    const patient = await another(91, { valkeyDeadlineMs: 2_000 });
    const buyAt = (base: string, fan: Fan, sku: string, quantity = 1) =>
      world.buy(fan, { base, body: { sku, quantity } });
    const buyers = new Map<string, Fan>();
    const skus = Object.keys(POINTS);
    for (const sku of skus) await sell(sku, 1);
    await sell("warm", 160);
    const victims = await Promise.all(skus.map(() => startVictim()));
    for (const [index, sku] of skus.entries()) {
      const victim = victims[index]!;
      const fan = await world.fan();
      buyers.set(sku, fan);
      // It knows the sku, so that from now on it needs PostgreSQL for the purchase alone.
      expect(await wordOf(await buyAt(victim.url, fan, sku, 6))).toBe("400 bad-request");
      const cleanUp = await POINTS[sku]!(victim, sku, () => buyAt(victim.url, fan, sku));
      victim.child.kill("SIGKILL");
      await once(victim.child, "exit");
      victim.database.close();
      victim.store.close();
      await cleanUp?.();
      // Nobody knows yet: for the others it is counted off.
      const vain = many(3, async () => buyAt(patient.url, await world.fan(), sku));
      expect(await words(vain)).toEqual({ "409 sold-out": 3 });
    }
    const killedAt = performance.now();
    const agreement = async (sku: string) => {
      const { left, leases, sure } = await stateOf(sku);
      const [row] = await world.database.sql<{ left: number }[]>`
        select total - sold - held as left from stock where sku = ${sku}`;
      return { isSame: left === row?.left, leases, sure };
    };
    for (const sku of skus) {
      await expect
        .poll(() => agreement(sku), { timeout: 25_000, interval: 200 })
        .toEqual({ isSame: true, leases: [], sure: true });
    }
    expect(performance.now() - killedAt).toBeLessThan(20_000 + SLACK_MS);
    for (const [sku, fan] of buyers) {
      expect((await buyAt(patient.url, fan, sku)).status).toBe(201);
      const vain = many(3, async () => buyAt(patient.url, await world.fan(), sku));
      expect(await words(vain)).toEqual({ "409 sold-out": 3 });
    }
    const books = await world.database.sql`
      select stock.sku, sold, held, count(orders.*)::int as orders
        from stock left join orders on orders.sku = stock.sku
       where stock.sku <> 'warm' group by stock.sku, sold, held`;
    expect([...books]).toHaveLength(4);
    for (const row of books) expect(row).toMatchObject({ sold: 1, held: 0, orders: 1 });
  }, 90_000);
});

test("one admission in 500 requests at once over three instances, with limiter and gate as deployed: one order", async () => {
  const strict = await Promise.all(
    many(3, (index) => another(61 + index, { purchaseLimit: { capacity: 10, refillMs: 60_000 } })),
  );
  await sell("seat", 50);
  const press = async (bases: readonly string[], key: (index: number) => string) => {
    const fan = await world.fan();
    const orders = new Set<string>();
    const counts: Record<string, number> = {};
    const answers = many(500, (index) =>
      world.buy(fan, { base: bases[index % bases.length]!, key: key(index) }),
    );
    for (const answer of await Promise.all(answers)) {
      const word = await wordOf(answer);
      counts[word] = (counts[word] ?? 0) + 1;
      if (word === "201") orders.add(await answer.text());
    }
    return { orders: orders.size, counts };
  };
  const strictUrls = strict.map(({ url }) => url);
  const limited = await press(strictUrls, () => "1");
  expect(limited.orders).toBe(1);
  const { "201": bought = 0, "409 in-progress": running = 0, ...others429 } = limited.counts;
  expect(bought + running).toBe(10);
  expect(others429).toEqual({ "429 too-many-requests": 490 });
  // With room for all of them: what the gate and PostgreSQL make of it.
  const generous = [world.url, (await another(65)).url, (await another(66)).url];
  const free = await press(generous, () => "1");
  expect(free.orders).toBe(1);
  expect((free.counts["201"] ?? 0) + (free.counts["409 in-progress"] ?? 0)).toBe(500);
  const distinct = await press(generous, (index) => `key-${index}`);
  expect(distinct).toEqual({ orders: 1, counts: { "201": 1, "409 already-spent": 499 } });
  const [row] = await world.database.sql`
    select sold, (select count(*)::int from orders) as orders from stock`;
  expect(row).toEqual({ sold: 3, orders: 3 });
  await expect
    .poll(async () => (await stateOf("seat")).left, { timeout: 25_000, interval: 200 })
    .toBe(47);
}, 60_000);

test("Valkey stands still for five seconds: every purchase is 503 within the deadline and sells nothing; within two seconds after it goes on all is well", async () => {
  await sell("seat", 20);
  const fans = await Promise.all(many(60, () => world.fan()));
  const body = { sku: "seat", quantity: 1 };
  valkey().pause();
  const stoppedAt = performance.now();
  const tookMs: number[] = [];
  const asked: Promise<string>[] = [];
  try {
    while (performance.now() - stoppedAt < 5_000) {
      const startedAt = performance.now();
      const fan = fans[asked.length % fans.length]!;
      asked.push(
        world.buy(fan, { body }).then((answer) => {
          tookMs.push(performance.now() - startedAt);
          return wordOf(answer);
        }),
      );
      await sleep(25);
    }
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["503 unavailable"]));
  } finally {
    valkey().resume();
  }
  expect(Math.max(...tookMs)).toBeLessThan(DEADLINE_MS + SLACK_MS);
  const [row] = await world.database.sql`select sold from stock`;
  expect(row).toEqual({ sold: 0 });
  await expect
    .poll(async () => (await world.buy(fans[0]!, { body })).status, {
      timeout: 2_000,
      interval: 20,
    })
    .toBe(201);
  const rest = await words(fans.slice(1).map((fan) => world.buy(fan, { body })));
  expect(rest).toEqual({ "201": 19, "409 sold-out": 40 });
  await expect.poll(async () => (await stateOf("seat")).left).toBe(0);
}, 30_000);
