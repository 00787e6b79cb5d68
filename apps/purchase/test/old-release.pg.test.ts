import { readFile } from "node:fs/promises";
import { connectDatabase, type Database } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EVENT, type LedgerWorld, SKU, attemptOf, ledgerWorld, many } from "./ledger-world.ts";

let world: LedgerWorld;
beforeEach(async () => {
  world = await ledgerWorld();
});
afterEach(() => world.close());

/** The purchase statement of the release that knew migration 1 only. */
async function oldPurchase(database: Database, number: number): Promise<string | undefined> {
  const [row] = await database.sql<{ order_id: string }[]>`
    with taken as (
      update stock set sold = sold + 1
       where event = ${EVENT} and sku = ${SKU} and sold + 1 <= total and 1 <= per_purchase_max
         and not exists (select from spends where jti = ${`old-${number}`})
      returning 1
    ), spent as (
      insert into spends
        (jti, event, visitor, number, idempotency_key, request, order_id, spent_at)
      select ${`old-${number}`}, ${EVENT}, ${`visitor-${number}`}, ${number}, 'old',
             ${`purchase:${SKU}:1`}, ${`old-order-${number}`}, 1
        from taken
      returning order_id
    )
    insert into orders (order_id, event, sku, quantity, number, visitor, jti, purchased_at)
    select order_id, ${EVENT}, ${SKU}, 1, ${number}, ${`visitor-${number}`}, ${`old-${number}`}, 1
      from spent
    returning order_id`;
  return row?.order_id;
}

test("the release before runs beside this one, and can never sell what is held", async () => {
  await world.database.sql`
    insert into stock (event, sku, total, per_purchase_max, show_remaining)
    values (${EVENT}, ${SKU}, 40, 10, false)`;
  const outcomes = await Promise.allSettled(
    many(90, async (index) => {
      if (index % 3 === 0) return oldPurchase(world.database, index);
      const attempt = attemptOf(index);
      const outcome =
        index % 3 === 1 ? await world.ledger.hold(attempt) : await world.ledger.purchase(attempt);
      return outcome.kind;
    }),
  );
  for (const each of outcomes) {
    if (each.status === "rejected") expect(String(each.reason)).toMatch(/stock_never_oversold/);
  }
  const row = await world.stock.get(EVENT, SKU);
  expect(row?.remaining).toBe(0);
  const { sold, ordered } = await world.books();
  expect(sold).toBe(ordered);
  expect(await oldPurchase(world.database, 1_000).catch(() => "refused")).not.toBe(
    "old-order-1000",
  );
});

test("an order of the release before is answered, and its admission stays spent", async () => {
  await world.put(10);
  expect(await oldPurchase(world.database, 1)).toBe("old-order-1");
  const attempt = attemptOf(1, { jti: "old-1", idempotencyKey: "old" });
  expect(await world.ledger.purchase(attempt)).toMatchObject({
    kind: "bought",
    order: { orderId: "old-order-1" },
  });
  expect(await world.ledger.hold({ ...attempt, idempotencyKey: "new" })).toEqual({
    kind: "already-spent",
    orderId: "old-order-1",
  });
});

test("migration 2 takes what migration 1 left: stock, spends and orders", async () => {
  const url = await freshDatabase();
  const database = connectDatabase({ url, applicationName: "old-release" });
  try {
    const migrations = new URL("../migrations/", import.meta.url);
    const first = await readFile(new URL("0001_stock_spends_orders.sql", migrations), "utf8");
    await database.sql.unsafe(first).simple();
    await database.sql`
      insert into stock (event, sku, total, per_purchase_max, show_remaining)
      values (${EVENT}, ${SKU}, 2, 10, false)`;
    await oldPurchase(database, 1);
    const second = await readFile(
      new URL("0002_holds_limits_prices_supply.sql", migrations),
      "utf8",
    );
    await database.sql.unsafe(second).simple();
    expect(await oldPurchase(database, 2)).toBe("old-order-2");
    expect(await oldPurchase(database, 3)).toBeUndefined();
    const rows = await database.sql`select sold, held, hold_seconds from stock`;
    expect([...rows]).toEqual([{ sold: 2, held: 0, hold_seconds: 600 }]);
    await expect(
      migrate(world.database, { namespace: "purchase", directory: migrations }),
    ).resolves.toEqual([]);
  } finally {
    await database.close();
  }
});
