/** Whether anything is left of each event, as one sequence over all instances. The only code that touches `supply`. */
import type { SupplyReport } from "@vestibule/contracts/supply-api";
import type { Database } from "@vestibule/db/connect";
import type { SkuForSale } from "./gate-repair.ts";

/** A report that the mint has not acknowledged yet. */
export interface PendingReport extends SupplyReport {
  readonly event: string;
}

export interface Supply {
  /** Those of `events` whose row says something else than their stock, or that are not reported yet. */
  due(events: readonly string[]): Promise<readonly string[]>;
  /** Looks at the stock, writes down a change, and says what is to be reported. */
  look(event: string): Promise<PendingReport | undefined>;
  acknowledge(report: PendingReport): Promise<void>;
  /** All that is sold in `events`, and what one purchase of each may have. */
  skus(events: readonly string[]): Promise<readonly SkuForSale[]>;
}

/** More rows than the events of one manifest sell. */
const SKUS_MAX = 10_000;

export function createSupply(database: Database): Supply {
  return {
    due: (events) =>
      database.run(async (sql) => {
        const rows = await sql<{ event: string }[]>`
          select s.event
            from (select event, bool_and(total - sold - held <= 0) as sold_out
                    from stock where event in (select jsonb_array_elements_text(${sql.json([...events])}))
                   group by event) s
            left join supply on supply.event = s.event
           where s.sold_out <> coalesce(supply.sold_out, false) or supply.acked_seq < supply.seq
           order by s.event`;
        return rows.map(({ event }) => event);
      }),
    look: (event) =>
      database.transaction(async (tx) => {
        // The row's lock first (a new one says what the mint believes without being told): then this transaction's look at the stock is the latest one.
        await tx`
          insert into supply (event, sold_out, seq, acked_seq) values (${event}, false, 1, 1)
          on conflict (event) do update set event = excluded.event`;
        const [row] = await tx<{ soldOut: boolean; seq: number; acked: number }[]>`
          update supply set sold_out = s.sold_out,
                            seq = seq + case when supply.sold_out <> s.sold_out then 1 else 0 end
            from (select coalesce(bool_and(total - sold - held <= 0), false) as sold_out
                    from stock where event = ${event}) s
           where supply.event = ${event}
          returning supply.sold_out as "soldOut", seq, acked_seq as acked`;
        if (row === undefined || row.acked >= row.seq) return undefined;
        return { event, soldOut: row.soldOut, seq: row.seq };
      }),
    acknowledge: ({ event, seq }) =>
      database.run(async (sql) => {
        await sql`update supply set acked_seq = ${seq} where event = ${event} and acked_seq < ${seq}`;
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
