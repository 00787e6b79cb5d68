/** The speed of a sale, from the command line to what a location shows: a preview, the change, and what came of it. */
import { opensAt } from "@vestibule/drip/segment";
import { afterAll, beforeAll, expect, test } from "vitest";

import { openEvent, type System, startSystem } from "./start-system.ts";
import { newVisitor, send } from "./support/app.ts";
import { runCli } from "./support/cli.ts";
import type { DripView } from "@vestibule/contracts/statements";

const EVENT = "steered";
const CROWD = 400;

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(async () => {
  await system?.stop();
});

const drip = async (): Promise<DripView> =>
  (await send<DripView>(`${system.ready.edge}/_vestibule/events/${EVENT}/drip`)).body;
const openings = ({ segments }: DripView): number[] =>
  segments.flatMap((segment) =>
    Array.from({ length: segment.count }, (_, k) => opensAt(segment, segment.base + k)),
  );

test("what a preview says is what then opens, no turn before it moves, and the plan's next step is told", async () => {
  await openEvent(system.ready, { event: EVENT, ratePerMinute: 600, horizonSeconds: 10 });
  const join = `${system.ready.mint}/v1/events/${EVENT}/tickets`;
  for (let joined = 0; joined < CROWD; joined += 20) {
    const some = Array.from({ length: 20 }, () =>
      send(join, { method: "POST", json: { visitor: newVisitor() } }),
    );
    for (const { status } of await Promise.all(some)) expect(status).toBe(201);
  }
  await expect
    .poll(async () => openings(await drip()).length, { timeout: 20_000 })
    .toBeGreaterThan(60);
  const before = openings(await drip());

  const args = ["events", "change", EVENT, "--rate", "120", "--step", "+10m=900", "--json"];
  const unasked = await runCli(system, ...args);
  expect([unasked.code, unasked.json.error]).toEqual([3, expect.stringContaining("--yes")]);
  const { code, json } = await runCli(system, ...args, "--yes");
  expect(code).toBe(0);
  const { takesHoldAt, after, at } = json.preview;
  expect(json.preview.changes.map(({ field }: { field: string }) => field)).toEqual(
    expect.arrayContaining(["ratePerMinute", "ratePlan"]),
  );
  expect(takesHoldAt).toBeGreaterThan(at);

  // What was committed when it was previewed opens as it was told; what comes after, two a second.
  const slots = new Set(before);
  await expect
    .poll(
      async () => {
        for (const each of openings(await drip())) slots.add(each);
        return Math.max(...slots);
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBeGreaterThan(takesHoldAt + 12_000);
  const seen = await drip();
  for (const each of openings(seen)) slots.add(each);
  const all = [...slots].toSorted((one, other) => one - other);
  expect(all.slice(0, before.length)).toEqual(before);
  const since = all.filter((each) => each >= takesHoldAt && each < takesHoldAt + 10_000);
  expect(since.length).toBeGreaterThanOrEqual(19);
  // A tick between preview and change may have committed one more piece of a second.
  expect(since.length).toBeLessThanOrEqual(20 + 12);
  expect(after.perMinute[1]).toBe(120);
  expect(seen).toMatchObject({ rate: 120, rates: [[expect.any(Number), 900]] });

  const shown = await runCli(system, "events", "show", EVENT, "--json");
  expect(shown.json).toMatchObject({ event: EVENT, rate: 120, ratePlan: [{ ratePerMinute: 900 }] });
  const listed = await runCli(system, "events", "list");
  expect(listed.out).toContain(EVENT);
});
