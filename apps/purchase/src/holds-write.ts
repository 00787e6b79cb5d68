/**
 * The statements that end or lengthen holds. One statement each, like those of `ledger-write.ts`, and
 * in one order: the hold's row, its stock row, the buyer's total, the spend. A purchase never wants
 * the row of a hold that exists, and no statement locks two stock rows, so nothing here can deadlock.
 *
 * PostgreSQL's clock decides what is over: `clock_timestamp()` in the condition is read again when
 * the row's lock was waited for, so that of confirm and expiry exactly one finds the hold in its state.
 */
import type { Sql } from "@vestibule/db/connect";
import type { EpochMs } from "@vestibule/kernel/units";
import { type HoldRow, holdColumns, type OrderRow, orderColumns } from "./ledger-rows.ts";
import type { HoldActor, HoldName, SkuRef } from "./ledger-types.ts";
import { SWEEP_HOLDS_MAX } from "./limits.ts";

/** @returns the hold as it is now; nothing when it was not extended by this call. */
export async function extendHold(
  sql: Sql,
  { event, holdId }: HoldName,
  visitor: string,
): Promise<HoldRow | undefined> {
  const [row] = await sql<HoldRow[]>`
    update holds
       set extended = true, expires_at = expires_at + make_interval(secs => extension_seconds)
     where hold_id = ${holdId} and event = ${event} and visitor = ${visitor} and state = 'held'
       and not extended and extension_seconds > 0 and expires_at > clock_timestamp()
    returning ${holdColumns(sql)}`;
  return row;
}

/** @returns the order, when this very call wrote it. */
export async function confirmHold(
  sql: Sql,
  { event, holdId }: HoldName,
  { paymentReference, orderId, now }: { paymentReference: string; orderId: string; now: EpochMs },
): Promise<OrderRow | undefined> {
  const [row] = await sql<OrderRow[]>`
    with confirmed as (
      update holds set state = 'confirmed', payment_reference = ${paymentReference},
                       order_id = ${orderId}, ended_at = clock_timestamp()
       where hold_id = ${holdId} and event = ${event} and state = 'held'
         and expires_at > clock_timestamp()
      returning *
    ), moved as (
      update stock
         set held = stock.held - confirmed.quantity, sold = stock.sold + confirmed.quantity
        from confirmed where stock.event = confirmed.event and stock.sku = confirmed.sku
      returning confirmed.*
    )
    insert into orders (order_id, event, sku, quantity, number, visitor, jti, purchased_at, hold_id,
                        amount_minor, currency)
    select order_id, event, sku, quantity, number, visitor, jti, ${now}, hold_id,
           amount_minor, currency
      from moved
    returning ${orderColumns(sql)}`;
  return row;
}

/**
 * Ends a hold unsold, once. `cancelled`: while it lasts. `failed`: whatever ended it unsold before,
 * the admission is unspent again; seats and limit come back only when it still had them.
 */
export async function endHold(
  sql: Sql,
  { event, holdId }: HoldName,
  { state, by }: { state: "cancelled" | "failed"; by: HoldActor },
): Promise<void> {
  const visitor = by.kind === "buyer" ? by.visitor : null;
  await sql`
    with found as materialized (
      select hold_id, state from holds
       where hold_id = ${holdId} and event = ${event}
         and (${visitor}::text is null or visitor = ${visitor})
         and case when ${state} = 'failed' then state in ('held', 'cancelled', 'expired')
                  else state = 'held' and expires_at > clock_timestamp() end
         for no key update
    ), ended as (
      update holds set state = ${state}, ended_at = coalesce(holds.ended_at, clock_timestamp())
        from found where holds.hold_id = found.hold_id
      returning holds.*, found.state as was
    ), back as (
      update stock set held = stock.held - ended.quantity
        from ended
       where ended.was = 'held' and stock.event = ended.event and stock.sku = ended.sku
      returning ended.event, ended.sku, ended.buyer, ended.quantity, ended.counted
    ), uncounted as (
      update buyer_totals set quantity = buyer_totals.quantity - back.quantity
        from back
       where back.counted and buyer_totals.event = back.event and buyer_totals.sku = back.sku
         and buyer_totals.buyer = back.buyer
    )
    delete from spends using ended
     where ended.state = 'failed' and spends.jti = ended.jti and spends.hold_id = ended.hold_id
       -- The stock row is locked before the spend, as everywhere.
       and (select count(*) from back) >= 0`;
}

/**
 * Ends what is over of one sku and gives it back. Holds that somebody confirms, cancels or sweeps
 * right now are left to them. `now()` is a moment before `clock_timestamp()`, and can use the index.
 *
 * @returns how many holds it ended.
 */
export async function expireHolds(sql: Sql, { event, sku }: SkuRef): Promise<number> {
  const [row] = await sql<{ ended: number }[]>`
    with due as materialized (
      select hold_id from holds
       where state = 'held' and expires_at <= now() and event = ${event} and sku = ${sku}
       order by expires_at limit ${SWEEP_HOLDS_MAX}
         for no key update skip locked
    ), ended as (
      update holds set state = 'expired', ended_at = clock_timestamp()
        from due where holds.hold_id = due.hold_id
      returning holds.buyer, holds.quantity, holds.counted
    ), sums as (
      select count(*)::int as holds, coalesce(sum(quantity), 0)::int as quantity from ended
    ), back as (
      update stock set held = stock.held - sums.quantity
        from sums where sums.holds > 0 and stock.event = ${event} and stock.sku = ${sku}
      returning sums.holds
    ), uncounted as (
      update buyer_totals set quantity = buyer_totals.quantity - one.quantity
        from back cross join (
          select buyer, sum(quantity)::int as quantity from ended where counted group by buyer
        ) as one
       where buyer_totals.event = ${event} and buyer_totals.sku = ${sku}
         and buyer_totals.buyer = one.buyer
    )
    select holds as ended from back`;
  return row?.ended ?? 0;
}
