/** Those who wait far back: clients that look as the page does, and real pages. Both note when they are told. */
import { setTimeout as sleep } from "node:timers/promises";

import { soonestTurnMs } from "@vestibule/drip/estimate";
import { lastCallInMs } from "@vestibule/drip/last-call";
import { pollDelayMs } from "@vestibule/drip/poll";
import type { Browser, Page } from "playwright-core";

import type { App, Place } from "./app.ts";
import { type Visitor, newVisitor, readShown } from "./browser.ts";
import { eventually } from "./eventually.ts";

const CLAIM_WINDOW_MS = 180_000;

/** Looks by the schedule of the page until it leaves. */
export class WaitingClient {
  looks = 0;
  /** Epoch milliseconds: the first look that said that all is gone. */
  soldOutAt: number | undefined;
  readonly place: Place;
  readonly #app: App;
  readonly #gone = new AbortController();

  constructor(app: App, place: Place) {
    this.#app = app;
    this.place = place;
    void this.#wait().catch((error: unknown) => {
      if (!this.#gone.signal.aborted) throw error;
    });
  }

  leave(): void {
    this.#gone.abort();
  }

  async #wait(): Promise<void> {
    const { signal } = this.#gone;
    while (!signal.aborted) {
      const view = await this.#app.drip();
      const now = Date.now();
      this.looks += 1;
      if (view.state === "soldout") this.soldOutAt ??= now;
      const delayMs = pollDelayMs({
        random: Math.random(),
        claimWindowMs: CLAIM_WINDOW_MS,
        soonestMs: soonestTurnMs(this.place.number, view, now),
        lastCallInMs: lastCallInMs(view, now),
      });
      await sleep(delayMs, undefined, { signal });
    }
  }
}

interface Notes {
  /** Epoch milliseconds, by the clock of this machine. */
  soldOutAt?: number;
  /** What the live region has said, a line for each change: what a screen reader reads out. */
  readonly said: string[];
  /** When a timer of the page came late, and by how many milliseconds. */
  readonly late: (readonly [at: number, byMs: number])[];
}

/** How often the page's timers are watched. */
const BEAT_MS = 50;

export class WaitingPage {
  looks = 0;
  readonly page: Page;
  readonly visitor: Visitor;
  readonly number: number;

  private constructor(visitor: Visitor, number: number) {
    this.visitor = visitor;
    this.page = visitor.page;
    this.number = number;
    this.page.on("request", (request) => {
      if (request.url().endsWith("/drip")) this.looks += 1;
    });
  }

  /** In a browser of its own, and far back in line. */
  static async open(browser: Browser, url: string): Promise<WaitingPage> {
    const visitor = await newVisitor(browser, new URL(url).host);
    await visitor.page.goto(url);
    const shown = await eventually("a page that waits", async () => {
      const now = await readShown(visitor.page);
      return now?.state === "waiting" && now.number !== "" && now;
    });
    await visitor.page.evaluate(takeNotes, BEAT_MS);
    return new WaitingPage(visitor, Number(shown.number));
  }

  notes(): Promise<Notes> {
    return this.page.evaluate(() => Reflect.get(globalThis, "notes") as Notes);
  }
}

/** Runs in the page. */
function takeNotes(beatMs: number): void {
  const notes: Notes = { said: [], late: [] };
  Reflect.set(globalThis, "notes", notes);
  const main = document.querySelector<HTMLElement>("main[data-state]");
  const live = document.querySelector("[role=status]");
  if (main === null || live === null) return;
  new MutationObserver(() => {
    if (main.dataset["state"] === "soldout") notes.soldOutAt ??= Date.now();
  }).observe(main, { attributes: true });
  const changes = { subtree: true, childList: true, characterData: true, attributes: true };
  new MutationObserver(() => notes.said.push(live.textContent ?? "")).observe(live, changes);
  let due = Date.now() + beatMs;
  setInterval(() => {
    const now = Date.now();
    if (now > due) notes.late.push([now, now - due]);
    due = now + beatMs;
  }, beatMs);
}
