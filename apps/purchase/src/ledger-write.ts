/**
 * The statements that spend an admission. Each is one statement, so one round trip and one
 * transaction: it happens wholly or not at all, and no lock is ever held during a round trip.
 *
 * Every one takes its locks in the same order: the idempotency key (never waited for), the stock row,
 * the buyer's total, the spend. A buyer's total is only touched under its stock row, and no
 * statement locks two stock rows: so none of them can deadlock with another.
 */
import type { PurchaseRequest } from "@vestibule/contracts/purchase-api";
import type { Sql } from "@vestibule/db/connect";
import { isUniqueViolation } from "@vestibule/db/errors";
import { assert } from "@vestibule/kernel/assert";
import { isUserBuyer } from "./identity.ts";
import {
  type HoldRow,
  holdColumns,
  type OrderRow,
  orderColumns,
  requestText,
  toHold,
  toOrder,
} from "./ledger-rows.ts";
import type {
  HoldOrder,
  KeyOwner,
  LedgerOutcome,
  PurchaseOrder,
  SpendRequest,
} from "./ledger-types.ts";

/** `running`: somebody else has the key right now. `refused`: the books say why. */
export type Written = LedgerOutcome | "running" | "refused";

type Fragment = ReturnType<Sql>;
/** Every statement here answers with one row, whether anything was written or not. */
type Answer<Row> = readonly (({ mine: boolean; written: true; left: number } & Row) | Nothing)[];
interface Nothing {
  readonly mine: boolean;
  readonly written: null;
}

/** The seats are sold, and the order written. */
export function buy(sql: Sql, request: PurchaseOrder): Promise<Written> {
  const { event, sku, quantity, visitor, jti, number, orderId, now } = request;
  return attempt(
    sql<Answer<OrderRow>[number][]>`
      with ${takenAs(sql, request, sql`sold`)},
      spent as (
        insert into spends
          (jti, event, visitor, number, idempotency_key, request, order_id, spent_at)
        select ${jti}, ${event}, ${visitor}, ${number}, ${request.idempotencyKey},
               ${requestText({ kind: "purchase", sku, quantity })}, ${orderId}, ${now}
          from taken
        returning order_id
      ), written as (
        insert into orders (order_id, event, sku, quantity, number, visitor, jti, purchased_at,
                            amount_minor, currency)
        select spent.order_id, ${event}, ${sku}, ${quantity}, ${number}, ${visitor}, ${jti}, ${now},
               taken.amount_minor, taken.currency
          from taken cross join spent
        returning true as written, ${orderColumns(sql)}
      )
      select key.mine, taken.left, written.*
        from key left join taken on true left join written on true`,
    ({ left, ...row }) => ({ kind: "bought", order: toOrder(row), jti, left }),
  );
}

/** The seats are held, and the hold written. Its time runs from when the stock row was locked. */
export function keep(sql: Sql, request: HoldOrder): Promise<Written> {
  const { event, sku, quantity, visitor, buyer, jti, number, slot, holdId, now } = request;
  const text = requestText({ kind: "hold", sku, quantity });
  return attempt(
    sql<Answer<HoldRow>[number][]>`
      with ${takenAs(sql, request, sql`held`)},
      spent as (
        insert into spends
          (jti, event, visitor, number, idempotency_key, request, hold_id, spent_at)
        select ${jti}, ${event}, ${visitor}, ${number}, ${request.idempotencyKey}, ${text},
               ${holdId}, ${now}
          from taken
        returning hold_id
      ), moment as materialized (
        select hold_id, date_trunc('milliseconds', clock_timestamp()) as held_at from spent
      ), written as (
        insert into holds (hold_id, event, sku, quantity, number, visitor, buyer, counted, jti, slot,
                           idempotency_key, request, held_at, expires_at, extension_seconds,
                           amount_minor, currency)
        select moment.hold_id, ${event}, ${sku}, ${quantity}, ${number}, ${visitor}, ${buyer},
               taken.counted, ${jti}, ${slot}, ${request.idempotencyKey}, ${text}, moment.held_at,
               moment.held_at + make_interval(secs => taken.hold_seconds),
               taken.hold_extension_seconds, taken.amount_minor, taken.currency
          from taken cross join moment
        returning true as written, ${holdColumns(sql)}
      )
      select key.mine, taken.left, written.*
        from key left join taken on true left join written on true`,
    ({ left, ...row }) => ({ kind: "held", hold: toHold(row), jti, left }),
  );
}

