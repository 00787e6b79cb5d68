/** Stock as organizers set it and as everybody may see it. Sales and holds change it in the ledger. */
import {
  type Money,
  STOCK_DEFAULTS,
  type StockSettings,
  type StockTerms,
  type StockView,
} from "@vestibule/contracts/purchase-api";
import type { Database, Sql } from "@vestibule/db/connect";
import { sleep as realSleep } from "@vestibule/feed/fetch-text.system";
import type { Sleep } from "@vestibule/feed/ports";
import { type CameBack, type SkuRef, skuKey } from "./ledger-types.ts";
import { SKUS_MAX, SKUS_SHOWN_MAX, VIEW_KEEP_MS, VIEWS_KEPT_MAX } from "./limits.ts";
import { createShortMemory } from "./short-memory.ts";

export interface StockRow extends Omit<StockTerms, "price"> {
  readonly event: string;
  readonly sku: string;
  readonly total: number;
  readonly price?: Money;
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
  /**
   * What everybody may know, by sku; the exact number only where the organizer wants it. Up to `VIEW_KEEP_MS` old:
   * anybody may ask, and however many do, PostgreSQL is asked once for each event.
   */
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
  {
    cameBack = () => {},
    reads = database,
    sleep = realSleep,
  }: { cameBack?: CameBack; reads?: Database; sleep?: Sleep } = {},
): Stock {
  const views = createShortMemory<readonly StockView[]>({
    keepMs: VIEW_KEEP_MS,
    entriesMax: VIEWS_KEPT_MAX,
    sleep,
  });
  return {
    set: async (event, sku, settings) => {
      const key = skuKey({ event, sku });
      const row = await database.run((sql) => write(sql, event, sku, settings), { key });
      views.forget(event);
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
      views.ask(event, () =>
        reads.run(async (sql) => {
          const rows = await sql<Row[]>`
            select ${columns(sql)} from stock
             where event = ${event} order by sku limit ${SKUS_SHOWN_MAX}`;
          return rows.map(toView);
        }),
      ),
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

/** One statement: what is not given stays as it is, whoever else writes at the same time. */
async function write(
  sql: Sql,
  event: string,
  sku: string,
  settings: StockSettings,
): Promise<Row | undefined> {
  const terms = withDefaults(settings);
  const kept = (column: string, name: keyof StockTerms) =>
    sql`${sql(column)} = case when ${settings[name] !== undefined} then excluded.${sql(column)}
                              else stock.${sql(column)} end`;
  const [row] = await sql<Row[]>`
    insert into stock (event, sku, total, per_purchase_max, show_remaining, per_buyer_max, buyers,
                       hold_seconds, hold_extension_seconds, price_minor, currency)
    values (${event}, ${sku}, ${settings.total}, ${terms.perPurchaseMax}, ${terms.showRemaining},
            ${terms.perBuyerMax}, ${terms.buyers}, ${terms.holdSeconds},
            ${terms.holdExtensionSeconds}, ${terms.price?.minor ?? null}::text::bigint,
            ${terms.price?.currency ?? null})
    on conflict (event, sku) do update
       set total = excluded.total,
           ${kept("per_purchase_max", "perPurchaseMax")},
           ${kept("show_remaining", "showRemaining")},
           ${kept("per_buyer_max", "perBuyerMax")},
           ${kept("buyers", "buyers")},
           ${kept("hold_seconds", "holdSeconds")},
           ${kept("hold_extension_seconds", "holdExtensionSeconds")},
           ${kept("price_minor", "price")},
           ${kept("currency", "price")}
     where stock.sold + stock.held <= excluded.total
    returning ${columns(sql)}`;
  return row;
}

function withDefaults(settings: StockSettings): StockTerms {
  const given = Object.entries(settings).filter(
    ([, value]) => value !== undefined && value !== null,
  );
  return { ...STOCK_DEFAULTS, ...Object.fromEntries(given) };
}

function columns(sql: Sql): ReturnType<Sql> {
  return sql`
    stock.event, stock.sku, stock.total, stock.sold, stock.held,
    stock.total - stock.sold - stock.held as remaining,
    stock.per_purchase_max as "perPurchaseMax", stock.show_remaining as "showRemaining",
    stock.per_buyer_max as "perBuyerMax", stock.buyers, stock.hold_seconds as "holdSeconds",
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
