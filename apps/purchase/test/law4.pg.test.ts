import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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
const stockOf = (total: number) => world.put(total);

beforeEach(async () => {
  world = await ledgerWorld();
});
afterEach(() => world.close());

describe("law 4: a token is spent once", () => {
  test("when 200 purchases with keys of their own use it at the same moment", async () => {
    await stockOf(1_000);
    const outcomes = await Promise.all(
      many(200, (index) => world.ledger.purchase(attemptOf(1, { idempotencyKey: `key-${index}` }))),
    );
    expect(tally(outcomes)).toEqual({ bought: 1, "already-spent": 199 });
    expect(await world.books()).toEqual({ sold: 1, ordered: 1, orders: 1, spends: 1 });
  });

  test("when 100 tokens are each used five times at once", async () => {
    await stockOf(1_000);
    const outcomes = await Promise.all(
      many(500, (index) =>
        world.ledger.purchase(
          attemptOf((index % 100) + 1, { idempotencyKey: `key-${Math.floor(index / 100)}` }),
        ),
      ),
    );
    expect(tally(outcomes)).toEqual({ bought: 100, "already-spent": 400 });
    expect(await world.books()).toEqual({ sold: 100, ordered: 100, orders: 100, spends: 100 });
  });

  test("when two purchase instances are asked, and when one of them is new", async () => {
    await stockOf(1_000);
    const other = world.another();
    const outcomes = await Promise.all(
      many(100, (index) =>
        (index % 2 === 0 ? world : other).ledger.purchase(
          attemptOf(1, { idempotencyKey: `key-${index}` }),
        ),
      ),
    );
    expect(tally(outcomes)).toEqual({ bought: 1, "already-spent": 99 });
    const restarted = world.another();
    const again = await restarted.ledger.purchase(attemptOf(1, { idempotencyKey: "later" }));
    expect(again).toEqual({ kind: "already-spent", orderId: expect.any(String) as string });
  });

  test("when a purchase and bare spends race for it", async () => {
    await stockOf(1_000);
    const outcomes = await Promise.all(
      many(60, (index) => {
        const attempt = attemptOf(1, { idempotencyKey: `key-${index}` });
        return index % 2 === 0 ? world.ledger.purchase(attempt) : world.ledger.spend(attempt);
      }),
    );
    const counts = tally(outcomes);
    expect((counts["bought"] ?? 0) + (counts["spent"] ?? 0)).toBe(1);
    expect(counts["already-spent"]).toBe(59);
    expect((await world.books()).spends).toBe(1);
  });

  test("when it is used for two things at once", async () => {
    await stockOf(1_000);
    await world.put(5, { sku: "parking", perPurchaseMax: 1 });
    const outcomes = await Promise.all(
      many(40, (index) =>
        world.ledger.purchase(
          attemptOf(1, { idempotencyKey: `key-${index}`, sku: index % 2 === 0 ? SKU : "parking" }),
        ),
      ),
    );
    expect(tally(outcomes)).toEqual({ bought: 1, "already-spent": 39 });
    expect(await world.books()).toEqual({ sold: 1, ordered: 1, orders: 1, spends: 1 });
  });
});

describe("law 4: a sale never sells more than its stock", () => {
  test("one seat and 200 buyers make one sale and 199 that hear sold out", async () => {
    await stockOf(1);
    const outcomes = await Promise.all(
      many(200, (index) => world.ledger.purchase(attemptOf(index + 1))),
    );
    expect(tally(outcomes)).toEqual({ bought: 1, "sold-out": 199 });
    expect(await world.books()).toEqual({ sold: 1, ordered: 1, orders: 1, spends: 1 });
  });

  test("five buyers of two with five left: two of them buy, one seat stays available", async () => {
    await stockOf(5);
    const outcomes = await Promise.all(
      many(5, (index) => world.ledger.purchase(attemptOf(index + 1, { quantity: 2 }))),
    );
    expect(tally(outcomes)).toEqual({ bought: 2, "sold-out": 3 });
    expect(await world.ledger.purchase(attemptOf(9))).toMatchObject({ kind: "bought" });
  });

  test("four wanted and three left: nothing is taken, and the token buys three afterwards", async () => {
    await stockOf(3);
    expect(await world.ledger.purchase(attemptOf(1, { quantity: 4 }))).toEqual({
      kind: "sold-out",
    });
    expect(await world.books()).toEqual({ sold: 0, ordered: 0, orders: 0, spends: 0 });
    const second = await world.ledger.purchase(attemptOf(1, { quantity: 3 }));
    expect(second).toMatchObject({ kind: "bought", order: { quantity: 3 } });
  });

  test("the organizer cannot lower the stock below what is sold, also while it sells", async () => {
    await stockOf(50);
    const [outcomes] = await Promise.all([
      Promise.all(many(50, (index) => world.ledger.purchase(attemptOf(index + 1)))),
      Promise.all(many(20, () => stockOf(20))),
    ]);
    const { sold, ordered } = await world.books();
    expect(sold).toBe(ordered);
    expect(sold).toBe(tally(outcomes)["bought"]);
    const row = await world.stock.get(EVENT, SKU);
    expect(row?.sold).toBeLessThanOrEqual(row?.total ?? -1);
  });

  test("the table itself refuses to say that more was sold than there is", async () => {
    await stockOf(1);
    await expect(world.database.sql`update stock set sold = 2`).rejects.toThrow(
      /stock_never_oversold/,
    );
  });
});

