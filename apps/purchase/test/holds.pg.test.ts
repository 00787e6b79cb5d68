import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hold } from "../src/ledger-types.ts";
import {
  EVENT,
  type LedgerWorld,
  SKU,
  answerOf,
  attemptOf,
  ledgerWorld,
  many,
  tally,
} from "./ledger-world.ts";

let world: LedgerWorld;
beforeEach(async () => {
  world = await ledgerWorld();
});
afterEach(() => world.close());

const NOW = attemptOf(1).now;
const shop = { kind: "shop" } as const;
const buyer = (number: number) => ({ kind: "buyer", visitor: `visitor-${number}` }) as const;
const nameOf = ({ event, holdId }: Hold) => ({ event, holdId });
const stockNow = async () => {
  const row = await world.stock.get(EVENT, SKU);
  return row && [row.sold, row.held, row.remaining];
};

async function holdBy(number: number, change: Parameters<typeof attemptOf>[1] = {}): Promise<Hold> {
  const outcome = await world.ledger.hold(attemptOf(number, change));
  if (outcome.kind !== "held") throw new Error(outcome.kind);
  return outcome.hold;
}
const confirm = (hold: Hold, paymentReference = "pay-1", orderId = `order-of-${hold.holdId}`) =>
  world.holds.confirm({ ...nameOf(hold), paymentReference, orderId, now: NOW });

