import { FakeClock } from "@vestibule/testkit/fake-clock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RunningPurchase } from "../src/service.ts";
import { breakableStore, type BreakableStore } from "./gate-world.ts";
import { many } from "./ledger-world.ts";
import { wordOf } from "./problem-of.ts";
import { EVENT, type PurchaseWorld, purchaseWorld, SHOP_TOKEN } from "./purchase-world.ts";

let world: PurchaseWorld;
let store: BreakableStore;
/** Three instances on one store and one database. */
let bases: string[];
let others: RunningPurchase[];
/** A sku for each test: nothing of one is left for the next. */
let sku: string;
let skus = 0;

beforeAll(async () => {
  const clock = new FakeClock();
  store = breakableStore(clock);
  world = await purchaseWorld({ clock, store });
  others = [await world.another(21), await world.another(22)];
  bases = [world.url, ...others.map(({ url }) => url)];
});
afterAll(async () => {
  for (const other of others) await other.stop();
  await world.close();
});
beforeEach(() => {
  skus += 1;
  sku = `seat-${skus}`;
});
afterEach(() => {
  store.isGateAway = false;
});

const seat = () => ({ event: EVENT, sku });
const leftAtGate = async () => (await store.gate.inspect(seat())).left;
const body = (quantity = 1) => ({ sku, quantity });

/** Stock, and a gate that knows of it. */
async function sell(total: number, more: object = {}): Promise<void> {
  await world.setStock(EVENT, sku, total, more);
  await expect.poll(leftAtGate).toBe(total);
}

