import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  EVENT,
  type LedgerWorld,
  SKU,
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
const ALICE = { visitor: "alice", buyer: "user:alice" };
const totalOf = async (buyer: string): Promise<number | undefined> => {
  const [row] = await world.database.sql<{ quantity: number }[]>`
    select quantity from buyer_totals where event = ${EVENT} and sku = ${SKU} and buyer = ${buyer}`;
  return row?.quantity;
};
const aliceBuys = (number: number, quantity = 1) =>
  world.ledger.purchase(attemptOf(number, { ...ALICE, idempotencyKey: `${number}`, quantity }));
const aliceHolds = (number: number, quantity = 1) =>
  world.ledger.hold(attemptOf(number, { ...ALICE, idempotencyKey: `${number}`, quantity }));

describe("a buyer's limit, over all of their admissions", () => {
  test("50 purchases at once with admissions of their own get what one buyer may have", async () => {
    await world.put(100, { perBuyerMax: 4 });
    const outcomes = await Promise.all(many(50, (index) => aliceBuys(index + 1)));
    expect(tally(outcomes)).toEqual({ bought: 4, "buyer-limit": 46 });
    expect(await totalOf("user:alice")).toBe(4);
    expect(await world.books()).toEqual({ sold: 4, ordered: 4, orders: 4, spends: 4 });
    expect(await world.ledger.purchase(attemptOf(60))).toMatchObject({ kind: "bought" });
  });

  test("it is the buyer's, whatever visitors they come as, in holds and purchases alike", async () => {
    await world.put(100, { perBuyerMax: 5 });
    const outcomes = await Promise.all(
      many(40, (index) => {
        const attempt = attemptOf(index + 1, { buyer: "user:bob", quantity: 2 });
        return index % 2 === 0 ? world.ledger.hold(attempt) : world.ledger.purchase(attempt);
      }),
    );
    const counts = tally(outcomes);
    expect((counts["held"] ?? 0) + (counts["bought"] ?? 0)).toBe(2);
    expect(counts["buyer-limit"]).toBe(38);
    expect(await totalOf("user:bob")).toBe(4);
  });

  test("a hold that ends unsold gives it back, one that is confirmed does not", async () => {
    await world.put(100, { perBuyerMax: 4 });
    const held = await Promise.all(many(4, (index) => aliceHolds(index + 1)));
    const holds = held.flatMap((each) => (each.kind === "held" ? [each.hold] : []));
    const [confirmed, cancelled, failed, expired] = holds.map(({ event, holdId }) => ({
      event,
      holdId,
    }));
    if (!confirmed || !cancelled || !failed || !expired) throw new Error("no holds");
    expect(await aliceBuys(9)).toEqual({ kind: "buyer-limit" });
    await world.holds.confirm({ ...confirmed, paymentReference: "p", orderId: "o", now: NOW });
    await world.holds.cancel({ ...cancelled, by: { kind: "shop" } });
    await world.holds.fail(failed);
    await world.age(expired.holdId);
    await world.holds.sweep();
    expect(await totalOf("user:alice")).toBe(1);
    await Promise.all([world.holds.fail(failed), world.holds.fail(expired)]);
    expect(await totalOf("user:alice")).toBe(1);
    expect(await aliceBuys(10, 3)).toMatchObject({ kind: "bought" });
    expect(await aliceBuys(11)).toEqual({ kind: "buyer-limit" });
  });

  test("refused it leaves admission and stock alone, and says nothing of others", async () => {
    await world.put(2, { perBuyerMax: 1 });
    expect(await aliceBuys(1, 2)).toEqual({ kind: "buyer-limit" });
    expect(await totalOf("user:alice")).toBeUndefined();
    expect(await world.books()).toEqual({ sold: 0, ordered: 0, orders: 0, spends: 0 });
    expect(await aliceBuys(1)).toMatchObject({ kind: "bought" });
    expect(await aliceBuys(2, 2)).toEqual({ kind: "sold-out" });
  });

  test("set in the middle of a sale it counts from then on, and a hold from before takes nothing off", async () => {
    await world.put(10);
    const before = await aliceHolds(1, 2);
    await world.put(10, { perBuyerMax: 2 });
    expect(await aliceBuys(2, 2)).toMatchObject({ kind: "bought" });
    if (before.kind !== "held") throw new Error(before.kind);
    const { event, holdId } = before.hold;
    await world.holds.cancel({ event, holdId, by: { kind: "shop" } });
    expect(await totalOf("user:alice")).toBe(2);
    expect(await aliceBuys(3)).toEqual({ kind: "buyer-limit" });
    await world.put(10);
    expect(await aliceBuys(3)).toEqual({ kind: "buyer-limit" });
    await world.put(10, { perBuyerMax: null });
    expect(await aliceBuys(3)).toMatchObject({ kind: "bought" });
  });
});

