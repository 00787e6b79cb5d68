/**
 * Spends, stock and orders: the only code that touches their tables. A purchase is one statement,
 * so one round trip and one transaction: lower the stock, insert the spend, write the order. It
 * happens wholly or not at all, and is answered after its commit.
 */
import type { PurchaseRequest } from "@vestibule/contracts/purchase-api";
import type { Database, Sql } from "@vestibule/db/connect";
import { isUniqueViolation } from "@vestibule/db/errors";
import { assert } from "@vestibule/kernel/assert";
import type { EpochMs } from "@vestibule/kernel/units";

/** Who asks for what, once: the admission, the key of this attempt, one reading of the clock. */
export interface SpendRequest {
  readonly event: string;
  /** The admission's `sub`. */
  readonly visitor: string;
  readonly jti: string;
  readonly number: number;
  readonly idempotencyKey: string;
  readonly now: EpochMs;
}

export interface Order {
  readonly orderId: string;
  readonly event: string;
  readonly sku: string;
  readonly quantity: number;
  readonly number: number;
  readonly purchasedAt: number;
}

export interface Spend {
  readonly event: string;
  readonly jti: string;
  readonly number: number;
  readonly spentAt: number;
}

/** Why nothing was bought. The token is unspent, or was spent by somebody's earlier call. */
export type LedgerRefusal =
  | { readonly kind: "already-spent" }
  | { readonly kind: "idempotency-mismatch" }
  | { readonly kind: "unknown-sku" }
  | { readonly kind: "over-limit"; readonly perPurchaseMax: number }
  | { readonly kind: "sold-out" }
  /** Others kept changing the same rows between our statements. */
  | { readonly kind: "contended" };

export type LedgerOutcome =
  | { readonly kind: "bought"; readonly order: Order }
  | { readonly kind: "spent"; readonly spend: Spend }
  | LedgerRefusal;

export interface Ledger {
  /**
   * Buys once. The same key, visitor and request give the same order again, whoever came first.
   *
   * @throws AppError `unavailable` when PostgreSQL does not answer: ask again with the same key.
   */
  purchase(
    request: SpendRequest & PurchaseRequest & { readonly orderId: string },
  ): Promise<LedgerOutcome>;
  /** Spends the admission and sells nothing. Idempotent in the same way. */
  spend(request: SpendRequest): Promise<LedgerOutcome>;
  /** What this visitor's key was answered before, when the request is the same. */
  recall(
    request: Pick<SpendRequest, "event" | "visitor" | "idempotencyKey">,
    bought: PurchaseRequest | undefined,
  ): Promise<LedgerOutcome | undefined>;
  /** An order, for its buyer only. */
  order(of: { event: string; visitor: string; orderId: string }): Promise<Order | undefined>;
}

/** A refused attempt is looked into, and made again when what refused it is gone by then. */
const ATTEMPTS_MAX = 3;

export function createLedger(database: Database): Ledger {
  /** One call with one deadline, whatever it takes. */
  const settle = (
    attempt: (sql: Sql) => Promise<LedgerOutcome | undefined>,
    explain: (sql: Sql) => Promise<LedgerOutcome | undefined>,
  ): Promise<LedgerOutcome> =>
    database.run(async (sql) => {
      for (let round = 0; round < ATTEMPTS_MAX; round += 1) {
        const outcome = (await attempt(sql)) ?? (await explain(sql));
        if (outcome !== undefined) return outcome;
      }
      return { kind: "contended" };
    });

  return {
    purchase: (request) =>
      settle(
        (sql) => buy(sql, request),
        (sql) => explainPurchase(sql, request),
      ),
    spend: (request) =>
      settle(
        (sql) => spendOnly(sql, request),
        (sql) => explainSpend(sql, request, requestText(undefined)),
      ),
    recall: (request, bought) => database.run((sql) => recall(sql, request, requestText(bought))),
    order: ({ event, visitor, orderId }) =>
      database.run(async (sql) => {
        const [row] = await sql<OrderRow[]>`
          select order_id, event, sku, quantity, number, purchased_at from orders
           where order_id = ${orderId} and event = ${event} and visitor = ${visitor}`;
        return row && toOrder(row);
      }),
  };
}

/** The canonical text of a request. Neither a sku nor a number contains a colon. */
export function requestText(bought: PurchaseRequest | undefined): string {
  return bought === undefined ? "spend" : `purchase:${bought.sku}:${bought.quantity}`;
}

interface OrderRow {
  readonly order_id: string;
  readonly event: string;
  readonly sku: string;
  readonly quantity: number;
  readonly number: number;
  readonly purchased_at: number;
}

