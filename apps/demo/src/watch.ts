/** The running sale: sends the crowd, looks once a second, closes when the last seat is sold. */
import { setTimeout as sleep } from "node:timers/promises";

import type { DripView } from "@vestibule/contracts/statements";
import { servingNumber } from "@vestibule/drip/line";

import { Checks } from "./checks.ts";
import { Crowd } from "./crowd.ts";
import type { Display } from "./display.ts";
import { type Http, jsonOf } from "./http.ts";
import type { Link, Snapshot } from "./panel.ts";
import { type Admin, type EventStatus, SKU, type StockStatus } from "./sale.ts";

const LOOK_MS = 1_000;
/** Looks that failed in a row before the reader is told. */
const MISSES_TOLD = 3;

export interface WatchOptions {
  /** The address on which the edge listens. */
  readonly edgeUrl: string;
  readonly event: string;
  readonly eventPath: string;
  readonly fans: number;
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
}

/** Resolves when `signal` is aborted and the crowd has gone home. */
export async function watchSale(options: WatchOptions): Promise<void> {
  const { display, admin, event, signal } = options;
  const checks = new Checks({ onViolation: (text) => display.say(`!! VIOLATION: ${text}`) });
  let look = await lookOnce(options, checks, 0);
  const crowd = new Crowd({
    edgeUrl: options.edgeUrl,
    event,
    eventPath: options.eventPath,
    sku: SKU,
    fans: options.fans,
    checks,
    alreadyWaiting: look.event.waiting + look.event.upcoming,
    ratePerMinute: () => look.event.ratePerMinute,
  });
  crowd.start();
  const began = performance.now();
  let misses = 0;
  while (!signal.aborted) {
    let trouble: string | undefined;
    try {
      look = await lookOnce(options, checks, look.serving);
      misses = 0;
      if (look.stock.sold >= look.stock.total && look.event.state === "open") {
        await admin.act(event, "soldout");
        crowd.close();
        display.say("Sold out. The mint was told, so that nobody waits in vain.");
      }
    } catch (error) {
      if (signal.aborted) break;
      misses += 1;
      const why = error instanceof Error ? error.message : String(error);
      if (misses >= MISSES_TOLD) trouble = `No answer for ${misses} s: ${why}`;
    }
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
  shown: number,
): Promise<Look> {
  const { bought } = checks;
  const [answer, status, stock] = await Promise.all([
    http.send({ url: `${edgeUrl}/_vestibule/events/${event}/drip` }),
    admin.event(event),
    admin.stock(event),
  ]);
  const drip = answer.status === 200 ? (jsonOf(answer) as DripView | undefined) : undefined;
  if (drip === undefined) throw new Error(`the edge answers ${answer.status}`);
  if (status === undefined || stock === undefined) throw new Error("the sale is gone");
  checks.serving(drip.serving);
  // A hold can void a slot between its opening and the next look: what was shown stays.
  const atLeast = Math.max(shown, drip.serving);
  const serving = servingNumber(drip.segments, Date.now(), { ...drip, atLeast });
  checks.stock({ ...stock, bought });
  return { event: status, stock, serving };
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
  const { event, stock, serving } = look;
  return {
    title: `Vestibule · ${options.event}`,
    state: event.state,
    waiting: event.waiting + event.upcoming,
    serving,
    // Who has claimed a slot that opens in a moment is not in yet.
    admitted: Math.min(event.claimed, serving),
    sold: stock.sold,
    seats: stock.total,
    ratePerMinute: event.ratePerMinute,
    purchases: crowd.purchases,
    checks: checks.count,
    violations: checks.violations,
    runningSeconds,
    links: options.links,
    trouble,
  };
}
