/**
 * Spends, stock and orders: with `holds.ts`, `stock.ts` and what these three import the only code that touches
 * their tables; `supply.ts` looks at stock, to compare it in one statement with what the mint was told.
 * A purchase is one statement, answered after its commit; whoever lost that answer asks again.
 */
import type { CallOptions, Database, Sql, StopIfLate } from "@vestibule/db/connect";
import { sleep as realSleep } from "@vestibule/feed/fetch-text.system";
import type { Sleep } from "@vestibule/feed/ports";
import { explain, recall } from "./ledger-recall.ts";
import { retried } from "./ledger-retry.ts";
import { type OrderRow, orderColumns, toOrder } from "./ledger-rows.ts";
import {
  type Asked,
  type HoldOrder,
  type Ledger,
  type LedgerOutcome,
  type PurchaseOrder,
  skuKey,
  type SpendRequest,
  type Standing,
} from "./ledger-types.ts";
import { buy, keep, spendOnly, type Written } from "./ledger-write.ts";
import {
  ATTEMPTS_MAX,
  LOOK_DEADLINE_MS,
  RUNNING_POLL_DEADLINE_MS,
  RUNNING_POLL_MS,
  RUNNING_WAIT_MS,
  SPENT_LOOK_DEADLINE_MS,
} from "./limits.ts";

/**
 * @param options.reads Connections for what anybody may look at, apart from those that sell; the same ones without it.
 * @param options.sleep Only tests need another one.
 */
export function createLedger(
  database: Database,
  { reads = database, sleep = realSleep }: { reads?: Database; sleep?: Sleep } = {},
): Ledger {
  const settle = async (
    request: SpendRequest,
    asked: Asked,
    write: (sql: Sql) => Promise<Written>,
  ): Promise<LedgerOutcome> => {
    // All that want one sku may wait for its row.
    const key =
      asked.kind === "spend" ? {} : { key: skuKey({ event: request.event, sku: asked.sku }) };
    const once = (options: CallOptions = {}) =>
      database.run(
        (sql, stopIfLate) => {
          const step = { sql, stopIfLate, request, asked, write };
          return retried(() => settleOnce(step), { sleep, stopIfLate });
        },
        { ...options, ...key },
      );

    let outcome = await once();
    if (outcome.kind !== "in-progress") return outcome;
    const late = sleep(RUNNING_WAIT_MS).then(() => "late");
    // Between looks nothing is kept: neither a connection nor a place in the line for one.
    while ((await Promise.race([late, sleep(RUNNING_POLL_MS)])) !== "late") {
      outcome = await once({ deadlineMs: RUNNING_POLL_DEADLINE_MS });
      if (outcome.kind !== "in-progress") break;
    }
    return outcome;
  };

  return {
    purchase: (request) =>
      settle(request, askedOf("purchase", request), (sql) => buy(sql, request)),
    hold: (request) => settle(request, askedOf("hold", request), (sql) => keep(sql, request)),
    spend: (request) => settle(request, { kind: "spend" }, (sql) => spendOnly(sql, request)),
    recall: (of, asked) =>
      database.run((sql, stopIfLate) =>
        retried(() => recall(sql, of, asked), { sleep, stopIfLate }),
      ),
    order: ({ event, visitor, orderId, by = "buyer" }) =>
      (by === "shop" ? database : reads).run(async (sql) => {
        const [row] = await sql<OrderRow[]>`
          select ${orderColumns(sql)} from orders
           where order_id = ${orderId} and event = ${event} and visitor = ${visitor}`;
        return row && toOrder(row);
      }),
    isSpent: (jti) =>
      reads.run(async (sql) => (await sql`select from spends where jti = ${jti}`).length > 0, {
        deadlineMs: SPENT_LOOK_DEADLINE_MS,
      }),
    standing: ({ event, sku, jtis }) =>
      database.run(
        async (sql) => {
          const [row] = await sql<Standing[]>`
            select total - sold - held as left, sold + held as taken,
                   per_purchase_max as "perPurchaseMax",
                   (select coalesce(jsonb_agg(jsonb_build_object(
                             'jti', jti, 'quantity', case
                               when event = ${event} and split_part(request, ':', 2) = ${sku}
                               then split_part(request, ':', 3)::integer else 0 end)), '[]')
                      from spends
                     where jti in (select jsonb_array_elements_text(${sql.json([...jtis])}))) as spent
              from stock where event = ${event} and sku = ${sku}`;
          return row;
        },
        { deadlineMs: LOOK_DEADLINE_MS },
      ),
    buyers: ({ event, sku }, atMost) =>
      database.run(async (sql) => {
        const rows = await sql<{ jti: string }[]>`
          select jti from spends
           where event = ${event} and split_part(request, ':', 2) = ${sku} limit ${atMost + 1}`;
        return rows.length > atMost ? undefined : rows.map(({ jti }) => jti);
      }),
  };
}

async function settleOnce(step: {
  sql: Sql;
  stopIfLate: StopIfLate;
  request: SpendRequest;
  asked: Asked;
  write: (sql: Sql) => Promise<Written>;
}): Promise<LedgerOutcome> {
  const { sql, stopIfLate, request, asked, write } = step;
  for (let round = 0; round < ATTEMPTS_MAX; round += 1) {
    // Whoever waited may have gone: then nothing is bought for them any more.
    stopIfLate();
    const written = await write(sql);
    if (written === "running") {
      return (await recall(sql, request, asked)) ?? { kind: "in-progress" };
    }
    if (written !== "refused") return written;
    const why = await explain(sql, request, asked);
    if (why !== undefined) return why;
  }
  return { kind: "contended" };
}

function askedOf(kind: "purchase" | "hold", { sku, quantity }: PurchaseOrder | HoldOrder): Asked {
  return { kind, sku, quantity };
}
