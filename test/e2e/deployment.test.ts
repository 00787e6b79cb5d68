/**
 * A new version of the Worker is deployed while fans are in every phase: the location ends, and another build starts in
 * its place, knowing nothing. Harsher than a deployment, which leaves no gap.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { EdgePlace } from "@vestibule/contracts/line-api";
import { transform } from "esbuild";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type System, freePortBase, openEvent, startSystem } from "./start-system.ts";
import { App, type Claimed, type Place, problemOf } from "./support/app.ts";
import { CHROMIUM, NO_CHROMIUM, launchBrowser } from "./support/browser.ts";
import { type EdgeProcess, startEdgeProcess } from "./support/edge-process.ts";
import { edgeVars, literal } from "./support/edge-vars.ts";
import { eventually } from "./support/eventually.ts";
import { type RecordingOrigin, startRecordingOrigin } from "./support/recording-origin.ts";
import { WaitingPage } from "./support/waiting.ts";

const EVENTS = {
  // A turn every second, so that some come while nobody is there to let them in.
  first: { ratePerMinute: 60, horizonSeconds: 10, lifetimeSeconds: 600 },
  second: { ratePerMinute: 60, horizonSeconds: 10, lifetimeSeconds: 600 },
  far: { ratePerMinute: 1 },
};

let system: System;
let port: number;
let builds: readonly [string, string];
let location: EdgeProcess;
let browser: Browser | undefined;
let shop: RecordingOrigin;

beforeAll(async () => {
  if (CHROMIUM === undefined && process.env["CI"] !== undefined) throw new Error(NO_CHROMIUM);
  system = await startSystem();
  port = await freePortBase();
  for (const [event, settings] of Object.entries(EVENTS)) {
    await openEvent(system.ready, { event, hosts: [`127.0.0.1:${port}`], ...settings });
  }
  shop = await startRecordingOrigin();
  builds = await twoBuilds();
  location = await start(builds[0]);
  await new App(location.url, "far").joinAll(5);
  if (CHROMIUM !== undefined) browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await location?.stop();
  await shop?.close();
  await system?.stop();
});

/** The bundle of the running system, and the same Worker built in another way: no name and no line is where it was. */
async function twoBuilds(): Promise<readonly [string, string]> {
  const present = join(system.dataDir, "edge", "edge.js");
  const next = join(system.dataDir, "edge", "next.js");
  const { code } = await transform(readFileSync(present, "utf8"), {
    ...{ format: "esm", target: "es2024", minify: true, banner: "/* the next version */" },
  });
  writeFileSync(next, code);
  return [present, next];
}

async function start(script: string): Promise<EdgeProcess> {
  const { ready, dataDir } = system;
  const vars = {
    ...(await edgeVars(ready)),
    ORIGIN_URL: shop.url,
    PURCHASE_URL: literal(ready.purchase),
    LOCATION: "deployed",
  };
  const started = await startEdgeProcess({ script, port, vars, scratch: join(dataDir, "edge") });
  await Promise.all(Object.keys(EVENTS).map((event) => new App(started.url, event).known()));
  return started;
}

interface Buyer extends Claimed {
  readonly key: string;
  readonly order: unknown;
}

/** Fans of one event, by how far they have come. */
interface Crowd {
  readonly bought: Buyer;
  readonly inside: Claimed;
  /** Their admission is in hand, for a turn that is still to come. */
  readonly ahead: Claimed;
  /** Their turn is committed, and not claimed. */
  readonly committed: Place;
  /** Told what they are to be told after it, too. */
  readonly waiting: ReadonlyMap<Place, EdgePlace>;
}