describe("a sku that only users of the shop may have", () => {
  const anonymous = attemptOf(1, { buyer: "visitor-1" });
  const ann = attemptOf(1, { buyer: "user:ann" });

  test("is neither bought nor held by somebody whom the shop did not name, and nothing is spent", async () => {
    await world.put(10, { buyers: "users", perBuyerMax: 1 });
    expect(await world.ledger.purchase(anonymous)).toEqual({ kind: "users-only" });
    expect(await world.ledger.hold(anonymous)).toEqual({ kind: "users-only" });
    expect(await world.books()).toEqual({ sold: 0, ordered: 0, orders: 0, spends: 0 });
    expect(await world.ledger.purchase(ann)).toMatchObject({ kind: "bought" });
    // Whatever else would refuse them: nobody learns more.
    await world.put(1);
    expect(await world.ledger.purchase(attemptOf(2))).toEqual({ kind: "users-only" });
  });

  test("is what the organizer says it is, at once and both ways", async () => {
    await world.put(10);
    expect(await world.ledger.purchase(anonymous)).toMatchObject({ kind: "bought" });
    await world.put(10, { buyers: "users" });
    // The answer to what was bought before is theirs.
    expect(await world.ledger.purchase(anonymous)).toMatchObject({ kind: "bought" });
    expect(await world.ledger.purchase(attemptOf(2))).toEqual({ kind: "users-only" });
    await world.put(10, { buyers: null });
    expect(await world.ledger.purchase(attemptOf(2))).toMatchObject({ kind: "bought" });
  });
});

describe("amounts are exact", () => {
  const price = { minor: "999999999999999", currency: "JPY" };
  const amount = { minor: "96999999999999903", currency: "JPY" }; // 97 pieces: beyond 2^53

  test("beyond 2^53, in the answer, the repeated answer and the order", async () => {
    await world.put(1_000, { price });
    const bought = await world.ledger.purchase(attemptOf(1, { quantity: 97 }));
    expect(bought).toMatchObject({ kind: "bought", order: { amount } });
    const again = await world.ledger.purchase(attemptOf(1, { quantity: 97 }));
    expect(again).toMatchObject({ kind: "bought", order: { amount } });
    if (bought.kind !== "bought") throw new Error(bought.kind);
    const { orderId } = bought.order;
    expect(await world.ledger.order({ event: EVENT, visitor: "visitor-1", orderId })).toEqual(
      bought.order,
    );
    expect(await world.stock.get(EVENT, SKU)).toMatchObject({ price });
    expect(await world.stock.view(EVENT)).toEqual([
      { sku: SKU, available: true, price, holdSeconds: 600, holdExtensionSeconds: 600 },
    ]);
  });

  test("a hold keeps the price it began with, also in its order", async () => {
    await world.put(1_000, { price });
    const outcome = await world.ledger.hold(attemptOf(1, { quantity: 97 }));
    if (outcome.kind !== "held") throw new Error(outcome.kind);
    expect(outcome.hold.amount).toEqual(amount);
    await world.put(1_000, { price: { minor: "1", currency: "EUR" } });
    const { event, holdId } = outcome.hold;
    const confirmation = { event, holdId, paymentReference: "p", orderId: "o", now: NOW };
    const first = await world.holds.confirm(confirmation);
    expect(first).toMatchObject({ kind: "confirmed", order: { amount } });
    expect(await world.holds.confirm(confirmation)).toEqual(first);
    expect(await world.ledger.hold(attemptOf(1, { quantity: 97 }))).toMatchObject({
      hold: { state: "confirmed", orderId: "o", amount },
    });
    await world.put(1_000, { price: null });
    const without = await world.ledger.purchase(attemptOf(2));
    if (without.kind !== "bought") throw new Error(without.kind);
    expect(without.order).not.toHaveProperty("amount");
  });
});