function toOrder(row: OrderRow): Order {
  const { order_id: orderId, purchased_at: purchasedAt, event, sku, quantity, number } = row;
  return { orderId, event, sku, quantity, number, purchasedAt };
}

/**
 * `spent` reads from `taken`, so the stock row is locked first and a spend that exists already
 * fails the whole statement, the stock with it. `not exists` only spares known replays the lock.
 *
 * @returns nothing when the stock or an earlier spend is in the way.
 */
async function buy(
  sql: Sql,
  request: SpendRequest & PurchaseRequest & { readonly orderId: string },
): Promise<LedgerOutcome | undefined> {
  const { event, sku, quantity, visitor, jti, number, idempotencyKey, orderId, now } = request;
  try {
    const rows = await sql<OrderRow[]>`
      with taken as (
        update stock set sold = sold + ${quantity}
         where event = ${event} and sku = ${sku}
           and sold + ${quantity} <= total and ${quantity} <= per_purchase_max
           and not exists (select from spends where jti = ${jti})
        returning 1
      ), spent as (
        insert into spends
          (jti, event, visitor, number, idempotency_key, request, order_id, spent_at)
        select ${jti}, ${event}, ${visitor}, ${number}, ${idempotencyKey},
               ${requestText(request)}, ${orderId}, ${now}
          from taken
        returning order_id
      )
      insert into orders (order_id, event, sku, quantity, number, visitor, jti, purchased_at)
      select order_id, ${event}, ${sku}, ${quantity}, ${number}, ${visitor}, ${jti}, ${now}
        from spent
      returning order_id, event, sku, quantity, number, purchased_at`;
    assert(rows.length <= 1, "one purchase writes one order");
    return rows[0] && { kind: "bought", order: toOrder(rows[0]) };
  } catch (error) {
    if (isUniqueViolation(error)) return undefined;
    throw error;
  }
}

async function spendOnly(sql: Sql, request: SpendRequest): Promise<LedgerOutcome | undefined> {
  const { event, visitor, jti, number, idempotencyKey, now } = request;
  const rows = await sql`
    insert into spends (jti, event, visitor, number, idempotency_key, request, spent_at)
    values (${jti}, ${event}, ${visitor}, ${number}, ${idempotencyKey}, ${requestText(undefined)},
            ${now})
    on conflict do nothing returning 1`;
  if (rows.length === 0) return undefined;
  return { kind: "spent", spend: { event, jti, number, spentAt: now } };
}

/** A statement of its own sees what the refused one waited for. */
async function explainPurchase(
  sql: Sql,
  request: SpendRequest & PurchaseRequest,
): Promise<LedgerOutcome | undefined> {
  const earlier = await explainSpend(sql, request, requestText(request));
  if (earlier !== undefined) return earlier;
  const [stock] = await sql<{ left: number; per_purchase_max: number }[]>`
    select total - sold as left, per_purchase_max from stock
     where event = ${request.event} and sku = ${request.sku}`;
  if (stock === undefined) return { kind: "unknown-sku" };
  if (request.quantity > stock.per_purchase_max) {
    return { kind: "over-limit", perPurchaseMax: stock.per_purchase_max };
  }
  return request.quantity > stock.left ? { kind: "sold-out" } : undefined;
}

async function explainSpend(
  sql: Sql,
  request: SpendRequest,
  text: string,
): Promise<LedgerOutcome | undefined> {
  const known = await recall(sql, request, text);
  if (known !== undefined) return known;
  const [spent] = await sql`select from spends where jti = ${request.jti}`;
  return spent && { kind: "already-spent" };
}

async function recall(
  sql: Sql,
  request: Pick<SpendRequest, "event" | "visitor" | "idempotencyKey">,
  text: string,
): Promise<LedgerOutcome | undefined> {
  const [row] = await sql<
    (OrderRow & { request: string; jti: string; spent_at: number; has_order: boolean })[]
  >`
    select s.request, s.jti, s.spent_at, s.number, s.event, s.order_id is not null as has_order,
           o.order_id, o.sku, o.quantity, o.purchased_at
      from spends s left join orders o on o.order_id = s.order_id
     where s.event = ${request.event} and s.visitor = ${request.visitor}
       and s.idempotency_key = ${request.idempotencyKey}`;
  if (row === undefined) return undefined;
  if (row.request !== text) return { kind: "idempotency-mismatch" };
  if (row.has_order) return { kind: "bought", order: toOrder(row) };
  const { event, jti, number, spent_at: spentAt } = row;
  return { kind: "spent", spend: { event, jti, number, spentAt } };
}
