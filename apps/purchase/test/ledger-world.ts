import { parse } from "@vestibule/contracts/parse";
import { type Database, connectDatabase } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { epochMs, epochSeconds } from "@vestibule/kernel/units";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { type StockSettings, stockSettingsSchema } from "@vestibule/contracts/purchase-api";
import { createHolds } from "../src/holds.ts";
import { createLedger } from "../src/ledger.ts";
import type {
  HoldOrder,
  Holds,
  Ledger,
  LedgerOutcome,
  PurchaseOrder,
  SkuRef,
} from "../src/ledger-types.ts";
import { type Stock, type StockRow, createStock } from "../src/stock.ts";

export const EVENT = "spring";
export const SKU = "seat";

export interface LedgerWorld {
  readonly url: string;
  readonly database: Database;
  readonly ledger: Ledger;
  readonly holds: Holds;
  readonly stock: Stock;
  /** What came back, in the order of the notices. */
  readonly news: SkuRef[];
  /** Another process: connections of its own, the same database. */
  another(options?: { url?: string; connectionsMax?: number }): {
    readonly database: Database;
    readonly ledger: Ledger;
    readonly holds: Holds;
  };
  /** Stock of the usual event and sku. */
  put(total: number, change?: Partial<StockSettings & SkuRef>): Promise<StockRow | undefined>;
  /** Lets the time of a hold be over, without waiting for it. */
  age(holdId: string): Promise<void>;
  /** What the tables say, which must agree whatever happened. */
  books(): Promise<{ sold: number; ordered: number; orders: number; spends: number }>;
  close(): Promise<void>;
}

export async function ledgerWorld(): Promise<LedgerWorld> {
  const url = await freshDatabase();
  const opened: Database[] = [];
  const open = (change: { url?: string; connectionsMax?: number } = {}): Database => {
    const usual = { url, applicationName: "ledger-test", connectionsMax: 20, deadlineMs: 20_000 };
    const options = { ...usual, ...change };
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
  const news: SkuRef[] = [];
  const cameBack = (of: SkuRef): void => void news.push(of);
  const stock = createStock(database, { cameBack });
  return {
    url,
    database,
    ledger: createLedger(database),
    holds: createHolds(database, { cameBack }),
    stock,
    news,
    another: (options) => {
      const other = open(options);
      return {
        database: other,
        ledger: createLedger(other),
        holds: createHolds(other, { cameBack }),
      };
    },
    put: async (total, { event = EVENT, sku = SKU, ...change } = {}) => {
      const settings = parse(stockSettingsSchema, { total, ...change });
      if (!settings.ok) throw new Error("no settings");
      return stock.set(event, sku, settings.value);
    },
    age: async (holdId) => {
      await database.sql`
        update holds set expires_at = clock_timestamp() - interval '1 second'
         where hold_id = ${holdId}`;
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

let names = 0;

/** A purchase or hold by the fan with place `number`; every fan has an admission of their own. */
export function attemptOf(
  number: number,
  change: Partial<PurchaseOrder & HoldOrder> = {},
): PurchaseOrder & HoldOrder {
  names += 1;
  const visitor = change.visitor ?? `visitor-${number}`;
  return {
    event: EVENT,
    sku: SKU,
    quantity: 1,
    visitor,
    buyer: visitor,
    jti: `admission-${number}`,
    number,
    slot: epochSeconds(1_767_225_600),
    idempotencyKey: "1",
    now: epochMs(1_767_225_600_000),
    orderId: `order-${names}`,
    holdId: `hold-${names}`,
    ...change,
  };
}

/** What the caller is told, as text: without what only the first call knows. */
export function answerOf(outcome: LedgerOutcome): string {
  return JSON.stringify({ ...outcome, left: undefined });
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
