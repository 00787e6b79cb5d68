/** Stock as organizers set it and as everybody may see it. Sales lower it in `ledger.ts`. */
import type { StockSettings, StockView } from "@vestibule/contracts/purchase-api";
import type { Database } from "@vestibule/db/connect";

export interface StockRow extends StockSettings {
  readonly event: string;
  readonly sku: string;
  readonly sold: number;
  readonly remaining: number;
}

export interface Stock {
  /** @returns the row as it is now; nothing when `total` would be below what is sold. */
  set(event: string, sku: string, settings: StockSettings): Promise<StockRow | undefined>;
  get(event: string, sku: string): Promise<StockRow | undefined>;
  /** What everybody may know, by sku; the exact number only where the organizer wants it. */
  view(event: string): Promise<readonly StockView[]>;
}

/** More kinds of things than one event sells. */
const SKUS_SHOWN_MAX = 200;

export function createStock(database: Database): Stock {
  return {
    set: (event, sku, { total, perPurchaseMax, showRemaining }) =>
      database.run(async (sql) => {
        const [row] = await sql<StockRow[]>`
          insert into stock (event, sku, total, per_purchase_max, show_remaining)
          values (${event}, ${sku}, ${total}, ${perPurchaseMax}, ${showRemaining})
          on conflict (event, sku) do update
             set total = excluded.total, per_purchase_max = excluded.per_purchase_max,
                 show_remaining = excluded.show_remaining
           where stock.sold <= excluded.total
          returning event, sku, total, sold, total - sold as remaining,
                    per_purchase_max as "perPurchaseMax", show_remaining as "showRemaining"`;
        return row;
      }),
    get: (event, sku) =>
      database.run(async (sql) => {
        const [row] = await sql<StockRow[]>`
          select event, sku, total, sold, total - sold as remaining,
                 per_purchase_max as "perPurchaseMax", show_remaining as "showRemaining"
            from stock where event = ${event} and sku = ${sku}`;
        return row;
      }),
    view: (event) =>
      database.run(async (sql) => {
        const rows = await sql<{ sku: string; remaining: number; shown: boolean }[]>`
          select sku, total - sold as remaining, show_remaining as shown
            from stock where event = ${event} order by sku limit ${SKUS_SHOWN_MAX}`;
        return rows.map(({ sku, remaining, shown }) => ({
          sku,
          available: remaining > 0,
          ...(shown ? { remaining } : {}),
        }));
      }),
  };
}
