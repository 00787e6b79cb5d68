/** Stock as organizers set it and as everybody may see it. Sales and holds change it in the ledger. */
import type { Money, StockSettings, StockView } from "@vestibule/contracts/purchase-api";
import type { Database, Sql } from "@vestibule/db/connect";
import type { CameBack, SkuRef } from "./ledger-types.ts";
import { SKUS_MAX, SKUS_SHOWN_MAX } from "./limits.ts";

export interface StockRow extends StockSettings {
  readonly event: string;
  readonly sku: string;
  readonly sold: number;
  /** Seats of live holds. */
  readonly held: number;
  /** `total - sold - held`. */
  readonly remaining: number;
}

export interface Stock {
  /** @returns the row as it is now; nothing when `total` would be below what is sold and held. */
  set(event: string, sku: string, settings: StockSettings): Promise<StockRow | undefined>;
  get(event: string, sku: string): Promise<StockRow | undefined>;
  /** What everybody may know, by sku; the exact number only where the organizer wants it. */
  view(event: string): Promise<readonly StockView[]>;
  /** All that is sold in `events`. */
  skus(events: readonly string[]): Promise<readonly SkuForSale[]>;
}

export interface SkuForSale extends SkuRef {
  readonly perPurchaseMax: number;
}

interface Row extends Omit<StockRow, "price"> {
  /** As text: exact beyond 2^53. */
  readonly priceMinor: string | null;
  readonly currency: string | null;
}

export function createStock(
  database: Database,
  { cameBack = () => {} }: { cameBack?: CameBack } = {},
): Stock {
  return {
    set: async (event, sku, settings) => {
      const row = await database.run((sql) => write(sql, event, sku, settings));
      if (row !== undefined) cameBack({ event, sku });
      return row && toStockRow(row);
    },
    get: (event, sku) =>
      database.run(async (sql) => {
        const [row] = await sql<Row[]>`
          select ${columns(sql)} from stock where event = ${event} and sku = ${sku}`;
        return row && toStockRow(row);
      }),
    view: (event) =>
      database.run(async (sql) => {
        const rows = await sql<Row[]>`
          select ${columns(sql)} from stock
           where event = ${event} order by sku limit ${SKUS_SHOWN_MAX}`;
        return rows.map(toView);
      }),
    skus: (events) =>
      database.run(async (sql) => {
        const rows = await sql<SkuForSale[]>`
          select event, sku, per_purchase_max as "perPurchaseMax" from stock
           where event in (select jsonb_array_elements_text(${sql.json([...events])}))
           order by event, sku limit ${SKUS_MAX}`;
        return rows.map(({ event, sku, perPurchaseMax }) => ({ event, sku, perPurchaseMax }));
      }),
  };
}

async function write(
  sql: Sql,
  event: string,
  sku: string,
  settings: StockSettings,
): Promise<Row | undefined> {
  const { total, perPurchaseMax, showRemaining, perBuyerMax, price } = settings;
  const [row] = await sql<Row[]>`
    insert into stock (event, sku, total, per_purchase_max, show_remaining, per_buyer_max,
                       hold_seconds, hold_extension_seconds, price_minor, currency)
    values (${event}, ${sku}, ${total}, ${perPurchaseMax}, ${showRemaining}, ${perBuyerMax},
            ${settings.holdSeconds}, ${settings.holdExtensionSeconds},
            ${price?.minor ?? null}::text::bigint, ${price?.currency ?? null})
    on conflict (event, sku) do update
       set total = excluded.total, per_purchase_max = excluded.per_purchase_max,
           show_remaining = excluded.show_remaining, per_buyer_max = excluded.per_buyer_max,
           hold_seconds = excluded.hold_seconds,
           hold_extension_seconds = excluded.hold_extension_seconds,
           price_minor = excluded.price_minor, currency = excluded.currency
     where stock.sold + stock.held <= excluded.total
    returning ${columns(sql)}`;
  return row;
}

function columns(sql: Sql): ReturnType<Sql> {
  return sql`
    stock.event, stock.sku, stock.total, stock.sold, stock.held,
    stock.total - stock.sold - stock.held as remaining,
    stock.per_purchase_max as "perPurchaseMax", stock.show_remaining as "showRemaining",
    stock.per_buyer_max as "perBuyerMax", stock.hold_seconds as "holdSeconds",
    stock.hold_extension_seconds as "holdExtensionSeconds",
    stock.price_minor::text as "priceMinor", stock.currency`;
}

function toStockRow({ priceMinor, currency, ...row }: Row): StockRow {
  return { ...row, ...priceOf(priceMinor, currency) };
}

function toView(row: Row): StockView {
  const { sku, remaining, showRemaining, holdSeconds, holdExtensionSeconds } = row;
  return {
    sku,
    available: remaining > 0,
    ...(showRemaining ? { remaining } : {}),
    ...priceOf(row.priceMinor, row.currency),
    holdSeconds,
    holdExtensionSeconds,
  };
}

function priceOf(minor: string | null, currency: string | null): { price?: Money } {
  return minor === null || currency === null ? {} : { price: { minor, currency } };
}
