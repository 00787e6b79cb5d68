import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type LedgerWorld,
  SKU,
  answerOf,
  attemptOf,
  ledgerWorld,
  many,
  tally,
} from "./ledger-world.ts";

let world: LedgerWorld;
beforeAll(async () => {
  world = await ledgerWorld();
  await world.put(1_000);
});
afterAll(() => world.close());

test("20 equal requests at once all get the same order, and it is one order", async () => {
  const before = await world.books();
  const outcomes = await Promise.all(many(20, () => world.ledger.purchase(attemptOf(1))));
  expect(new Set(outcomes.map(answerOf)).size).toBe(1);
  expect(outcomes[0]).toMatchObject({ kind: "bought", order: { number: 1, quantity: 1 } });
  expect((await world.books()).orders).toBe(before.orders + 1);
});

test("20 equal requests for the last seat all get it", async () => {
  const event = "last-seat";
  await world.put(1, { event, perPurchaseMax: 1 });
  const outcomes = await Promise.all(
    many(20, () => world.ledger.purchase(attemptOf(1, { event, jti: "last" }))),
  );
  expect(tally(outcomes)).toEqual({ bought: 20 });
  expect((await world.stock.get(event, SKU))?.sold).toBe(1);
});

test("the same key with another body is refused, before and after an hour", async () => {
  const first = await world.ledger.purchase(attemptOf(2));
  const hourLater = { now: (attemptOf(2).now + 3_600_000) as never };
  const other = await world.ledger.purchase(attemptOf(2, { quantity: 2, ...hourLater }));
  expect(other).toEqual({ kind: "idempotency-mismatch" });
  expect(await world.ledger.spend(attemptOf(2))).toEqual({ kind: "idempotency-mismatch" });
  expect(answerOf(await world.ledger.purchase(attemptOf(2, hourLater)))).toBe(answerOf(first));
});

test("another key with a spent token is refused, and names the order to its own visitor alone", async () => {
  const first = await world.ledger.purchase(attemptOf(3));
  if (first.kind !== "bought") throw new Error(first.kind);
  const { orderId } = first.order;
  const another = attemptOf(3, { idempotencyKey: "2" });
  expect(await world.ledger.purchase(another)).toEqual({ kind: "already-spent", orderId });
  expect(await world.ledger.spend(another)).toEqual({ kind: "already-spent", orderId });
  // No admission says this; should anything ever, it is told nothing of somebody else's.
  expect(await world.ledger.purchase({ ...another, visitor: "somebody" })).toEqual({
    kind: "already-spent",
  });
  await world.ledger.spend(attemptOf(4));
  expect(await world.ledger.purchase(attemptOf(4, { idempotencyKey: "2" }))).toEqual({
    kind: "already-spent",
  });
});

test("strangers may use the same key, and one fan the same key in two events", async () => {
  await world.put(5, { event: "autumn", perPurchaseMax: 1 });
  const [a, b, c] = await Promise.all([
    world.ledger.purchase(attemptOf(10)),
    world.ledger.purchase(attemptOf(11)),
    world.ledger.purchase(attemptOf(10, { event: "autumn", jti: "autumn-10" })),
  ]);
  expect(tally([a, b, c])).toEqual({ bought: 3 });
  expect(new Set([a, b, c].map((each) => JSON.stringify(each))).size).toBe(3);
});

test("a failed purchase leaves token and key unused", async () => {
  await world.put(1, { event: "small", perPurchaseMax: 2 });
  const small = { event: "small", jti: "small-1" };
  expect(await world.ledger.purchase(attemptOf(20, { ...small, sku: "none" }))).toEqual({
    kind: "unknown-sku",
  });
  expect(await world.ledger.purchase(attemptOf(20, { ...small, quantity: 3 }))).toEqual({
    kind: "over-limit",
    perPurchaseMax: 2,
  });
  expect(await world.ledger.purchase(attemptOf(20, { ...small, quantity: 2 }))).toEqual({
    kind: "sold-out",
  });
  expect(await world.ledger.purchase(attemptOf(20, small))).toMatchObject({ kind: "bought" });
});

test("a bare spend is given again to the same key, also to 20 at once", async () => {
  const outcomes = await Promise.all(many(20, () => world.ledger.spend(attemptOf(30))));
  expect(new Set(outcomes.map((each) => JSON.stringify(each))).size).toBe(1);
  expect(outcomes[0]).toMatchObject({ kind: "spent", spend: { number: 30 } });
});

test("an earlier answer is recalled for its visitor only", async () => {
  const bought = await world.ledger.purchase(attemptOf(40));
  const { event, visitor, idempotencyKey } = attemptOf(40);
  const request = { kind: "purchase", sku: SKU, quantity: 1 } as const;
  expect(await world.ledger.recall({ event, visitor, idempotencyKey }, request)).toEqual({
    ...bought,
    left: undefined,
  });
  const stranger = { event, visitor: "visitor-41", idempotencyKey };
  expect(await world.ledger.recall(stranger, request)).toBeUndefined();
  if (bought.kind !== "bought") throw new Error("not bought");
  const { orderId } = bought.order;
  expect(await world.ledger.order({ event, visitor, orderId })).toEqual(bought.order);
  expect(await world.ledger.order({ ...stranger, orderId })).toBeUndefined();
});
