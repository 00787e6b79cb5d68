/** The running sale: sends the crowd, looks once a second, tells what changed. */
import { setTimeout as sleep } from "node:timers/promises";

import type { DripView } from "@vestibule/contracts/statements";
import { servingNumber } from "@vestibule/drip/line";

import { Checks } from "./checks.ts";
import { Crowd } from "./crowd.ts";
import type { Display } from "./display.ts";
import { type Http, jsonOf } from "./http.ts";
import type { Link, Snapshot } from "./panel.ts";
import { type Admin, type EventStatus, SKU, type StockStatus } from "./sale.ts";
import type { Store } from "./store-port.ts";

const LOOK_MS = 1_000;
/** Looks that failed in a row before the reader is told. */
const MISSES_TOLD = 3;

export interface WatchOptions {
  /** The address on which the edge listens. */
  readonly edgeUrl: string;
  readonly event: string;
  readonly eventPath: string;
  readonly fans: number;
  readonly store: Store;
  readonly admin: Admin;
  readonly http: Http;
  readonly display: Display;
  readonly links: readonly Link[];
  readonly signal: AbortSignal;
}

interface Look {
  readonly event: EventStatus;
  readonly stock: StockStatus;
  readonly serving: number;
  /** How many were let in so far. */
  readonly letIn: number;
  /** Why the stock is the one of an earlier look. */
  readonly unknown: string | undefined;
}

/** Resolves when `signal` is aborted and the crowd has gone home. */
export async function watchSale(options: WatchOptions): Promise<void> {
  const { display, event, store, signal } = options;
  const checks = new Checks({ onViolation: (text) => display.say(`!! VIOLATION: ${text}`) });
  let look = await lookOnce(options, checks);
  const crowd = new Crowd({
    edgeUrl: options.edgeUrl,
    event,
    eventPath: options.eventPath,
    sku: SKU,
    fans: options.fans,
    checks,
    alreadyWaiting: look.event.waiting + look.event.upcoming,
    ratePerMinute: () => look.event.rate,
    isOpen: () => look.event.state !== "soldout" && look.event.state !== "ended",
  });
  crowd.start();
  const began = performance.now();
  let misses = 0;
  while (!signal.aborted) {
    let why: string | undefined;
    try {
      const before = look.event.state;
      look = await lookOnce(options, checks, look);
      why = look.unknown;
      const turn = turnWords(before, look.event.state);
      if (turn !== undefined) display.say(turn);
    } catch (error) {
      if (signal.aborted) break;
      why = wordsOf(error);
    }
    misses = why === undefined ? 0 : misses + 1;
    // A store that is away explains the rest: the purchase API answers 503 without it.
    const trouble =
      store.trouble() ?? (misses < MISSES_TOLD ? undefined : `No answer for ${misses} s: ${why}`);
    const now = performance.now();
    const runningSeconds = Math.floor((now - began) / 1000);
    display.show(snapshotOf({ look, crowd, checks, options, runningSeconds, trouble }), now);
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
  }
  await crowd.stop();
}

async function lookOnce(
  { admin, http, edgeUrl, event }: WatchOptions,
  checks: Checks,
  before?: Look,
): Promise<Look> {
  const { bought } = checks;
  let unknown: string | undefined;
  const [answer, status, stock] = await Promise.all([
    http.send({ url: `${edgeUrl}/_vestibule/events/${event}/drip` }),
    admin.event(event),
    // The line goes on while the purchase API is away, and is shown as it is.
    admin.stock(event).catch((error: unknown) => {
      if (before === undefined) throw error;
      unknown = wordsOf(error);
      return before.stock;
    }),
  ]);
  const drip = answer.status === 200 ? (jsonOf(answer) as DripView | undefined) : undefined;
  if (drip === undefined) throw new Error(`the edge answers ${answer.status}`);
  if (status === undefined || stock === undefined) throw new Error("the sale is gone");
  checks.serving(drip.serving);
  // A hold can void a slot between its opening and the next look: what was shown stays.
  const atLeast = Math.max(before?.serving ?? 0, drip.serving);
  const serving = servingNumber(drip.segments, Date.now(), { ...drip, atLeast });
  if (unknown === undefined) checks.stock({ ...stock, bought });
  return {
    event: status,
    stock,
    serving,
    unknown,
    letIn: letInSoFar({ claimed: status.claimed, serving, before: before?.letIn ?? 0 }),
  };
}

/**
 * Who has claimed a slot that opens in a moment is not in yet. A hold takes back the claims of the
 * slots that it cuts: whoever was in has been in.
 */
export function letInSoFar(given: { claimed: number; serving: number; before: number }): number {
  return Math.max(given.before, Math.min(given.claimed, given.serving));
}

/** What is told when the sale goes from one state into another. */
export function turnWords(before: string, after: string): string | undefined {
  if (before === after) return undefined;
  if (after === "soldout")
    return "Sold out: within two seconds every page that is open and visible says so.";
  if (before === "soldout" && after === "open") return "Seats came back: the sale goes on.";
  return undefined;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function snapshotOf(given: {
  look: Look;
  crowd: Crowd;
  checks: Checks;
  options: WatchOptions;
  runningSeconds: number;
  trouble: string | undefined;
}): Snapshot {
  const { look, crowd, checks, options, runningSeconds, trouble } = given;
  const { event, stock, serving, letIn } = look;
  return {
    title: `Vestibule · ${options.event}`,
    state: event.state,
    waiting: event.waiting + event.upcoming,
    serving,
    letIn,
    limitsIn: options.store.words,
    sold: stock.sold,
    seats: stock.total,
    ratePerMinute: event.rate,
    purchases: crowd.purchases,
    checks: checks.count,
    violations: checks.violations,
    runningSeconds,
    links: options.links,
    trouble,
  };
}