async function gather(app: App): Promise<Crowd> {
  const buyer = await app.claim(await app.join());
  await app.enterWhenOpen(buyer);
  const key = randomUUID();
  const { sku } = system.ready;
  const bought = await app.buy(buyer, { key, sku });
  expect(bought.status).toBe(201);
  const inside = await app.claim(await app.join());
  await app.enterWhenOpen(inside);
  const places = (await app.joinAll(30)).toSorted((a, b) => a.number - b.number);
  const [unclaimed, near] = places.slice(6) as [Place, Place];
  await eventually("their turns are set", async () => (await app.drip()).committed >= near.number);
  const waiting = new Map<Place, EdgePlace>();
  for (const place of places) waiting.set(place, await app.me(place));
  return {
    bought: { ...buyer, key, order: bought.body },
    inside,
    ahead: await app.claim(near),
    committed: unclaimed,
    waiting,
  };
}

/** Everybody is where they were. */
async function expectKept(app: App, crowd: Crowd): Promise<void> {
  const { bought, inside, ahead, committed, waiting } = crowd;
  const { sku } = system.ready;
  expect(await app.enter(inside)).toBe(200);
  expect((await app.buy(bought, { key: bought.key, sku })).body).toEqual(bought.order);
  expect(problemOf(await app.buy(bought, { key: randomUUID(), sku }))).toBe("already-spent");
  await app.enterWhenOpen(ahead);
  const highest = Math.max(...[...waiting.keys()].map(({ number }) => number));
  for (const [place, before] of waiting) {
    const { number, opensAt } = await app.me(place);
    expect(number).toBe(before.number);
    // A turn that was told stays what it was.
    if (before.opensAt !== undefined) expect(opensAt).toBe(before.opensAt);
    expect((await app.tryJoin(place)).body.number).toBe(place.number);
  }
  const late = await app.claim(committed);
  await app.enterWhenOpen(late);
  const newcomer = await app.join();
  expect(newcomer.number).toBeGreaterThan(highest);
  // In the order of the numbers, and no two at once.
  const turns = [...waiting.keys()].slice(0, 8).map((place) => app.claim(place));
  const opened = (await Promise.all(turns)).map(({ opensAt }) => opensAt);
  expect(opened).toEqual([...new Set(opened)].toSorted((a, b) => a - b));
}

describe.each([
  ["a new version", "first", 1],
  ["and the one before again", "second", 0],
] as const)("deployed: %s", (_what, event, build) => {
  test("every number, turn, admission and purchase stays; open pages go on without being loaded again", async () => {
    const app = new App(location.url, event);
    const crowd = await gather(app);
    const pages =
      browser === undefined
        ? []
        : [
            await WaitingPage.open(browser, `${location.url}/events/far`),
            await WaitingPage.open(browser, `${location.url}/events/far`),
          ];
    const loaded = (page: WaitingPage) => page.page.evaluate("performance.timeOrigin");
    const before = await Promise.all(pages.map(loaded));
    const looks = pages.map((page) => page.looks);

    await location.stop();
    // One page looks while nobody is there.
    await pages[0]?.page.evaluate('dispatchEvent(new Event("online"))');
    if (pages[0] !== undefined) {
      await eventually("it has looked", () => (pages[0]?.looks ?? 0) > (looks[0] ?? 0));
    }
    location = await start(builds[build]);

    await expectKept(app, crowd);
    const told = pages.map((page) => page.looks);
    for (const [index, { page, number }] of pages.entries()) {
      await page.evaluate('dispatchEvent(new Event("online"))');
      await eventually("it looks", () => (pages[index]?.looks ?? 0) > (told[index] ?? 0));
      await page.locator('main[data-state="waiting"]').waitFor({ timeout: 60_000 });
      expect(Number(await page.locator("#number").textContent())).toBe(number);
    }
    expect(await Promise.all(pages.map(loaded))).toEqual(before);
    // Loaded again, the new version's page says the same.
    for (const { page, number, visitor } of pages) {
      await page.reload();
      await page.locator('main[data-state="waiting"]').waitFor();
      expect(Number(await page.locator("#number").textContent())).toBe(number);
      await visitor.context.close();
    }
  });
});
