import { type Database, connectDatabase } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { epochMs } from "@vestibule/kernel/units";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { type Ledger, type SpendRequest, createLedger } from "../src/ledger.ts";
import { type Stock, createStock } from "../src/stock.ts";

export const EVENT = "spring";
export const SKU = "seat";

export interface LedgerWorld {
  readonly url: string;
  readonly database: Database;
  readonly ledger: Ledger;
  readonly stock: Stock;
  /** Another process: connections of its own, the same database. */
  another(): { readonly database: Database; readonly ledger: Ledger };
  /** What the tables say, which must agree whatever happened. */
  books(): Promise<{ sold: number; ordered: number; orders: number; spends: number }>;
  close(): Promise<void>;
}

export async function ledgerWorld(): Promise<LedgerWorld> {
  const url = await freshDatabase();
  const opened: Database[] = [];
  const open = (): Database => {
    const options = { url, applicationName: "ledger-test", connectionsMax: 20, deadlineMs: 20_000 };
    const database = connectDatabase({
      ...options,
      statementTimeoutMs: 15_000,
      lockTimeoutMs: 15_000,
    });
    opened.push(database);
    return database;
  };
  const database = open();
  await migrate(database, {
    namespace: "purchase",
    directory: new URL("../migrations/", import.meta.url),
  });
  return {
    url,
    database,
    ledger: createLedger(database),
    stock: createStock(database),
    another: () => {
      const other = open();
      return { database: other, ledger: createLedger(other) };
    },
    books: async () => {
      const [row] = await database.sql<
        { sold: number; ordered: number; orders: number; spends: number }[]
      >`select (select coalesce(sum(sold), 0)::int from stock) as sold,
               (select coalesce(sum(quantity), 0)::int from orders) as ordered,
               (select count(*)::int from orders) as orders,
               (select count(*)::int from spends) as spends`;
      if (row === undefined) throw new Error("no books");
      return row;
    },
    close: async () => {
      await Promise.all(opened.map((each) => each.close()));
    },
  };
}

let orderCount = 0;

/** A purchase by the fan with place `number`; every fan has an admission of their own. */
export function attemptOf(
  number: number,
  change: Partial<SpendRequest & { sku: string; quantity: number }> = {},
): SpendRequest & { sku: string; quantity: number; orderId: string } {
  orderCount += 1;
  return {
    event: EVENT,
    sku: SKU,
    quantity: 1,
    visitor: `visitor-${number}`,
    jti: `admission-${number}`,
    number,
    idempotencyKey: "1",
    now: epochMs(1_767_225_600_000),
    orderId: `order-${orderCount}`,
    ...change,
  };
}

/** How many outcomes there are of each kind. */
export function tally(outcomes: readonly { readonly kind: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of outcomes) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** `count` things, made by place. */
export function many<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