describe("a hold keeps seats and ends once", () => {
  test("it lowers what remains, says until when, and becomes exactly one order", async () => {
    await world.put(5, { holdSeconds: 60, holdExtensionSeconds: 30 });
    const outcome = await world.ledger.hold(attemptOf(1, { quantity: 2 }));
    if (outcome.kind !== "held") throw new Error(outcome.kind);
    const { hold } = outcome;
    expect(outcome).toMatchObject({ jti: "admission-1", left: 3 });
    expect(hold).toMatchObject({ event: EVENT, sku: SKU, quantity: 2, number: 1, state: "held" });
    expect(hold.expiresAt - hold.heldAt).toBe(60_000);
    expect(hold.extendableTo).toBe(hold.expiresAt + 30_000);
    expect(Math.abs(hold.heldAt - Date.now())).toBeLessThan(10_000);
    expect(await stockNow()).toEqual([0, 2, 3]);

    const first = await confirm(hold);
    expect(first).toEqual({
      kind: "confirmed",
      order: {
        orderId: `order-of-${hold.holdId}`,
        event: EVENT,
        sku: SKU,
        quantity: 2,
        number: 1,
        purchasedAt: NOW,
      },
    });
    expect(await stockNow()).toEqual([2, 0, 3]);
    expect(await confirm(hold, "pay-1", "another-order")).toEqual(first);
    expect(await confirm(hold, "pay-2")).toEqual({ kind: "conflict", state: "confirmed" });
    expect(await world.holds.cancel({ ...nameOf(hold), by: shop })).toEqual({
      kind: "conflict",
      state: "confirmed",
    });
    expect(await world.holds.fail(nameOf(hold))).toEqual({ kind: "conflict", state: "confirmed" });
    expect(await world.holds.get({ ...nameOf(hold), by: buyer(1) })).toMatchObject({
      state: "confirmed",
      orderId: `order-of-${hold.holdId}`,
    });
    const { order } = first as { order: { orderId: string } };
    expect(
      await world.ledger.order({ event: EVENT, visitor: "visitor-1", orderId: order.orderId }),
    ).toEqual(order);
    expect(await world.books()).toEqual({ sold: 2, ordered: 2, orders: 1, spends: 1 });
    expect(world.news.slice(1)).toEqual([]);
  });

  test("one seat and 200 holds at once: one holds it, 199 hear sold out", async () => {
    await world.put(1);
    const outcomes = await Promise.all(
      many(200, (index) => world.ledger.hold(attemptOf(index + 1))),
    );
    expect(tally(outcomes)).toEqual({ held: 1, "sold-out": 199 });
    expect(await stockNow()).toEqual([0, 1, 0]);
  });

  test("holds and purchases together never give away more than there is", async () => {
    await world.put(30);
    const outcomes = await Promise.all(
      many(100, (index) =>
        index % 2 === 0
          ? world.ledger.hold(attemptOf(index))
          : world.ledger.purchase(attemptOf(index)),
      ),
    );
    const counts = tally(outcomes);
    expect((counts["held"] ?? 0) + (counts["bought"] ?? 0)).toBe(30);
    expect(counts["sold-out"]).toBe(70);
    expect(await stockNow()).toEqual([counts["bought"] ?? 0, counts["held"] ?? 0, 0]);
  });

  test("IG-10: five holds of two with five left: two of them hold, one seat stays", async () => {
    await world.put(5);
    expect(await world.ledger.hold(attemptOf(9, { quantity: 6 }))).toEqual({ kind: "sold-out" });
    const outcomes = await Promise.all(
      many(5, (index) => world.ledger.hold(attemptOf(index + 1, { quantity: 2 }))),
    );
    expect(tally(outcomes)).toEqual({ held: 2, "sold-out": 3 });
    expect(await stockNow()).toEqual([0, 4, 1]);
    expect(await world.ledger.hold(attemptOf(9))).toMatchObject({ kind: "held", left: 0 });
  });

  test("20 equal holds at once are one hold, and its key is used for nothing else", async () => {
    await world.put(10);
    const outcomes = await Promise.all(many(20, () => world.ledger.hold(attemptOf(1))));
    expect(tally(outcomes)).toEqual({ held: 20 });
    expect(new Set(outcomes.map(answerOf)).size).toBe(1);
    expect(await stockNow()).toEqual([0, 1, 9]);
    for (const other of [
      world.ledger.hold(attemptOf(1, { quantity: 2 })),
      world.ledger.purchase(attemptOf(1)),
      world.ledger.spend(attemptOf(1)),
    ]) {
      expect(await other).toEqual({ kind: "idempotency-mismatch" });
    }
  });

  test("IG-09: its own admission never sees sold out, is shown the hold, and can finish", async () => {
    await world.put(1);
    const hold = await holdBy(1);
    const again = [
      world.ledger.hold(attemptOf(1)), // reloaded: the same key
      world.ledger.hold(attemptOf(1, { idempotencyKey: "2" })), // a second tab
      world.ledger.hold(attemptOf(1, { idempotencyKey: "3", quantity: 2 })), // another quantity
      world.ledger.purchase(attemptOf(1, { idempotencyKey: "4" })),
    ];
    const [same, ...others] = await Promise.all(again);
    expect(same).toMatchObject({ kind: "held", hold });
    for (const other of others) {
      expect(other).toEqual({ kind: "already-spent", holdId: hold.holdId });
    }
    expect(await stockNow()).toEqual([0, 1, 0]);
    const confirmed = await confirm(hold);
    if (confirmed.kind !== "confirmed") throw new Error(confirmed.kind);
    expect(await world.ledger.hold(attemptOf(1, { idempotencyKey: "5" }))).toEqual({
      kind: "already-spent",
      orderId: confirmed.order.orderId,
    });
  });

  test("cancelled twice by its buyer it gives back once, and the admission stays spent", async () => {
    await world.put(3);
    const hold = await holdBy(1, { quantity: 2 });
    const cancel = () => world.holds.cancel({ ...nameOf(hold), by: buyer(1) });
    const outcomes = await Promise.all(many(10, cancel));
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ kind: "done", hold: { state: "cancelled" } });
    }
    expect(await stockNow()).toEqual([0, 0, 3]);
    expect(world.news).toContainEqual({ event: EVENT, sku: SKU });
    expect(await confirm(hold)).toEqual({ kind: "conflict", state: "cancelled" });
    expect(await world.ledger.purchase(attemptOf(1, { idempotencyKey: "2" }))).toEqual({
      kind: "already-spent",
    });
    expect(await world.ledger.hold(attemptOf(1, { quantity: 2 }))).toMatchObject({
      kind: "held",
      hold: { state: "cancelled" },
    });
  });

  test("IG-02: a failure told three times at once gives back once and frees the admission once", async () => {
    await world.put(3);
    const hold = await holdBy(1, { quantity: 2 });
    const outcomes = await Promise.all(many(3, () => world.holds.fail(nameOf(hold))));
    const unspent = {
      event: EVENT,
      visitor: "visitor-1",
      jti: "admission-1",
      number: 1,
      slot: attemptOf(1).slot,
    };
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ kind: "done", hold: { state: "failed" }, unspent });
    }
    expect(await stockNow()).toEqual([0, 0, 3]);
    expect((await world.books()).spends).toBe(0);
    // The key keeps its answer; the admission buys with another one.
    expect(await world.ledger.hold(attemptOf(1, { quantity: 2 }))).toMatchObject({
      kind: "held",
      hold: { holdId: hold.holdId, state: "failed" },
    });
    expect(await world.ledger.purchase(attemptOf(1))).toEqual({ kind: "idempotency-mismatch" });
    expect(await world.ledger.spend(attemptOf(1))).toEqual({ kind: "idempotency-mismatch" });
    const retry = attemptOf(1, { idempotencyKey: "2" });
    expect(await world.ledger.purchase(retry)).toMatchObject({ kind: "bought" });
    // A fourth, late delivery does not free the admission of the order.
    expect(await world.holds.fail(nameOf(hold))).toMatchObject({ kind: "done" });
    expect(await world.books()).toEqual({ sold: 1, ordered: 1, orders: 1, spends: 1 });
    expect(await stockNow()).toEqual([1, 0, 2]);
  });

  test("IG-03: a failure a day later frees the admission and gives nothing back a second time", async () => {
    await world.put(3);
    const [expired, cancelled] = [await holdBy(1), await holdBy(2)];
    await world.age(expired.holdId);
    expect(await world.holds.sweep()).toBe(1);
    await world.holds.cancel({ ...nameOf(cancelled), by: buyer(2) });
    expect(await stockNow()).toEqual([0, 0, 3]);
    for (const hold of [expired, cancelled]) {
      expect(await world.holds.fail(nameOf(hold))).toMatchObject({
        kind: "done",
        hold: { state: "failed" },
      });
    }
    expect(await stockNow()).toEqual([0, 0, 3]);
    expect((await world.books()).spends).toBe(0);
  });

  test("1,200 holds that end at once are given back by one sweep", async () => {
    await world.put(2_000);
    await world.database.sql`update stock set held = 1200 where event = ${EVENT} and sku = ${SKU}`;
    await world.database.sql`
      insert into holds (hold_id, event, sku, quantity, number, visitor, buyer, counted, jti, slot,
                         idempotency_key, request, held_at, expires_at, extension_seconds)
      select 'due-' || n, ${EVENT}, ${SKU}, 1, n, 'v-' || n, 'v-' || n, false, 'j-' || n, 0, '1',
             'hold', now() - interval '2 seconds', now() - interval '1 second', 0
        from generate_series(1, 1200) as n`;
    expect(await world.holds.sweep()).toBe(1_200);
    expect(await world.stock.get(EVENT, SKU)).toMatchObject({ held: 0, remaining: 2_000 });
  });

  test("a hold that nobody finishes gives its seats back at the next sweep, and says so", async () => {
    await world.put(2);
    const hold = await holdBy(1, { quantity: 2 });
    expect(await world.holds.sweep()).toBe(0);
    await world.age(hold.holdId);
    expect(await world.holds.get({ ...nameOf(hold), by: shop })).toMatchObject({
      state: "expired",
    });
    expect(await confirm(hold)).toEqual({ kind: "over" });
    expect(await world.holds.cancel({ ...nameOf(hold), by: buyer(1) })).toEqual({ kind: "over" });
    expect(await stockNow()).toEqual([0, 2, 0]);
    world.news.length = 0;
    expect(await world.holds.sweep()).toBe(1);
    expect(await world.holds.sweep()).toBe(0);
    expect(world.news).toEqual([{ event: EVENT, sku: SKU }]);
    expect(await stockNow()).toEqual([0, 0, 2]);
    expect(await confirm(hold)).toEqual({ kind: "over" });
    expect(await world.ledger.hold(attemptOf(1, { idempotencyKey: "2" }))).toEqual({
      kind: "already-spent",
    });
  });
});

