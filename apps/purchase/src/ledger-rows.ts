/** Rows of orders and holds as answers: columns, and how they become values. */
import type { Money } from "@vestibule/contracts/purchase-api";
import type { Sql } from "@vestibule/db/connect";
import type { Asked, Hold, Order } from "./ledger-types.ts";

/** A piece of SQL with its parameters. */
type Fragment = ReturnType<Sql>;

export interface OrderRow {
  readonly orderId: string;
  readonly event: string;
  readonly sku: string;
  readonly quantity: number;
  readonly number: number;
  readonly purchasedAt: number;
  /** As text: exact beyond 2^53. */
  readonly amountMinor: string | null;
  readonly currency: string | null;
}

/** Of a table or alias `orders`. */
export function orderColumns(sql: Sql): Fragment {
  return sql`
    orders.order_id as "orderId", orders.event, orders.sku, orders.quantity, orders.number,
    orders.purchased_at as "purchasedAt", orders.amount_minor::text as "amountMinor",
    orders.currency`;
}

export function toOrder(row: OrderRow): Order {
  const { orderId, event, sku, quantity, number, purchasedAt } = row;
  return { orderId, event, sku, quantity, number, purchasedAt, ...amountOf(row) };
}

export interface HoldRow {
  readonly holdId: string;
  readonly event: string;
  readonly sku: string;
  readonly quantity: number;
  readonly number: number;
  readonly jti: string;
  readonly state: Hold["state"];
  readonly heldAt: number;
  readonly expiresAt: number;
  readonly extensionMs: number;
  readonly orderId: string | null;
  readonly amountMinor: string | null;
  readonly currency: string | null;
}

/**
 * Of a table or alias `holds`. Its moments are stored in whole milliseconds. A hold whose time is
 * over is shown as `expired` although no sweep has come by yet.
 */
export function holdColumns(sql: Sql): Fragment {
  return sql`
    holds.hold_id as "holdId", holds.event, holds.sku, holds.quantity, holds.number, holds.jti,
    case when holds.state = 'held' and holds.expires_at <= clock_timestamp() then 'expired'
         else holds.state end as state,
    (extract(epoch from holds.held_at) * 1000)::bigint as "heldAt",
    (extract(epoch from holds.expires_at) * 1000)::bigint as "expiresAt",
    case when holds.extended then 0 else holds.extension_seconds end * 1000::bigint as "extensionMs",
    holds.order_id as "orderId", holds.amount_minor::text as "amountMinor", holds.currency`;
}

export function toHold(row: HoldRow): Hold {
  const { holdId, event, sku, quantity, number, state, heldAt, expiresAt } = row;
  const extendable = state === "held" && row.extensionMs > 0;
  return {
    holdId,
    event,
    sku,
    quantity,
    number,
    state,
    heldAt,
    expiresAt,
    ...(extendable ? { extendableTo: expiresAt + row.extensionMs } : {}),
    ...(row.orderId === null ? {} : { orderId: row.orderId }),
    ...amountOf(row),
  };
}

function amountOf(row: { amountMinor: string | null; currency: string | null }): {
  amount?: Money;
} {
  const { amountMinor: minor, currency } = row;
  return minor === null || currency === null ? {} : { amount: { minor, currency } };
}

/** The canonical text of a request. Neither a sku nor a number contains a colon. */
export function requestText(asked: Asked): string {
  return asked.kind === "spend" ? "spend" : `${asked.kind}:${asked.sku}:${asked.quantity}`;
}
