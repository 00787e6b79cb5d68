/** What the answers of a crowd add up to. */
import type { Answer } from "../load/shopper-messages.ts";
import { quantile } from "../statistics.ts";

const STRAY_SHARE_MAX = 0.01;

/** How often each was said. */
export function tally(answers: readonly Answer[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { said } of answers) counts.set(said, (counts.get(said) ?? 0) + 1);
  return new Map([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** `500 × 201, 19500 × 409 sold-out` */
export function tallyText(answers: readonly Answer[]): string {
  return [...tally(answers)].map(([said, count]) => `${count} × ${said}`).join(", ");
}

/**
 * What speaks against a measurement: more than one answer in a hundred was neither an order nor "sold out".
 * Fewer are a note's business: a store that answered late once, on a machine that was busy.
 */
export function strayMisses(answers: readonly Answer[]): string[] {
  const found = strays(answers);
  if (found.length <= answers.length * STRAY_SHARE_MAX) return [];
  return [`neither an order nor sold out: ${tallyText(found)}`];
}

/** Whatever was said that is neither an order nor "sold out". */
export function strays(answers: readonly Answer[]): readonly Answer[] {
  return answers.filter(({ said }) => said !== "201" && said !== "409 sold-out");
}

/**
 * Orders by the shopper who was told of them.
 *
 * @throws Error when one shopper was told of two orders, or two of the same.
 */
export function winners(answers: readonly Answer[]): ReadonlyMap<number, string> {
  const orders = new Map<number, string>();
  const owners = new Map<string, number>();
  for (const { shopper, orderId } of answers) {
    if (orderId === undefined) continue;
    if ((orders.get(shopper) ?? orderId) !== orderId) throw new Error("one shopper got two orders");
    if ((owners.get(orderId) ?? shopper) !== shopper) throw new Error("two shoppers got one order");
    orders.set(shopper, orderId);
    owners.set(orderId, shopper);
  }
  return orders;
}

export function latencyText(answers: readonly Answer[]): string {
  const took = answers.map(({ tookMs }) => tookMs);
  const [half, most, all] = [0.5, 0.99, 1].map((at) => quantile(took, at).toFixed(0));
  return `half of the answers within ${half} ms, 99 % within ${most}, all within ${all}`;
}

/** A store that was killed and came back, as the answers saw it. Moments are milliseconds since 1970. */
export interface Outage {
  /** When it was killed, and when it answered again. */
  readonly killedAtMs: number;
  readonly backAtMs: number;
}

export interface OutageSeen {
  readonly worstMs: number;
  /** When the longest answer was asked for, counted from the kill. */
  readonly worstSentMs: number;
  /** Of what was answered before the kill: what the machine itself adds. */
  readonly worstBeforeMs: number;
  /** What requests heard that were sent and answered while it was away, beside 503. */
  readonly otherWhileAway: readonly Answer[];
  readonly whileAway: number;
  /** From when it was back to the last 503; 0 when there was none after it. */
  readonly recoveryMs: number;
  /** Good answers to what was sent after that. */
  readonly goodAfter: number;
}

export function seenOf(answers: readonly Answer[], { killedAtMs, backAtMs }: Outage): OutageSeen {
  const doneAtMs = ({ sentAtMs, tookMs }: Answer): number => sentAtMs + tookMs;
  const away = answers.filter((one) => one.sentAtMs > killedAtMs && doneAtMs(one) < backAtMs);
  const refused = answers.filter((one) => one.said.startsWith("503"));
  const lastRefusedAtMs = Math.max(backAtMs, ...refused.map(doneAtMs));
  const worst = answers.toSorted((one, other) => other.tookMs - one.tookMs)[0];
  return {
    worstMs: worst?.tookMs ?? 0,
    worstSentMs: (worst?.sentAtMs ?? killedAtMs) - killedAtMs,
    worstBeforeMs: answers
      .filter((one) => doneAtMs(one) < killedAtMs)
      .reduce((most, { tookMs }) => Math.max(most, tookMs), 0),
    whileAway: away.length,
    otherWhileAway: away.filter(({ said }) => said !== "503 unavailable"),
    recoveryMs: lastRefusedAtMs - backAtMs,
    goodAfter: answers.filter(
      (one) => one.sentAtMs > lastRefusedAtMs && !one.said.startsWith("503"),
    ).length,
  };
}
