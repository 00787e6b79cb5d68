/**
 * What those who wait are told of what is left: from a purchase on a real PostgreSQL to the page of somebody far back, who
 * reads what it costs, about how much is left, that they are unlikely to get one, and why their wait has grown.
 */
import { randomUUID } from "node:crypto";

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type System, openEvent, startSystem } from "./start-system.ts";
import { App, type Claimed } from "./support/app.ts";
import {
  CHROMIUM,
  NO_CHROMIUM,
  launchBrowser,
  overflowAtSmallest,
  shoot,
} from "./support/browser.ts";
import { eventually } from "./support/eventually.ts";
import { Organizer } from "./support/organizer.ts";
import { WaitingPage } from "./support/waiting.ts";

const EVENT = "honest";
const RATE = 60;
const CROWD = 240;
const SEATS = 400;
const AT_ONCE = 100;
/**
 * From a purchase to the statement of every location: a look at the stock each second, a report, a step of the mint, the age of
 * a location's copy; the rest is for a busy machine. A page hears of it when it looks next.
 */
const TOLD_MS = 10_000;

let system: System;
let browser: Browser | undefined;
let app: App;
let organizer: Organizer;
let buyers: readonly Claimed[];
let waiting: WaitingPage | undefined;

beforeAll(async () => {
  if (CHROMIUM === undefined && process.env["CI"] !== undefined) throw new Error(NO_CHROMIUM);
  system = await startSystem();
  organizer = new Organizer(system.ready, EVENT);
  const settings = { event: EVENT, ratePerMinute: RATE, horizonSeconds: 10, lifetimeSeconds: 300 };
  // No last call: pages look as rarely as they do in the middle of a sale.
  const told = { priceRange: "20–90 €", lastCallSeconds: 0 };
  await openEvent(
    system.ready,
    { ...settings, ...told },
    { total: SEATS, perPurchaseMax: AT_ONCE },
  );
  app = await new App(system.ready.edge, EVENT).known();
  const first = Array.from({ length: 3 }, async () => app.claim(await app.join()));
  buyers = await Promise.all(first);
  await eventually("their slots open", () =>
    buyers.every(({ opensAt }) => Date.now() > opensAt + 1_000),
  );
  await app.joinAll(CROWD);
  if (CHROMIUM === undefined) return;
  browser = await launchBrowser();
  waiting = await WaitingPage.open(browser, `${system.ready.edge}/events/${EVENT}`);
});
afterAll(async () => {
  await browser?.close();
  await system?.stop();
});

const left = async () => (await app.drip()).left;
const buy = async (buyer: Claimed | undefined) => {
  if (buyer === undefined) throw new Error("no buyer is left");
  const order = { key: randomUUID(), sku: system.ready.sku, quantity: AT_ONCE };
  expect((await app.buy(buyer, order)).status).toBe(201);
};
const read = async (id: string) => (await waiting?.page.textContent(id)) ?? "";
/** As when the tab is shown again: the page looks at once, and need not be waited for. */
const look = () => waiting?.page.evaluate(() => void dispatchEvent(new Event("online")));
const says = (what: string, id: string, text: string) =>
  eventually(
    what,
    async () => {
      await look();
      return (await read(id)).includes(text);
    },
    { everyMs: 500 },
  );

test("the page says what it costs and about how much is left, and claims nothing more", async () => {
  if (CHROMIUM === undefined) console.log(NO_CHROMIUM);
  await eventually("the mint tells a band", async () => (await left())?.atMost === 500, {
    withinMs: TOLD_MS,
  });
  expect(await organizer.status()).toMatchObject({ supplyLeft: 500, tellLeft: true });
  if (waiting === undefined) return;
  await says("the page has the band", "#offer", "At most 500 left");
  expect(await read("#offer")).toContain("20–90 €");
  expect(await read("#lead")).not.toContain("unlikely");
});

test("sales move the band within seconds, and whoever is far back is told that it is unlikely", async () => {
  await buy(buyers[0]);
  await buy(buyers[1]);
  await eventually("the band follows", async () => (await left())?.atMost === 200, {
    withinMs: TOLD_MS,
  });
  await buy(buyers[2]);
  await eventually("the band follows", async () => (await left())?.atMost === 100, {
    withinMs: TOLD_MS,
  });
  if (waiting === undefined) return;
  await says("the page follows", "#offer", "At most 100 left");
  expect(await read("#lead")).toContain("You are unlikely to get one");
  expect(await waiting.page.getAttribute("main", "data-state")).toBe("waiting");
  expect(await overflowAtSmallest(waiting.page)).toBe(0);
  await shoot(waiting.page, "unlikely");
});

test("the organizer's words reach the page without a reload; a rate that is lowered is the reason that the page gives", async () => {
  await organizer.change({ priceRange: "from 25 €", notice: "Doors open at 7", ratePerMinute: 20 });
  await eventually("the statement has them", async () => {
    const { priceRange, rate } = await app.drip();
    return priceRange === "from 25 €" && rate === 20;
  });
  if (waiting === undefined) return;
  await says("the page has the price", "#offer", "from 25 €");
  expect(await read("#notice")).toBe("Doors open at 7");
  expect(await read("#lead")).toContain("The wait has grown: the line moves more slowly");
  await shoot(waiting.page, "wait-grew");
  await organizer.change({ tellLeft: false, ratePerMinute: 10 * RATE });
  await eventually("nothing is told any more", async () => (await left()) === undefined);
  await eventually("the page says no more", async () => {
    await look();
    const lead = await read("#lead");
    return !lead.includes("unlikely") && !lead.includes("grown");
  });
  expect(await read("#offer")).not.toContain("left");
  expect(waiting.visitor.trouble).toEqual([]);
});