async function words(answers: Promise<Response>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const answer of await Promise.all(answers)) {
    const word = await wordOf(answer);
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

async function crowd(size: number, quantity = 1): Promise<Record<string, number>> {
  const fans = await Promise.all(many(size, () => world.fan()));
  return words(
    fans.map((fan, index) => world.buy(fan, { base: bases[index % 3]!, body: body(quantity) })),
  );
}

async function books(): Promise<{ sold: number; ordered: number }> {
  const [row] = await world.database.sql<{ sold: number; ordered: number }[]>`
    select sold, (select coalesce(sum(quantity), 0)::int from orders where sku = ${sku}) as ordered
      from stock where sku = ${sku}`;
  return row!;
}

describe("IG-01: one item, 200 buyers at once over three instances", () => {
  const sale = { "201": 1, "409 sold-out": 199 };

  test("with the gate", async () => {
    await sell(1);
    expect(await crowd(200)).toEqual(sale);
    expect(await books()).toEqual({ sold: 1, ordered: 1 });
  });

  test("with the gate away", async () => {
    await sell(1);
    store.isGateAway = true;
    expect(await crowd(200)).toEqual(sale);
    expect(await books()).toEqual({ sold: 1, ordered: 1 });
  });

  test("with a gate that says 1,000", async () => {
    await sell(1);
    const { version } = await store.gate.inspect(seat());
    const wrong = { version, left: 1_000, drop: [], sold: [], sure: true };
    expect(await store.gate.repair({ ...seat(), ...wrong })).toBe(true);
    expect(await crowd(200)).toEqual(sale);
    expect(await books()).toEqual({ sold: 1, ordered: 1 });
    await expect.poll(leftAtGate).toBe(0);
  });

  test("IG-08: with a gate that is flushed again and again meanwhile", async () => {
    await sell(1);
    const buying = crowd(200);
    for (let times = 0; times < 20; times += 1) {
      store.gate.flush();
      await world.get("/healthz");
    }
    expect(await buying).toEqual(sale);
    expect(await books()).toEqual({ sold: 1, ordered: 1 });
  });
});

test("a gate that says 0 is right a round later at the latest, and sells then", async () => {
  await sell(3);
  const { version } = await store.gate.inspect(seat());
  const wrong = { version, left: 0, drop: [], sold: [], sure: true };
  await store.gate.repair({ ...seat(), ...wrong });
  const fan = await world.fan();
  expect(await wordOf(await world.buy(fan, { body: body() }))).toBe("409 sold-out");
  await expect.poll(leftAtGate, { timeout: 6_000 }).toBe(3);
  expect((await world.buy(fan, { body: body() })).status).toBe(201);
});

test("IG-10: five buyers of two with five left: two buy, and one piece can still be had", async () => {
  await sell(5);
  expect(await crowd(5, 2)).toEqual({ "201": 2, "409 sold-out": 3 });
  expect(await crowd(1, 4)).toEqual({ "409 sold-out": 1 });
  expect(await crowd(1, 1)).toEqual({ "201": 1 });
  expect(await books()).toEqual({ sold: 5, ordered: 5 });
});

test("sold out is said without PostgreSQL; winners are answered as before", async () => {
  await sell(1, { perPurchaseMax: 5 });
  const [winner, loser] = [await world.fan(), await world.fan()];
  const order = await (await world.buy(winner, { body: body() })).json();
  await expect.poll(async () => (await store.gate.inspect(seat())).leases).toEqual([]);
  // Each instance has heard of the sku, by a request or within one round.
  for (const base of bases) await world.buy(loser, { body: body(), base });
  const locked = Promise.withResolvers<void>();
  const unlock = Promise.withResolvers<void>();
  const lock = world.database.sql.begin(async (tx) => {
    await tx`lock table stock, spends, orders in access exclusive mode`;
    locked.resolve();
    await unlock.promise;
  });
  await locked.promise;
  for (const base of bases) {
    expect(await wordOf(await world.buy(loser, { body: body(), base }))).toBe("409 sold-out");
  }
  unlock.resolve();
  await lock;
  expect(await (await world.buy(winner, { body: body() })).json()).toEqual(order);
  const another = await world.buy(winner, { body: body(), key: "2" });
  expect(await wordOf(another)).toBe("409 already-spent");
  const tooMany = await world.buy(loser, { body: body(6) });
  expect(await wordOf(tooMany)).toBe("400 bad-request");
});

test("after a flush winners get their orders, losers are refused, and nothing is sold twice", async () => {
  await sell(2);
  const winners = [await world.fan(), await world.fan()];
  const orders = await Promise.all(
    winners.map(async (fan) => (await world.buy(fan, { body: body() })).json()),
  );
  store.gate.flush();
  await world.buy(await world.fan(), { body: body() });
  await expect.poll(leftAtGate).toBe(0);
  // It was told of both again, so that losers cost PostgreSQL nothing any more.
  await expect
    .poll(async () => store.gate.inspect(seat()))
    .toMatchObject({ sure: true, buyers: 2 });
  expect(await crowd(20)).toEqual({ "409 sold-out": 20 });
  for (const [index, fan] of winners.entries()) {
    expect(await (await world.buy(fan, { body: body() })).json()).toEqual(orders[index]);
    const spent = await world.buy(fan, { body: body(), key: "2" });
    expect(await wordOf(spent)).toBe("409 already-spent");
  }
});

test("a button pressed 30 times at once over three instances: one order, and every answer is right", async () => {
  await sell(1);
  const fan = await world.fan();
  const presses = (key: (index: number) => string) =>
    many(30, (index) => world.buy(fan, { body: body(), base: bases[index % 3]!, key: key(index) }));
  const equal = await Promise.all(presses(() => "1"));
  const orders = new Set(await Promise.all(equal.map((answer) => answer.text())));
  expect([new Set(equal.map(({ status }) => status)), orders.size]).toEqual([new Set([201]), 1]);
  expect(await words(presses((index) => `other-${index}`))).toEqual({ "409 already-spent": 30 });
  const mixed = many(20, (index) => world.buy(fan, { body: body(1 + (index % 2)) }));
  expect(await words(mixed)).toEqual({ "201": 10, "422 idempotency-mismatch": 10 });
});

describe("holds", () => {
  const hold = (fan: Parameters<PurchaseWorld["buy"]>[0], key = "1") =>
    world.buy(fan, { path: "holds", body: body(), key });

  test("the last piece held is sold out for others; its buyer sees it and finishes", async () => {
    await sell(1);
    const [buyer, other] = [await world.fan(), await world.fan()];
    const held = await hold(buyer);
    expect(held.status).toBe(201);
    const { holdId } = (await held.json()) as { holdId: string };
    expect(await wordOf(await world.buy(other, { body: body() }))).toBe("409 sold-out");
    expect(await (await hold(buyer)).json()).toMatchObject({ holdId, state: "held" });
    for (const path of ["holds", "purchases"]) {
      const again = await world.buy(buyer, { path, body: body(), key: `again-${path}` });
      expect(await again.json()).toMatchObject({
        type: "urn:vestibule:problem:already-spent",
        holdId,
      });
    }
    const confirmed = await world.buy(buyer, {
      path: `holds/${holdId}/confirm`,
      body: { paymentReference: "pay-1" },
      headers: { Authorization: `Bearer ${SHOP_TOKEN}` },
    });
    expect(confirmed.status).toBe(201);
    expect(await books()).toEqual({ sold: 1, ordered: 1 });
  });

  test("one that is cancelled, or runs out, is for sale again within a moment", async () => {
    await sell(1);
    for (const end of ["cancelled", "expired"] as const) {
      const buyer = await world.fan();
      const held = await hold(buyer);
      expect(held.status).toBe(201);
      const { holdId } = (await held.json()) as { holdId: string };
      if (end === "cancelled") {
        await world.buy(buyer, { path: `holds/${holdId}/cancel`, body: {} });
      } else {
        await world.database.sql`
          update holds set expires_at = clock_timestamp() where hold_id = ${holdId}`;
      }
      await expect.poll(leftAtGate, { timeout: 4_000 }).toBe(1);
      const { status } = await world.get(`/v1/events/${EVENT}/holds/${holdId}`, {
        "Vestibule-Visitor": buyer.visitor,
      });
      expect(status).toBe(200);
    }
    expect(await crowd(10)).toEqual({ "201": 1, "409 sold-out": 9 });
  });

  test("200 holds at once of three pieces: three are held", async () => {
    await sell(3);
    const fans = await Promise.all(many(200, () => world.fan()));
    const answers = fans.map((fan, index) =>
      world.buy(fan, { path: "holds", body: body(), base: bases[index % 3]! }),
    );
    expect(await words(answers)).toEqual({ "201": 3, "409 sold-out": 197 });
  });
});

test("stock that the organizer raises is for sale at once, on every instance", async () => {
  await sell(1);
  expect(await crowd(6)).toEqual({ "201": 1, "409 sold-out": 5 });
  await sell2(4);
  expect(await crowd(6)).toEqual({ "201": 3, "409 sold-out": 3 });
  async function sell2(total: number): Promise<void> {
    await world.setStock(EVENT, sku, total);
    await expect.poll(leftAtGate).toBe(3);
  }
});

test("made-up skus are 404, and their names never reach the store", async () => {
  const fan = await world.fan();
  const before = store.reservations;
  for (let names = 0; names < 20; names += 1) {
    const answer = await world.buy(fan, { body: { sku: `made-up-${names}`, quantity: 1 } });
    expect(await wordOf(answer)).toBe("404 not-found");
  }
  expect(store.reservations).toBe(before);
});

test("switched off, the gate is not asked, and PostgreSQL decides", async () => {
  await sell(1);
  const plain = await world.another(23, { config: { gateEnabled: false } });
  const before = store.reservations;
  const fans = await Promise.all(many(50, () => world.fan()));
  const answers = fans.map((fan) => world.buy(fan, { base: plain.url, body: body() }));
  expect(await words(answers)).toEqual({ "201": 1, "409 sold-out": 49 });
  expect(store.reservations).toBe(before);
  await plain.stop();
});
