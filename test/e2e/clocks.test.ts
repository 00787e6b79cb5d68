/**
 * A location whose clock is wrong: the deployed bundle in workerd with another clock under it, and a real mint. Nothing is told
 * to recover: the clock is set right, and that is all.
 */
import { EDGE_PREFIX } from "@vestibule/contracts/names";
import type { EdgeRow, EdgesView } from "@vestibule/contracts/edges-api";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type System, freePortBase, openEvent, startSystem } from "./start-system.ts";
import { App, type Claimed, type Place, buy, problemOf, send } from "./support/app.ts";
import { eventually } from "./support/eventually.ts";
import { type RecordingOrigin, startRecordingOrigin } from "./support/recording-origin.ts";
import { type SecondEdge, startSecondEdge } from "./support/second-edge.ts";

const EVENT = "clocks";
/** A question every 5 s, and what workerd and a busy machine need. */
const RECOVERS_MS_MAX = 15_000;
/** By statements that look odd, with a look each second. */
const NOTICED_MS_MAX = 20_000;

let system: System;
let origin: RecordingOrigin;
let edge: SecondEdge;
/** At the location whose clock is right, and at the other one. */
let right: App;
let there: App;
let place: Place;
let fan: Claimed;

beforeAll(async () => {
  system = await startSystem();
  const port = await freePortBase();
  const host = new URL(system.ready.edge).host;
  await openEvent(system.ready, {
    ...{ event: EVENT, ratePerMinute: 6_000, lifetimeSeconds: 3_600 },
    hosts: [`127.0.0.1:${port}`, host, host.replace("localhost", "127.0.0.1")],
  });
  right = await new App(system.ready.edge, EVENT).known();
  place = await right.join();
  fan = await right.claim(place);
  origin = await startRecordingOrigin();
  edge = await startSecondEdge(system, { port, origin: origin.url, clock: "settable" });
  there = new App(edge.url, EVENT);
});
afterAll(async () => {
  await edge?.stop();
  await origin?.close();
  await system?.stop();
});

/** What a script with a good admission gets there: 200, or the code of the refusal. */
async function entering(): Promise<string> {
  const { admission, visitor } = fan;
  const headers = { "Vestibule-Admission": admission, "Vestibule-Visitor": visitor };
  return problemOf(await send(`${edge.url}/events/${EVENT}`, { headers }));
}

async function setClock(seconds: number): Promise<void> {
  await send(edge.url, { headers: { "Test-Clock-Off-Ms": String(seconds * 1_000) } });
}

/** Until the location's row at the mint has this state, and says that the clock is off by as much as it is. */
function reported(state: EdgeRow["state"], offSeconds: number): Promise<unknown> {
  const headers = { Authorization: `Bearer ${system.ready.adminToken}` };
  const isTold = (row: EdgeRow): boolean =>
    row.location === "second" &&
    row.state === state &&
    row.estimate !== undefined &&
    Math.abs(row.estimate.offsetMs - offSeconds * 1_000) <= row.estimate.uncertaintyMs;
  return eventually(
    `the mint hears that the clock is ${state}, ${offSeconds} s off`,
    async () => {
      await there.tryDrip(); // its traffic: a location asks while it is asked
      const { body } = await send<EdgesView>(`${system.ready.mint}/v1/admin/edges`, { headers });
      return body.edges.some(isTold);
    },
    { withinMs: NOTICED_MS_MAX, everyMs: 500 },
  );
}

test("ten minutes ahead from the start: nobody enters, everybody is told, places and turns are given; set right, the same fan enters", async () => {
  await setClock(600);
  expect(await entering()).toBe("clock-wrong");
  const page = await send(`${edge.url}/events/${EVENT}`, { headers: { Accept: "text/html" } });
  expect([page.status, page.text.includes('data-state="clock"')]).toEqual([200, true]);
  const newcomer = await there.join();
  const claimed = await there.claim(newcomer);
  const bought = await buy(there.endpoint("purchases"), fan, {
    ...{ key: "ahead", sku: system.ready.sku },
  });
  expect(problemOf(bought)).toBe("clock-wrong");
  expect(await there.drip()).toMatchObject({ state: "open", fault: "clock" });
  const health = await send(`${edge.url}${EDGE_PREFIX}/health`);
  expect(health.status).toBe(503);
  expect(health.body).toMatchObject({ location: "second", clock: { state: "wrong" } });
  await reported("wrong", 600);
  expect(origin.arrivals).toEqual([]);
  // Nobody else is affected.
  expect(await right.claim(place)).toMatchObject({ number: place.number });

  await setClock(0);
  await eventually("the fan enters", async () => (await entering()) === "200", {
    withinMs: RECOVERS_MS_MAX,
  });
  expect(await there.drip()).not.toHaveProperty("fault");
  await there.enterWhenOpen(claimed);
});

test("ten minutes behind while fans are there: noticed by itself; four seconds of a tolerance of five: a warning, and everybody enters; set right: good", async () => {
  await setClock(-600);
  await eventually("nobody enters", async () => (await entering()) === "clock-wrong", {
    withinMs: NOTICED_MS_MAX,
  });
  await there.join();
  await reported("wrong", -600);

  await setClock(-4);
  await eventually("the fan enters", async () => (await entering()) === "200", {
    withinMs: RECOVERS_MS_MAX,
  });
  await reported("warn", -4);
  expect(await entering()).toBe("200");

  await setClock(0);
  await reported("good", 0);
  expect(await entering()).toBe("200");
});
