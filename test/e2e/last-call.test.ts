/**
 * Sold out travels: from the answer to the last sale until everybody who waits far back is told, in real browsers and in
 * clients that look as the page does; and what comes back reaches them as well.
 */
import { randomUUID } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";

import { DRIP_LAST_CALL_REFRESH_MS, SOLD_OUT_TOLD_MS_MAX } from "@vestibule/contracts/limits";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type System, freePortBase, openEvent, startSystem } from "./start-system.ts";
import { App, type Claimed } from "./support/app.ts";
import {
  CHROMIUM,
  NO_CHROMIUM,
  launchBrowser,
  overflowAtSmallest,
  readShown,
  shoot,
} from "./support/browser.ts";
import { Cuttable } from "./support/cuttable.ts";
import { eventually } from "./support/eventually.ts";
import { Organizer } from "./support/organizer.ts";
import { type RecordingOrigin, startRecordingOrigin } from "./support/recording-origin.ts";
import { type SecondEdge, startSecondEdge } from "./support/second-edge.ts";
import { WaitingClient, WaitingPage } from "./support/waiting.ts";

const EVENT = "finale";
/** One a second: without a last call, whoever is this far back looks every 6 to 20 s. */
const RATE = 60;
const CROWD = 220;
const PAGES = 3;
const CLIENTS = 8;
const SEATS = 3;
/**
 * Purchase API, mint, edge and client hand it on, on two cores that others use as well: each may wake up as late as this
 * process or a page does at its worst meanwhile. On a quiet machine that is a few hundredths of a second.
 */
const PROCESSES = 4;

let system: System;
let mint: Cuttable;
let origin: RecordingOrigin;
let edge: SecondEdge;
let browser: Browser | undefined;
let app: App;
let organizer: Organizer;
let buyers: readonly Claimed[];
let clients: readonly WaitingClient[] = [];
let pages: readonly WaitingPage[] = [];

beforeAll(async () => {
  if (CHROMIUM === undefined && process.env["CI"] !== undefined) throw new Error(NO_CHROMIUM);
  system = await startSystem();
  organizer = new Organizer(system.ready, EVENT);
  const port = await freePortBase();
  const settings = { event: EVENT, ratePerMinute: RATE, horizonSeconds: 10, lifetimeSeconds: 300 };
  await openEvent(system.ready, { ...settings, hosts: [`127.0.0.1:${port}`] }, { total: SEATS });
  mint = await Cuttable.before(system.ready.mint);
  origin = await startRecordingOrigin();
  edge = await startSecondEdge(system, { port, mint: mint.url, origin: origin.url });
  app = await new App(edge.url, EVENT).known();
  const first = Array.from({ length: SEATS }, async () => app.claim(await app.join()));
  buyers = await Promise.all(first);
  await Promise.all(buyers.map((buyer) => app.enterWhenOpen(buyer)));
  const crowd = await app.joinAll(CROWD);
  // Whoever looked before it began, this far back, hears of it at their next look only.
  await eventually("a last call", async () => (await app.drip()).lastCall !== undefined);
  clients = crowd.slice(-CLIENTS).map((place) => new WaitingClient(app, place));
  if (CHROMIUM === undefined) return;
  const running = await launchBrowser();
  browser = running;
  const url = `${edge.url}/events/${EVENT}`;
  pages = await Promise.all(Array.from({ length: PAGES }, () => WaitingPage.open(running, url)));
});
afterAll(async () => {
  for (const client of clients) client.leave();
  await browser?.close();
  await edge?.stop();
  await Promise.all([mint?.close(), origin?.close()]);
  await system?.stop();
});