describe("a buyer may have it longer, once", () => {
  test("by what was offered when it began, and asked again it is the same", async () => {
    await world.put(2, { holdSeconds: 60, holdExtensionSeconds: 45 });
    const hold = await holdBy(1);
    await world.put(2, { holdSeconds: 60, holdExtensionSeconds: 0 });
    const extend = () => world.holds.extend({ ...nameOf(hold), visitor: "visitor-1" });
    const outcomes = await Promise.all(many(10, extend));
    expect(new Set(outcomes.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(outcomes[0]).toMatchObject({ kind: "done", hold: { expiresAt: hold.extendableTo } });
    expect(JSON.stringify(outcomes[0])).not.toMatch(/extendableTo/);
    const unoffered = await holdBy(2);
    expect(unoffered.extendableTo).toBeUndefined();
    expect(await world.holds.extend({ ...nameOf(unoffered), visitor: "visitor-2" })).toEqual({
      kind: "conflict",
      state: "held",
    });
  });

  test("not when it is over, ended, or somebody else's", async () => {
    await world.put(3);
    const [over, ended, other] = [await holdBy(1), await holdBy(2), await holdBy(3)];
    await world.age(over.holdId);
    await confirm(ended);
    const extend = (hold: Hold, visitor: string) =>
      world.holds.extend({ ...nameOf(hold), visitor });
    expect(await extend(over, "visitor-1")).toEqual({ kind: "over" });
    expect(await extend(ended, "visitor-2")).toEqual({ kind: "conflict", state: "confirmed" });
    expect(await extend(other, "visitor-1")).toEqual({ kind: "no-such-hold" });
    const elsewhere = { event: "autumn", holdId: other.holdId };
    expect(await world.holds.extend({ ...elsewhere, visitor: "visitor-3" })).toEqual({
      kind: "no-such-hold",
    });
    expect(await world.holds.get({ ...elsewhere, by: shop })).toBeUndefined();
    expect(await world.holds.get({ ...nameOf(other), by: buyer(1) })).toBeUndefined();
    expect(await world.holds.cancel({ ...nameOf(other), by: buyer(1) })).toEqual({
      kind: "no-such-hold",
    });
    expect(await world.holds.get({ ...nameOf(other), by: buyer(3) })).toEqual(other);
  });
});

test("the organizer cannot lower the stock below what is sold and held", async () => {
  await world.put(5);
  await holdBy(1, { quantity: 3 });
  await world.ledger.purchase(attemptOf(2));
  expect(await world.put(3)).toBeUndefined();
  expect(await world.put(4)).toMatchObject({ total: 4, sold: 1, held: 3, remaining: 0 });
  await expect(world.database.sql`update stock set held = 4`).rejects.toThrow(
    /stock_never_oversold/,
  );
  expect(
    await world.ledger.standing({ event: EVENT, sku: SKU, jtis: ["admission-2", "x"] }),
  ).toEqual({
    left: 0,
    taken: 4,
    perPurchaseMax: 100,
    spent: [{ jti: "admission-2", quantity: 1 }],
  });
  expect(await world.ledger.standing({ event: EVENT, sku: "none", jtis: [] })).toBeUndefined();
});
