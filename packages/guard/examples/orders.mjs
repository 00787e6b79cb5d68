/**
 * The shop's orders, in memory to be short. In a database:
 *
 *     create table orders (jti text primary key, id uuid not null, seats int not null, sold_at timestamptz)
 *
 * One admission is one order, whatever a buyer presses, repeats or sends at once: `jti` is its identity.
 */
const orders = new Map();

/**
 * `insert into orders … on conflict (jti) do nothing`, and then what is there. `id` is the shop's own name for this
 * attempt to buy: made here, never taken from what a browser sends.
 */
export function openOrder(jti, { seats }) {
  if (!orders.has(jti)) orders.set(jti, { id: crypto.randomUUID(), seats, sold: false });
  return orders.get(jti);
}

/** `update orders set sold_at = now() where jti = $1 and sold_at is null`: true once. */
export function markSold(jti) {
  const order = orders.get(jti);
  const isFirst = !order.sold;
  order.sold = true;
  return isFirst;
}
