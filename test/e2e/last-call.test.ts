/**
 * Sold out travels: from the answer to the last sale until everybody who waits far back is told, in real browsers and in
 * clients that look as the page does; and what comes back reaches them as well.
 */
import { randomUUID } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

import { SOLD_OUT_TOLD_MS_MAX } from "@vestibule/contracts/limits";
import { soonestTurnMs } from "@vestibule/drip/estimate";
import { lastCallInMs } from "@vestibule/drip/last-call";
import { pollDelayMs } from "@vestibule/drip/poll";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type System, freePortBase, openEvent, startSystem } from "./start-system.ts";
import { App, type Claimed, type Place } from "./support/app.ts";
import {
  CHROMIUM,
  NO_CHROMIUM,
  type Visitor,
  launchBrowser,
  newVisitor,
  overflowAtSmallest,
  readShown,
  shoot,
} from "./support/browser.ts";
import { eventually } from "./support/eventually.ts";
import { Organizer } from "./support/organizer.ts";
import { type RecordingOrigin, startRecordingOrigin } from "./support/recording-origin.ts";
import { type SecondEdge, startSecondEdge } from "./support/second-edge.ts";

const EVENT = "finale";
/** One a second: without a last call, whoever is this far back looks every 6 to 20 s. */
const RATE = 60;
const CROWD = 220;
const PAGES = 3;
const CLIENTS = 8;
const SEATS = 3;
const CLAIM_WINDOW_MS = 180_000;
/**
 * Purchase API, mint, edge and client hand it on, on two cores that others use as well: each may wake up as late as this
 * process does at its worst while it waits. On a quiet machine that is a few hundredths of a second.
 */
const PROCESSES = 4;

let system: System;
let origin: RecordingOrigin;
let edge: SecondEdge;
let browser: Browser | undefined;
let app: App;
let buyers: readonly Claimed[];
let crowd: readonly Place[];

beforeAll(async () => {
  system = await startSystem();
  const port = await freePortBase();
  await openEvent(
    system.ready,
    {
      event: EVENT,
      ratePerMinute: RATE,
      hosts: [`127.0.0.1:${port}`],
      horizonSeconds: 10,
      lifetimeSeconds: 300,
    },
    { total: SEATS },
  );
  origin = await startRecordingOrigin();
  edge = await startSecondEdge(system, { port, origin: origin.url });
  app = await new App(edge.url, EVENT).known();
  buyers = await Promise.all(
    Array.from({ length: SEATS + 1 }, async () => app.claim(await app.join())),
  );
  await Promise.all(buyers.map((buyer) => app.enterWhenOpen(buyer)));
  crowd = await app.joinAll(CROWD);
  if (CHROMIUM !== undefined) browser = await launchBrowser();
  else if (process.env["CI"] !== undefined) throw new Error(NO_CHROMIUM);
});
afterAll(async () => {
  await browser?.close();
  await edge?.stop();
  await origin?.close();
  await system?.stop();
});

/** Looks as the page does, and notes when it is told. */
class Client {
  readonly place: Place;
  looks = 0;
  toldAt: number | undefined;
  readonly #ended = new AbortController();

  constructor(place: Place) {
    this.place = place;
    void this.#wait().catch(() => undefined);
  }

  leave(): void {
    this.#ended.abort();
  }

  async #wait(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      const view = await app.drip();
      const now = Date.now();
      this.looks += 1;
      if (view.state === "soldout") this.toldAt ??= now;
      const delayMs = pollDelayMs({
        random: Math.random(),
        claimWindowMs: CLAIM_WINDOW_MS,
        soonestMs: soonestTurnMs(this.place.number, view, now),
        lastCallInMs: lastCallInMs(view, now),
      });
      await sleep(delayMs, undefined, { signal: this.#ended.signal });
    }
  }
}

/** A page that waits; `toldAt` is when it showed that all is gone, by the clock of this machine. */
interface OpenPage {
  readonly visitor: Visitor;
  readonly page: Page;
  readonly number: number;
  looks: number;
  toldAt(): Promise<number | undefined>;
  /** What a screen reader was told since the page was open. */
  said(): Promise<readonly string[]>;
}

