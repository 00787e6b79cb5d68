/** Looking back: what a key was answered, and why an attempt was refused. */
import type { Sql } from "@vestibule/db/connect";
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
import type { Asked, KeyOwner, LedgerOutcome, SpendRequest } from "./ledger-types.ts";

/**
 * What this key was answered before. The key of a hold that failed stays used: its spend is gone,
 * and the hold itself is the answer.
 */
export async function recall(
  sql: Sql,
  { event, visitor, idempotencyKey }: KeyOwner,
  asked: Asked,
): Promise<LedgerOutcome | undefined> {
  const [row] = await sql<
    {
      request: string;
      jti: string;
      number: number;
      spentAt: number;
      order: OrderRow | null;
      hold: HoldRow | null;
    }[]
  >`
    select used.request, used.jti, used.number, used.spent_at as "spentAt",
           (select to_jsonb(found) from
             (select ${orderColumns(sql)} from orders where order_id = used.order_id) as found
           ) as order,
           (select to_jsonb(found) from
             (select ${holdColumns(sql)} from holds where hold_id = used.hold_id) as found
           ) as hold
      from (
        select request, jti, number, spent_at, order_id, hold_id from spends
         where event = ${event} and visitor = ${visitor} and idempotency_key = ${idempotencyKey}
        union all
        select request, jti, number, null, null, hold_id from holds
         where event = ${event} and visitor = ${visitor} and idempotency_key = ${idempotencyKey}
           and state = 'failed'
      ) as used
     order by used.spent_at nulls last limit 1`;
  if (row === undefined) return undefined;
  if (row.request !== requestText(asked)) return { kind: "idempotency-mismatch" };
  const { jti, number, spentAt } = row;
  if (row.order !== null) return { kind: "bought", order: toOrder(row.order), jti };
  if (row.hold !== null) return { kind: "held", hold: toHold(row.hold), jti };
  return { kind: "spent", spend: { event, jti, number, spentAt } };
}

/**
 * Why an attempt wrote nothing: statements of their own see what the refused one waited for.
 *
 * @returns nothing when what refused it is gone by now.
 */
export async function explain(
  sql: Sql,
  request: SpendRequest,
  asked: Asked,
): Promise<LedgerOutcome | undefined> {
  const item = asked.kind === "spend" ? { sku: null, quantity: 0 } : asked;
  const [row] = await sql<
    {
      spent: boolean;
      live_hold: string | null;
      order_id: string | null;
      left: number | null;
      users_only: boolean;
      per_purchase_max: number;
      buyer_left: number | null;
    }[]
  >`
    select spends.jti is not null as spent, holds.hold_id as live_hold,
           case when spends.visitor = ${request.visitor}
                then coalesce(spends.order_id, (select holds.order_id from holds
                                                 where holds.hold_id = spends.hold_id))
           end as order_id,
           stock.total - stock.sold - stock.held as left, stock.per_purchase_max,
           stock.buyers = 'users' as users_only,
           stock.per_buyer_max - coalesce(buyer_totals.quantity, 0) as buyer_left
      from (select) as one
      left join spends on spends.jti = ${request.jti}
      left join holds on holds.hold_id = spends.hold_id
                     and holds.state = 'held' and holds.expires_at > clock_timestamp()
      left join stock on stock.event = ${request.event} and stock.sku = ${item.sku}
      left join buyer_totals on buyer_totals.event = stock.event and buyer_totals.sku = stock.sku
                            and buyer_totals.buyer = ${request.buyer}`;
  // Asked after the other: a spend with this very key that came in between is not taken for another's.
  const known = await recall(sql, request, asked);
  if (known !== undefined || row === undefined) return known;
  if (row.spent) {
    return {
      kind: "already-spent",
      ...(row.live_hold === null ? {} : { holdId: row.live_hold }),
      ...(row.order_id === null ? {} : { orderId: row.order_id }),
    };
  }
  if (asked.kind === "spend") return undefined;
  if (row.left === null) return { kind: "unknown-sku" };
  if (row.users_only && !isUserBuyer(request.buyer)) return { kind: "users-only" };
  const { quantity } = item;
  const { per_purchase_max: perPurchaseMax } = row;
  if (quantity > perPurchaseMax) return { kind: "over-limit", perPurchaseMax };
  if (quantity > row.left) return { kind: "sold-out" };
  return row.buyer_left !== null && quantity > row.buyer_left ? { kind: "buyer-limit" } : undefined;
}
