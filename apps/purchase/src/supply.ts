/**
 * Whether anything is left of each event, as one sequence over all instances. The only code that touches `supply`.
 *
 * The mint ignores whatever is not above the last `seq` that it heard. A failover may lose the commits that made
 * the last ones, so that they are made from PostgreSQL's clock: a lost one is always passed.
 */
import type { SupplyReport } from "@vestibule/contracts/supply-api";
import type { Database } from "@vestibule/db/connect";

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
}

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
        // A new row says what the mint believes without being told.
        await tx`
          insert into supply (event, sold_out, seq, acked_seq) values (${event}, false, 1, 1)
          on conflict do nothing`;
        const [told] = await tx<{ soldOut: boolean; seq: number; acked: number }[]>`
          select sold_out as "soldOut", seq, acked_seq as acked from supply
           where event = ${event} for no key update`;
        // After the row's lock: this transaction's look at the stock is the latest one.
        const [change] = await tx<{ soldOut: boolean; seq: number }[]>`
          update supply
             set sold_out = s.sold_out,
                 seq = greatest(seq + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint)
            from (select coalesce(bool_and(total - sold - held <= 0), false) as sold_out
                    from stock where event = ${event}) s
           where supply.event = ${event} and supply.sold_out <> s.sold_out
          returning supply.sold_out as "soldOut", seq`;
        if (change !== undefined) return { event, ...change };
        if (told === undefined || told.acked >= told.seq) return undefined;
        return { event, soldOut: told.soldOut, seq: told.seq };
      }),
    acknowledge: ({ event, seq }) =>
      database.run(async (sql) => {
        await sql`update supply set acked_seq = ${seq} where event = ${event} and acked_seq < ${seq}`;
      }),
  };
}
