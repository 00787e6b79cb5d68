/**
 * How a buyer comes back to an order when the turn is over and the edge no longer says who they are. Nothing of it is in an
 * address: the order's path names it, and a cookie that is sent to that path alone holds what the purchase API wants to
 * see, the visitor's secret, which this browser has anyway. Another browser has the path at most, and sees nothing.
 */
import { cookieName, orderCookie } from "@vestibule/contracts/names";
import { CREDIT_SECONDS } from "@vestibule/contracts/limits";

export const ORDER_ID = /^[A-Za-z0-9_-]{22}$/;
const VISITOR = /^[A-Za-z0-9_-]{1,64}$/;
const ORDER_COOKIE_SECONDS = 30 * 86_400;

/** Outside of the protected paths: whoever has bought needs no turn to look at it. */
export function orderPath(orderId: string): string {
  return `/orders/${encodeURIComponent(orderId)}`;
}

/** Name of the cookie that holds the id of the order made in this browser. `__Host-` is for https (RFC 6265bis). */
export function lastOrderName(event: string, https: boolean): string {
  return `${https ? "__Host-" : ""}order-${event}`;
}

/** Name of the cookie that opens an order's page, on that page's path. */
export function buyerName(https: boolean): string {
  return `${https ? "__Secure-" : ""}buyer`;
}

/** All that a purchase leaves in its buyer's browser. */
export function orderCookies(
  event: string,
  {
    orderId,
    visitor,
    number,
    https,
  }: { orderId: string; visitor: string; number: number | undefined; https: boolean },
): readonly string[] {
  if (!ORDER_ID.test(orderId) || !VISITOR.test(visitor)) return [];
  const path = orderPath(orderId);
  const life = { seconds: ORDER_COOKIE_SECONDS, https };
  const cookies = [
    cookie(lastOrderName(event, https), orderId, life),
    cookie(buyerName(https), visitor, { ...life, path }),
  ];
  // For the waiting room: whoever comes back to the line with the same place is led to the order.
  if (number === undefined) return cookies;
  return [
    ...cookies,
    cookie(cookieName("order", event, { https }), orderCookie({ number, path }), life),
  ];
}

/** The credit for the waiting room, for as long as it is good; without one: forgotten. */
export function creditCookie(
  event: string,
  { credit, https }: { credit: string | undefined; https: boolean },
): string {
  const seconds = credit === undefined ? 0 : CREDIT_SECONDS;
  return cookie(cookieName("credit", event, { https }), credit ?? "", { seconds, https });
}

function cookie(
  name: string,
  value: string,
  { seconds, https, path = "/" }: { seconds: number; https: boolean; path?: string },
): string {
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${https ? "; Secure" : ""}`;
}
