/** Law 4: what buyers were answered, beside what the books say at the end. */
import type { Books, Bought, Trace } from "../trace.ts";
import { opensAt } from "@vestibule/drip/segment";
import type { Slots } from "./slots.ts";

/** By the answers alone: an admission buys once, a key has one order, an order has one buyer. */
export function purchaseViolations(bought: readonly Bought[]): readonly string[] {
  const found: string[] = [];
  const won = bought.filter(({ status }) => status === 201);
  const pairs = [
    ["admission", "order", (one: Bought) => one.jti, (one: Bought) => one.orderId],
    ["key", "order", (one: Bought) => `${one.jti} ${one.key}`, (one: Bought) => one.orderId],
    ["order", "admission", (one: Bought) => one.orderId ?? "", (one: Bought) => one.jti],
  ] as const;
  for (const [what, of, by, value] of pairs) {
    for (const [name, group] of Map.groupBy(won, by)) {
      const values = new Set(group.map(value));
      if (values.size > 1) found.push(`law 4: ${what} ${name} has ${values.size} different ${of}s`);
    }
  }
  for (const { jti, key, code } of bought) {
    const others = won.filter((one) => one.jti === jti && one.key !== key);
    if (code === "already-spent" && others.length === 0) {
      found.push(`law 4: admission ${jti} is spent, and nobody bought with it`);
    }
  }
  return found;
}

/** Everything that was answered is on disk, nothing else is, and it adds up. */
export function bookViolations(
  trace: Pick<Trace, "bought" | "claimed">,
  slots: Slots,
  books: Books,
): readonly string[] {
  const found: string[] = [];
  const orders = new Map(books.orders.map((order) => [order.orderId, order]));
  const won = new Map(
    trace.bought.flatMap((one) => (one.orderId === undefined ? [] : [[one.orderId, one] as const])),
  );
  for (const [orderId, { jti, sku, quantity }] of won) {
    const order = orders.get(orderId);
    const isSame = order?.jti === jti && order.sku === sku && order.quantity === quantity;
    if (!isSame) found.push(`law 4: order ${orderId} was answered and is not in the books`);
  }
  for (const { orderId, number } of books.orders) {
    if (!won.has(orderId)) found.push(`law 4: order ${orderId} of ${number} is nobody's`);
  }
  if (new Set(books.orders.map(({ jti }) => jti)).size < books.orders.length) {
    found.push("law 4: an admission has two orders in the books");
  }
  const spent = new Set(books.spends.map(({ jti }) => jti));
  if (spent.size !== books.orders.length || books.orders.some(({ jti }) => !spent.has(jti))) {
    found.push("law 4: spends and orders in the books do not match");
  }
  for (const { sku, total, sold } of books.stock) {
    const sum = books.orders.reduce((so, one) => so + (one.sku === sku ? one.quantity : 0), 0);
    if (sum > total) found.push(`law 4: ${sum} of ${sku} were sold, and there were ${total}`);
    if (sum !== sold) found.push(`law 4: ${sum} of ${sku} were sold, and its stock says ${sold}`);
  }
  return [...found, ...lineViolations(trace, slots, books)];
}

/** A claim that was answered is on disk, and so is every slot that was shown. */
function lineViolations(
  { claimed }: Pick<Trace, "claimed">,
  slots: Slots,
  { claims, segments }: Books,
): readonly string[] {
  const found: string[] = [];
  const recorded = new Set(claims);
  for (const { number, opensAt: opens } of claimed) {
    if (!recorded.has(number)) found.push(`the claim of ${number} was answered and is not stored`);
    if (slots.has(number) && slots.get(number) !== opens) {
      found.push(`law 2: the admission of ${number} opens at another time than its slot`);
    }
  }
  const stored = new Map<number, number>();
  for (const segment of segments) {
    for (let n = segment.base; n < segment.base + segment.count; n += 1) {
      if (stored.has(n)) found.push(`law 3: number ${n} has two slots`);
      stored.set(n, opensAt(segment, n));
    }
  }
  for (const [n, opens] of slots) {
    if (stored.get(n) !== opens) found.push(`the slot of ${n} was shown and is not stored`);
  }
  return found;
}
