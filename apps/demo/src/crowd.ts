/** The synthetic crowd: a rush at the door, and then as many newcomers as keep the line alive. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import type { Checks } from "./checks.ts";
import { type FanState, type FanWorld, visit } from "./fan.ts";
import { type Http, createHttp } from "./http.ts";

const CONNECTIONS_MAX = 48;
/** How fast the first rush comes in. */
const RUSH_PER_SECOND = 100;
const TICK_MS = 250;
/** The line is kept at what is let in within this time: the wait of whoever comes. */
const LINE_SECONDS = 45;

export interface CrowdOptions {
  readonly edgeUrl: string;
  readonly event: string;
  readonly eventPath: string;
  readonly sku: string;
  readonly fans: number;
  readonly checks: Checks;
  /** Who waits already when the crowd comes: people of an earlier start, whose places are kept. */
  readonly alreadyWaiting: number;
  /** Read at each tick: it may be changed while the sale runs. */
  readonly ratePerMinute: () => number;
  /** Whether anybody would come: not to a sale that is sold out. It may reopen. */
  readonly isOpen: () => boolean;
}

export class Crowd {
  readonly #options: CrowdOptions;
  readonly #http: Http = createHttp({ connectionsMax: CONNECTIONS_MAX });
  readonly #home = new AbortController();
  readonly #visits = new Set<Promise<void>>();
  readonly #counts: Record<FanState, number> = {
    joining: 0,
    waiting: 0,
    inside: 0,
    bought: 0,
    left: 0,
  };
  /** How purchases were answered, and how often. */
  readonly purchases = new Map<string, number>();
  entries = 0;
  #running: Promise<void> | undefined;

  constructor(options: CrowdOptions) {
    this.#options = options;
  }

  get counts(): Readonly<Record<FanState, number>> {
    return this.#counts;
  }

  start(): void {
    this.#running = this.#arrive().catch((error: unknown) => {
      if (!this.#home.signal.aborted) throw error;
    });
  }

  /** Sends everybody home, and resolves when all are gone. */
  async stop(): Promise<void> {
    this.#home.abort();
    this.#http.close();
    await this.#running;
    await Promise.all(this.#visits);
  }

  async #arrive(): Promise<void> {
    const { fans, alreadyWaiting, ratePerMinute, isOpen } = this.#options;
    let rush = Math.max(0, fans - alreadyWaiting);
    for (;;) {
      if (!isOpen()) {
        await this.#sleep(TICK_MS);
        continue;
      }
      const perTick = TICK_MS / 1000;
      let come = Math.min(rush, Math.ceil(RUSH_PER_SECOND * perTick));
      rush -= come;
      if (rush === 0 && come === 0) {
        const perSecond = ratePerMinute() / 60;
        const line = Math.min(fans, Math.ceil(perSecond * LINE_SECONDS));
        const missing = line - this.#counts.waiting - this.#counts.joining;
        // Half as many again as are let in: no-shows thin the line out.
        come = Math.min(Math.max(0, missing), wholePart(perSecond * perTick * 1.5));
      }
      for (let fan = 0; fan < come; fan += 1) this.#send();
      await this.#sleep(TICK_MS);
    }
  }

  #send(): void {
    let state: FanState | undefined;
    const going = visit(this.#world(), (next) => {
      if (state !== undefined && state !== "bought" && state !== "left") this.#counts[state] -= 1;
      if (next === "inside") this.entries += 1;
      this.#counts[next] += 1;
      state = next;
    })
      .catch((error: unknown) => {
        if (!this.#home.signal.aborted) throw error;
      })
      .finally(() => this.#visits.delete(going));
    this.#visits.add(going);
  }

  #world(): FanWorld {
    const { edgeUrl, event, eventPath, sku, checks } = this.#options;
    return {
      http: this.#http,
      edgeUrl,
      event,
      eventPath,
      sku,
      checks,
      now: () => Date.now(),
      random: () => Math.random(),
      sleep: (ms) => this.#sleep(ms),
      newKey: () => randomUUID(),
      onPurchase: (outcome) => {
        this.purchases.set(outcome, (this.purchases.get(outcome) ?? 0) + 1);
      },
    };
  }

  #sleep(ms: number): Promise<void> {
    return sleep(Math.max(0, Math.ceil(ms)), undefined, { signal: this.#home.signal });
  }
}

/** The whole part, and one more with the probability of the rest: right on average. */
function wholePart(value: number): number {
  return Math.floor(value) + (Math.random() < value % 1 ? 1 : 0);
}
