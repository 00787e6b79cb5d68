/**
 * What is down, and what happens (design section 11), at an edge whose ways to the mint, the purchase
 * API and the shop can be cut. Nothing is told to recover: mending the way is all that is done.
 */
import { randomUUID } from "node:crypto";

import {
  ADMISSION_HEADER,
  EDGE_PREFIX,
  IDEMPOTENCY_KEY_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import type { HoldAnswer } from "@vestibule/contracts/purchase-api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type System, freePortBase, openEvent, startSystem } from "./start-system.ts";
import { App, type Claimed, type Pass, problemOf, send } from "./support/app.ts";
import { Cuttable } from "./support/cuttable.ts";
import { eventually } from "./support/eventually.ts";
import { Organizer } from "./support/organizer.ts";
import { type RecordingOrigin, startRecordingOrigin } from "./support/recording-origin.ts";
import { type SecondEdge, startSecondEdge } from "./support/second-edge.ts";

const HORIZON_SECONDS = 10;
/** From the answer to the last sale until the edge's drip says that it was. */
const TOLD_MS_MAX = 2_000;
const EVENTS = {
  refused: { ratePerMinute: 120 },
  hanging: { ratePerMinute: 120 },
  purchase: { ratePerMinute: 60_000 },
  origin: { ratePerMinute: 60_000 },
  supply: { ratePerMinute: 60_000 },
};
type EventName = keyof typeof EVENTS;

let system: System;
let mint: Cuttable;
let purchase: Cuttable;
let shop: Cuttable;
let recording: RecordingOrigin;
let edge: SecondEdge;

beforeAll(async () => {
  system = await startSystem();
  const port = await freePortBase();
  for (const [event, settings] of Object.entries(EVENTS)) {
    await openEvent(
      system.ready,
      {
        event,
        hosts: [`127.0.0.1:${port}`],
        horizonSeconds: HORIZON_SECONDS,
        lifetimeSeconds: 300,
        ...settings,
      },
      event === "supply" ? { total: 2 } : { total: 1_000 },
    );
  }
  recording = await startRecordingOrigin();
  mint = await Cuttable.before(system.ready.mint);
  purchase = await Cuttable.before(system.ready.purchase);
  shop = await Cuttable.before(recording.url);
  const ways = { mint: mint.url, purchase: purchase.url, origin: shop.url };
  edge = await startSecondEdge(system, { port, ...ways });
  await Promise.all(Object.keys(EVENTS).map((event) => at(event as EventName).known()));
});
afterAll(async () => {
  await edge?.stop();
  await Promise.all([mint?.close(), purchase?.close(), shop?.close(), recording?.close()]);
  await system?.stop();
});

const at = (event: EventName): App => new App(edge.url, event);

/** As a browser asks for the event's page. */
function page(event: EventName) {
  return send(`${edge.url}/events/${event}`, { headers: { Accept: "text/html" } });
}

function passHeaders({ admission, visitor }: Pass): Record<string, string> {
  return { [ADMISSION_HEADER]: admission, [VISITOR_HEADER]: visitor };
}

async function admitted(app: App): Promise<Claimed> {
  const pass = await app.claim(await app.join());
  await app.enterWhenOpen(pass);
  return pass;
}

describe.each([
  ["refused", "refuses"],
  ["hanging", "hangs"],
] as const)("the mint is away: %s", (event, how) => {
  test(`polls, pages and admitted fans go on, joins are told to come back, who holds an admission enters, nobody new does, and all is well again when it is back (${how})`, async () => {
    const app = at(event);
    const inside = await admitted(app);
    // Some whose slot is inside the horizon, and some far behind it: 120 a minute, 10 s.
    const places = await app.joinAll(40);
    const near = await Promise.all(places.slice(4, 10).map((place) => app.claim(place)));
    const lastPlace = places.toSorted((a, b) => a.number - b.number).at(-1);
    const before = await app.drip();
    expect(lastPlace?.number).toBeGreaterThan(before.committed);
    await mint.cut(how);

    // Waiting fans: the drip, the page and the own place are there as before.
    expect((await app.drip()).seq).toBeGreaterThanOrEqual(before.seq);
    const holding = await page(event);
    expect(holding.status).toBe(200);
    expect(holding.text).toContain(`${EDGE_PREFIX}/events/${event}/tickets`);
    expect(await app.me(lastPlace!)).toMatchObject({ number: lastPlace?.number });

    // Joins: told when to come back, not all at once, and the page says so without JavaScript too.
    const joins = await Promise.all([1, 2, 3, 4, 5].map(() => app.tryJoin()));
    for (const join of joins) {
      expect(problemOf(join)).toBe("unavailable");
      expect(Number(join.headers.get("Retry-After"))).toBeGreaterThanOrEqual(1);
    }
    const form = await formJoin(event);
    expect(form.status).toBe(503);
    expect(form.headers.get("Retry-After")).not.toBeNull();
    expect(form.text).toContain("We cannot reach the line right now");

    // Nobody new: behind the horizon it is too early, inside it a claim needs the mint.
    expect(problemOf(await app.tryClaim(lastPlace!))).toBe("too-early");
    const committed = places.find(({ number }) => number === before.committed);
    expect(committed).toBeDefined();
    expect(problemOf(await app.tryClaim(committed!))).toBe("unavailable");

    // The front: whoever holds an admission enters when it opens, and whoever is in buys.
    await Promise.all(near.map((pass) => app.enterWhenOpen(pass)));
    expect(await app.enter(inside)).toBe(200);
    const bought = await app.buy(inside, { key: randomUUID(), sku: system.ready.sku });
    expect(bought.status).toBe(201);

    // Back: joins, claims and fresh statements by themselves, with every place as it was.
    await mint.mend();
    await eventually("a join", async () => (await app.tryJoin()).status === 201);
    await eventually("fresh statements", async () => (await app.drip()).seq > before.seq);
    const again = await app.tryJoin(lastPlace);
    expect(again.body.number).toBe(lastPlace?.number);
    await app.enterWhenOpen(await app.claim(lastPlace!));
  });
});

/** The join form of a browser without JavaScript, with the cookie that the page gave it. */
async function formJoin(event: EventName) {
  const cookie = (await page(event)).headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const answer = await fetch(at(event).endpoint("tickets"), {
    method: "POST",
    redirect: "manual",
    headers: {
      Cookie: cookie,
      Accept: "text/html",
      Origin: edge.url,
      "Sec-Fetch-Site": "same-origin",
    },
    body: new URLSearchParams({ return: `/events/${event}` }),
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

test("the purchase API is away: a clear 503, nothing is spent, waiting goes on, and the same purchase goes through when it is back", async () => {
  const app = at("purchase");
  const { sku } = system.ready;
  const organizer = new Organizer(system.ready, "purchase");
  const pass = await admitted(app);
  const key = randomUUID();
  await purchase.cut();
  const refused = await app.buy(pass, { key, sku });
  expect(problemOf(refused)).toBe("unavailable");
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThanOrEqual(1);
  expect(await organizer.sold()).toBe(0);
  // Places, claims and the shop's pages do not need it.
  await admitted(app);
  expect(await app.enter(pass)).toBe(200);

  await purchase.mend();
  await eventually(
    "it goes through",
    async () => (await app.buy(pass, { key, sku })).status === 201,
  );
  expect(await organizer.sold()).toBe(1);
});

test("the last seat is gone: the edge says so within two seconds of the answer, also the second time, and goes on when a hold gives its seat back", async () => {
  const app = at("supply");
  const { sku } = system.ready;
  const [buyer, holder, last] = await Promise.all([admitted(app), admitted(app), admitted(app)]);
  const state = async (): Promise<string> => (await app.drip()).state;
  /** Since the answer before it, until the drip of the edge says it. */
  const toldAfter = async (wanted: string): Promise<number> => {
    const began = performance.now();
    const within = { withinMs: 10_000, everyMs: 25 };
    await eventually(`the drip says ${wanted}`, async () => (await state()) === wanted, within);
    return performance.now() - began;
  };
  expect((await app.buy(buyer, { key: randomUUID(), sku })).status).toBe(201);
  expect(await state()).toBe("open");

  const held = await send<HoldAnswer>(`${system.ready.purchase}/v1/events/supply/holds`, {
    method: "POST",
    headers: { ...passHeaders(holder), [IDEMPOTENCY_KEY_HEADER]: randomUUID() },
    json: { sku, quantity: 1 },
  });
  expect(held.status).toBe(201);
  expect(await toldAfter("soldout")).toBeLessThan(TOLD_MS_MAX);
  expect(problemOf(await app.buy(last, { key: randomUUID(), sku }))).toBe("sold-out");
  expect(problemOf(await app.tryJoin())).toBe("sold-out");

  const url = `${system.ready.purchase}/v1/events/supply/holds/${held.body.holdId}/cancel`;
  const released = await send(url, { method: "POST", headers: passHeaders(holder), json: {} });
  expect(released.status).toBe(200);
  expect(await toldAfter("open")).toBeLessThan(TOLD_MS_MAX);
  expect((await app.tryJoin()).status).toBe(201);

  expect((await app.buy(last, { key: randomUUID(), sku })).status).toBe(201);
  expect(await toldAfter("soldout")).toBeLessThan(TOLD_MS_MAX);
  expect(await new Organizer(system.ready, "supply").sold()).toBe(2);
});

test("the shop is away: 502 as a problem document, never the holding page, and the admission is as good as before", async () => {
  const app = at("origin");
  const pass = await admitted(app);
  await shop.cut();
  for (const accept of ["text/html", "application/json"]) {
    const answer = await send(`${edge.url}/events/origin`, {
      headers: { Accept: accept, ...passHeaders(pass) },
    });
    expect(answer.status).toBe(502);
    expect(problemOf(answer)).toBe("origin-unreachable");
    expect(answer.text).not.toContain("<html");
  }
  // Whoever waits sees the waiting room, as ever.
  expect((await page("origin")).status).toBe(200);

  await shop.mend();
  await eventually("the shop answers", async () => (await app.enter(pass)) === 200);
  const bought = await app.buy(pass, { key: randomUUID(), sku: system.ready.sku });
  expect(bought.status).toBe(201);
});