test("in a last call everybody looks about every second, wherever they stand; the page says so in one quiet line", async () => {
  if (CHROMIUM === undefined) console.log(NO_CHROMIUM);
  const { lastCall } = await eventually("a last call", async () => {
    const view = await app.drip();
    return view.lastCall !== undefined && view;
  });
  expect(await organizer.status()).toMatchObject({ lastCall, lastCallSeconds: 600, state: "open" });
  for (const { number } of pages) expect(number).toBeGreaterThan(CROWD);

  const everybody = [...pages, ...clients];
  const before = everybody.map(({ looks }) => looks);
  const [asked, began] = [mint.requests.length, performance.now()];
  const looked = (): boolean =>
    everybody.every(({ looks }, index) => looks - (before[index] ?? 0) > 4);
  await eventually("everybody looks", looked, { withinMs: 15_000 });
  // Law 11: by however many they are, a location asks the mint as often as is stated.
  const seconds = (performance.now() - began) / 1_000;
  const drips = mint.requests.slice(asked).filter((request) => request.endsWith(`/${EVENT}/drip`));
  expect(drips.length).toBeLessThanOrEqual(
    Math.ceil((seconds * 1_000) / DRIP_LAST_CALL_REFRESH_MS) + 1,
  );

  for (const waiting of pages) {
    const lead = await waiting.page.locator("#lead").textContent();
    // So far back that more than the pace of selling is to be said.
    expect(lead).toContain("You are unlikely to get one");
    expect((await waiting.notes()).said).toEqual([]);
  }
  const [shot] = pages;
  if (shot === undefined) return;
  expect(await overflowAtSmallest(shot.page)).toBe(0);
  await shoot(shot.page, "last-call");
});

test("the last seat is sold: within 2 s of that every page and every client far back says so", async () => {
  const lag = monitorEventLoopDelay({ resolution: 10 });
  lag.enable();
  let soldAt = 0;
  for (const buyer of buyers) {
    expect((await app.drip()).state).toBe("open");
    const answer = await app.buy(buyer, { key: randomUUID(), sku: system.ready.sku });
    // It was committed before this answer.
    soldAt = Date.now();
    expect(answer.status).toBe(201);
  }
  const told = await eventually("everybody is told", async () => {
    const notes = await Promise.all(pages.map((page) => page.notes()));
    const all = [...notes, ...clients].map(({ soldOutAt }) => soldOutAt);
    const late = notes.flatMap((note) => note.late).filter(([at]) => at > soldAt);
    return all.every((at) => at !== undefined) && { all, late };
  });
  lag.disable();
  const afterMs = told.all.map((at) => at - soldAt);
  const lagMs = Math.max(Math.round(lag.max / 1e6), ...told.late.map(([, byMs]) => byMs));
  console.log(
    `sold out was told after ${afterMs.slice(0, pages.length).join(", ")} ms by pages, ` +
      `${afterMs.slice(pages.length).join(", ")} ms by clients; timers here were late by up to ${lagMs} ms`,
  );
  for (const ms of afterMs) expect(ms).toBeLessThan(SOLD_OUT_TOLD_MS_MAX + PROCESSES * lagMs);

  for (const waiting of pages) {
    const { page, visitor } = waiting;
    expect(await readShown(page)).toMatchObject({ state: "soldout", headline: "Sold out" });
    // Read out once, in one piece.
    expect(new Set((await waiting.notes()).said).size).toBe(1);
    expect(visitor.trouble).toEqual([]);
  }
});

test("what comes back reaches them: the pages go on, and somebody far back is let in and buys it", async () => {
  await organizer.change({ ratePerMinute: 1_200 });
  await organizer.setStock(SEATS + 1);
  await eventually("the line goes on", async () => (await app.drip()).state === "open");
  const place = clients.at(-1)?.place;
  if (place === undefined) throw new Error("nobody waits");
  expect(place.number).toBeGreaterThan(CROWD);
  const pass = await app.claim(place);
  await app.enterWhenOpen(pass);
  for (const { page } of pages) {
    const goesOn = async () => (await readShown(page))?.state !== "soldout";
    await eventually("the page goes on", goesOn, { withinMs: 60_000 });
  }
  const bought = await app.buy(pass, { key: randomUUID(), sku: system.ready.sku });
  expect(bought.status).toBe(201);
  expect(await organizer.sold()).toBe(SEATS + 1);
});