export function spendOnly(sql: Sql, request: SpendRequest): Promise<Written> {
  const { event, visitor, jti, number, idempotencyKey, now } = request;
  return attempt(
    sql<Answer<object>[number][]>`
      with ${keyAs(sql, request)},
      written as (
        insert into spends (jti, event, visitor, number, idempotency_key, request, spent_at)
        select ${jti}, ${event}, ${visitor}, ${number}, ${idempotencyKey},
               ${requestText({ kind: "spend" })}, ${now}
          from key where key.mine and ${keyIsNew(sql, request)}
        on conflict do nothing returning true as written
      )
      select key.mine, 0 as left, written.* from key left join written on true`,
    () => ({ kind: "spent", spend: { event, jti, number, spentAt: now } }),
  );
}

async function attempt<Row>(
  statement: Promise<Answer<Row>>,
  outcomeOf: (row: Row & { left: number }) => LedgerOutcome,
): Promise<Written> {
  try {
    const [row, ...others] = await statement;
    assert(row !== undefined && others.length === 0, "one statement writes one thing");
    if (!row.mine) return "running";
    if (row.written === null) return "refused";
    const { mine: _mine, written: _written, ...rest } = row;
    return outcomeOf(rest as unknown as Row & { left: number });
  } catch (error) {
    // The admission, or the key, was used by somebody while this waited.
    if (isUniqueViolation(error)) return "refused";
    throw error;
  }
}

/**
 * `key`: whether this transaction is the only one that runs with this visitor's key, on any instance.
 * Never waits: whoever holds it may hang. An event and a visitor's hash contain no "|".
 */
function keyAs(sql: Sql, { event, visitor, idempotencyKey }: KeyOwner): Fragment {
  return sql`key as materialized (
    select pg_try_advisory_xact_lock(
      hashtextextended(${`${event}|${visitor}|${idempotencyKey}`}, 0)) as mine
  )`;
}

/** The key of a hold that failed has no spend any more, and stays used. */
function keyIsNew(sql: Sql, { event, visitor, idempotencyKey }: KeyOwner): Fragment {
  return sql`not exists (
    select from holds
     where event = ${event} and visitor = ${visitor} and idempotency_key = ${idempotencyKey})`;
}

/**
 * `taken`: one row when key, stock and buyer's limit allow it, with `column` raised. The stock row
 * is locked first and everything else is decided under that lock; `not exists` only spares known
 * replays the lock. A spend that exists already fails the whole statement, the stock with it.
 */
function takenAs(sql: Sql, request: SpendRequest & PurchaseRequest, column: Fragment): Fragment {
  const { event, sku, quantity, buyer, jti } = request;
  return sql`${keyAs(sql, request)},
    item as materialized (
      select stock.* from key cross join stock
       where key.mine and stock.event = ${event} and stock.sku = ${sku}
         and (stock.buyers = 'visitors' or ${isUserBuyer(buyer)})
         and ${quantity} <= stock.per_purchase_max
         and stock.sold + stock.held + ${quantity} <= stock.total
         and not exists (select from spends where jti = ${jti})
         and ${keyIsNew(sql, request)}
         for no key update of stock
    ), counted as (
      insert into buyer_totals (event, sku, buyer, quantity)
      select item.event, item.sku, ${buyer}, ${quantity} from item
       where ${quantity} <= item.per_buyer_max
      on conflict (event, sku, buyer) do update
         set quantity = buyer_totals.quantity + excluded.quantity
       where buyer_totals.quantity + excluded.quantity <= (select per_buyer_max from item)
      returning true as counted
    ), taken as (
      update stock set ${column} = stock.${column} + ${quantity}
        from item left join counted on true
       where stock.event = item.event and stock.sku = item.sku
         and (item.per_buyer_max is null or counted.counted)
      returning stock.total - stock.sold - stock.held as left, counted.counted is not null as counted,
                item.hold_seconds, item.hold_extension_seconds,
                item.price_minor * ${quantity} as amount_minor, item.currency
    )`;
}