describe("law 4, whatever is lost in between", () => {
  test("connections killed in the middle of purchases leave whole purchases or none", async () => {
    await stockOf(10_000);
    const killer = world.another();
    const kill = { on: true };
    const kills = (async () => {
      while (kill.on) {
        await killer.database.sql`
          select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'ledger-test' and pid <> pg_backend_pid()
             and datname = current_database() and query like '%insert into orders%'
             and state <> 'idle' limit 3`;
      }
    })();
    const outcomes = await Promise.allSettled(
      many(300, (index) => world.ledger.purchase(attemptOf(index + 1))),
    );
    kill.on = false;
    await kills;
    const lost = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    for (const reason of lost) {
      expect(reason).toMatchObject({ code: "unavailable" });
      expect(reason).not.toMatchObject({ cause: { code: "DATABASE_DEADLINE" } });
    }
    // Whoever lost the answer asks again with the same key and gets exactly one order.
    await expect
      .poll(async () => {
        const again = await Promise.allSettled(
          many(300, (index) => world.ledger.purchase(attemptOf(index + 1))),
        );
        return again.every((each) => each.status === "fulfilled" && each.value.kind === "bought");
      })
      .toBe(true);
    expect(await world.books()).toEqual({ sold: 300, ordered: 300, orders: 300, spends: 300 });
  });

  test("any interleaving of purchases, repeats and spends keeps the books equal", async () => {
    const step = fc.record({
      fan: fc.integer({ min: 1, max: 6 }),
      key: fc.integer({ min: 1, max: 3 }),
      quantity: fc.integer({ min: 1, max: 4 }),
      bare: fc.boolean(),
    });
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 0, max: 12 }),
        async (steps, total) => {
          round += 1;
          const event = `round-${round}`;
          await world.put(total, { event, perPurchaseMax: 4 });
          const outcomes = await Promise.all(
            steps.map(async ({ fan, key, quantity, bare }) => {
              const attempt = attemptOf(fan, {
                event,
                quantity,
                jti: `${event}-${fan}`,
                idempotencyKey: `${key}`,
              });
              const outcome = bare
                ? await world.ledger.spend(attempt)
                : await world.ledger.purchase(attempt);
              return { fan, key, quantity, bare, outcome };
            }),
          );
          const row = await world.stock.get(event, SKU);
          const orders = await world.database.sql<{ quantity: number; jti: string }[]>`
            select quantity, jti from orders where event = ${event}`;
          const sold = orders.reduce((sum, { quantity }) => sum + quantity, 0);
          expect(row?.sold).toBe(sold);
          expect(sold).toBeLessThanOrEqual(total);
          expect(new Set(orders.map(({ jti }) => jti)).size).toBe(orders.length);
          // Every answer of one fan that says "yes" is the same yes, and it is what the books say.
          for (let fan = 1; fan <= 6; fan += 1) {
            const yes = outcomes.filter(
              (each) => each.fan === fan && ["bought", "spent"].includes(each.outcome.kind),
            );
            expect(new Set(yes.map((each) => answerOf(each.outcome))).size).toBeLessThan(2);
            expect(
              new Set(yes.map(({ key, quantity, bare }) => `${key}/${bare}/${bare ? 0 : quantity}`))
                .size,
            ).toBeLessThan(2);
          }
          expect(tally(outcomes.map(({ outcome }) => outcome))["contended"]).toBeUndefined();
        },
      ),
      { numRuns: 60 },
    );
  });
});
