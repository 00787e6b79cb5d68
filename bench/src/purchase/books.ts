/** What PostgreSQL says itself of what was sold and of how often it was asked. */
import postgres from "postgres";

/** Seats of one sku. */
export interface Books {
  readonly total: number;
  readonly sold: number;
  readonly orders: number;
  /** Sum of the quantities of all orders. */
  readonly ordered: number;
  /** Different admissions, and different visitors, among the orders. */
  readonly admissions: number;
  readonly visitors: number;
  readonly spends: number;
}

export interface BooksReader {
  read(event: string, sku: string): Promise<Books>;
  /** From now on every execution of a statement that writes orders is counted, until `stopCounting`. */
  startCounting(): Promise<void>;
  counted(): Promise<number>;
  stopCounting(): Promise<void>;
}

/**
 * Reads a purchase API's database over a connection of its own.
 *
 * The count is exact: a statement trigger on `orders` fires once for each execution of the statement that
 * buys, which is one transaction, whether it writes a row, none, or fails; a sequence is never rolled back.
 * It costs PostgreSQL microseconds each time, so that nothing is timed while it counts.
 */
export function openBooks(url: string): BooksReader & { close(): Promise<void> } {
  const sql = postgres(url, { max: 1, onnotice: () => {}, types: { bigint: postgres.BigInt } });
  return {
    read: async (event, sku) => {
      const [row] = await sql<Books[]>`
        select stock.total, stock.sold, count(orders)::int as orders,
               coalesce(sum(orders.quantity), 0)::int as ordered,
               count(distinct orders.jti)::int as admissions,
               count(distinct orders.visitor)::int as visitors,
               (select count(*)::int from spends where spends.event = ${event}) as spends
          from stock left join orders on orders.event = stock.event and orders.sku = stock.sku
         where stock.event = ${event} and stock.sku = ${sku}
         group by stock.event, stock.sku`;
      if (row === undefined) throw new Error(`nothing is sold in ${event}`);
      return row;
    },
    startCounting: async () => {
      await sql.unsafe(`
        create sequence if not exists bench_count;
        select setval('bench_count', 1, false);
        create or replace function bench_count() returns trigger language plpgsql as
          $$ begin perform nextval('bench_count'); return null; end $$;
        create trigger bench_count before insert on orders
          for each statement execute function bench_count();`);
    },
    counted: async () => {
      const [row] = await sql<{ count: number }[]>`
        select (case when is_called then last_value else 0 end)::int as count from bench_count`;
      return row?.count ?? 0;
    },
    stopCounting: async () => {
      await sql.unsafe("drop trigger bench_count on orders");
    },
    close: () => sql.end({ timeout: 1 }),
  };
}

/** Commits and rollbacks of a whole database; complete once its sessions have ended. */
export async function transactionsOf(serverUrl: string, database: string): Promise<number> {
  const sql = postgres(serverUrl, { max: 1, onnotice: () => {} });
  try {
    const [row] = await sql<{ count: number }[]>`
      select (xact_commit + xact_rollback)::int as count
        from pg_stat_database where datname = ${database}`;
    return row?.count ?? 0;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** @throws Error in words when the books are wrong: oversold, or an order that is not one spend of one admission. */
export function checkBooks(
  { total, sold, orders, ordered, admissions, spends }: Books,
  seats: number,
): void {
  const faults = [
    ...(total === seats ? [] : [`${total} seats, not ${seats}`]),
    ...(sold > seats || ordered > seats
      ? [`oversold: ${Math.max(sold, ordered)} of ${seats}`]
      : []),
    ...(sold === ordered ? [] : [`the stock says ${sold} sold, the orders ${ordered}`]),
    ...(admissions === orders && spends === orders
      ? []
      : [`${orders} orders of ${admissions} admissions with ${spends} spends`]),
  ];
  if (faults.length > 0) throw new Error(faults.join("; "));
}
