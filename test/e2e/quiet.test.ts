/** A sale in which nobody waits: the waiting room must not be felt, and must not run ahead. */
import { servingNumber } from "@vestibule/drip/line";
import { afterAll, beforeAll, expect, test } from "vitest";

import { type System, startSystem } from "./start-system.ts";
import { App } from "./support/app.ts";
import { eventually, watch } from "./support/eventually.ts";
import { Organizer } from "./support/organizer.ts";

const IN_WITHIN_MS = 2_000;
const NEWCOMERS = 6;
const QUIET_MS = 1_500;

let system: System;
let app: App;
let organizer: Organizer;

beforeAll(async () => {
  system = await startSystem({ rate: 120, horizon: 10, lifetime: 60 });
  app = await new App(system.ready.edge, system.ready.event).known();
  organizer = new Organizer(system.ready, system.ready.event);
});
afterAll(() => system?.stop());

/** What a reader makes of a statement: its own figure and what it computes from the segments. */
async function look(): Promise<{ readonly serving: number; readonly issued: number }> {
  const drip = await app.drip();
  // The statement was read first: whoever joined since is issued, and cannot be served by it.
  const { highestNumber } = await organizer.status();
  const computed = servingNumber(drip.segments, Date.now(), { ...drip, atLeast: drip.serving });
  return { serving: Math.max(computed, drip.serving), issued: highestNumber };
}

test("whoever comes when nobody waits is in the shop within 2 s, one newcomer after the other", async () => {
  for (let newcomer = 0; newcomer < NEWCOMERS; newcomer += 1) {
    const began = performance.now();
    const place = await app.join();
    const pass = await app.claim(place, IN_WITHIN_MS);
    await app.enterWhenOpen(pass, IN_WITHIN_MS);
    const tookMs = performance.now() - began;
    expect(tookMs).toBeLessThan(IN_WITHIN_MS);
    // Nobody comes until the line is quiet again.
    await eventually("nobody waits", async () => (await organizer.status()).upcoming === 0);
  }
});

test("quiet time earns no credit: after it the line serves nobody who is not there, and a rush gets the rate", async () => {
  const until = performance.now() + QUIET_MS;
  const quiet = await watch(look, { isOver: () => performance.now() > until, everyMs: 100 });
  expect(quiet.length).toBeGreaterThan(3);
  for (const { serving, issued } of quiet) expect(serving).toBeLessThanOrEqual(issued);

  const rush = await app.joinAll(12);
  const slots = await Promise.all(rush.map((place) => app.claim(place)));
  const opens = slots.map(({ opensAt }) => opensAt).sort((a, b) => a - b);
  const first = opens[0] ?? 0;
  // 120 a minute: the k-th of them opens no sooner than k half seconds after the first.
  for (const [k, at] of opens.entries()) expect(at - first).toBeGreaterThanOrEqual(k * 500 - 1);

  const { serving, issued } = await look();
  expect(serving).toBeLessThanOrEqual(issued);
});