async function openPage(running: Browser): Promise<OpenPage> {
  const visitor = await newVisitor(running, new URL(edge.url).host);
  const { page } = visitor;
  await page.goto(`${edge.url}/events/${EVENT}`);
  const shown = await eventually("a page that waits", async () => {
    const now = await readShown(page);
    return now?.state === "waiting" && now.number !== "" && now;
  });
  await page.evaluate(() => {
    const notes = { toldAt: undefined as number | undefined, said: [] as string[] };
    Reflect.set(globalThis, "notes", notes);
    const main = document.querySelector("main")!;
    new MutationObserver(() => {
      if (main.dataset["state"] === "soldout") notes.toldAt ??= Date.now();
    }).observe(main, { attributes: true });
    const live = document.querySelector("[aria-live]")!;
    new MutationObserver(() => notes.said.push(live.textContent ?? "")).observe(live, {
      ...{ subtree: true, childList: true, characterData: true, attributes: true },
    });
  });
  const open: OpenPage = {
    ...{ visitor, page, number: Number(shown.number), looks: 0 },
    toldAt: () =>
      page.evaluate(() => Reflect.get(globalThis, "notes").toldAt as number | undefined),
    said: () => page.evaluate(() => Reflect.get(globalThis, "notes").said as string[]),
  };
  page.on("request", (request) => {
    if (request.url().endsWith("/drip")) open.looks += 1;
  });
  return open;
}

test("the last seat is sold: within 2 s every page and every client far back says so, and what comes back lets one of them in", async () => {
  const organizer = new Organizer(system.ready, EVENT);
  const { lastCall } = await eventually("a last call", async () => {
    const view = await app.drip();
    return view.lastCall !== undefined && view;
  });
  expect(await organizer.status()).toMatchObject({ lastCall, lastCallSeconds: 600, state: "open" });

  const pages: OpenPage[] = [];
  for (let index = 0; browser !== undefined && index < PAGES; index += 1) {
    pages.push(await openPage(browser));
  }
  const clients = crowd.slice(-CLIENTS).map((place) => new Client(place));
  for (const { number } of pages) expect(number).toBeGreaterThan(CROWD);
  // All of them look about every second by now, wherever they stand.
  await eventually(
    "everybody looks",
    () => [...pages, ...clients].every(({ looks }) => looks > 4),
    {
      withinMs: 15_000,
    },
  );
  for (const { page, said } of pages) {
    const lead = await page.locator("#lead").textContent();
    expect(lead).toContain("What is left may be gone soon.");
    expect(await said()).toEqual([]);
  }
  if (pages[0] !== undefined) {
    expect(await overflowAtSmallest(pages[0].page)).toBe(0);
    await shoot(pages[0].page, "last-call");
  }

  const lag = monitorEventLoopDelay({ resolution: 10 });
  lag.enable();
  const { sku } = system.ready;
  let soldAt = 0;
  for (const buyer of buyers.slice(0, SEATS)) {
    expect((await app.drip()).state).toBe("open");
    expect((await app.buy(buyer, { key: randomUUID(), sku })).status).toBe(201);
    // The purchase was committed before this answer.
    soldAt = Date.now();
  }
  const told = await eventually("everybody is told", async () => {
    const all = [
      ...(await Promise.all(pages.map((page) => page.toldAt()))),
      ...clients.map(({ toldAt }) => toldAt),
    ];
    return all.every((at) => at !== undefined) && all;
  });
  lag.disable();
  const afterMs = told.map((at) => (at ?? Infinity) - soldAt);
  const lagMs = Math.round(lag.max / 1e6);
  console.log(
    `sold out was told after ${afterMs.slice(0, pages.length).join(", ")} ms by pages, ` +
      `${afterMs.slice(pages.length).join(", ")} ms by clients; this process was late by up to ${lagMs} ms`,
  );
  for (const ms of afterMs) expect(ms).toBeLessThan(SOLD_OUT_TOLD_MS_MAX + PROCESSES * lagMs);

  for (const { page, said, visitor } of pages) {
    expect(await readShown(page)).toMatchObject({ state: "soldout", headline: "Sold out" });
    // Read out once, and looked at no more often than ever from now on.
    expect(new Set(await said()).size).toBe(1);
    expect(visitor.trouble).toEqual([]);
  }
  for (const client of clients) client.leave();

  // Something comes back, and the organizer lets people in faster.
  await organizer.change({ ratePerMinute: 1_200 });
  await organizer.setStock(SEATS + 1);
  await eventually("the line goes on", async () => (await app.drip()).state === "open");
  const farBack = clients.at(-1)!.place;
  const pass = await app.claim(farBack);
  await app.enterWhenOpen(pass);
  expect((await app.buy(pass, { key: randomUUID(), sku })).status).toBe(201);
  expect(await organizer.sold()).toBe(SEATS + 1);
  await Promise.all(
    pages.map(({ page }) =>
      eventually("the page goes on", async () => (await readShown(page))?.state !== "soldout", {
        withinMs: 60_000,
      }),
    ),
  );
});
