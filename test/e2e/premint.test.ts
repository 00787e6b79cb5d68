/** Places given beforehand, from the list to the order: the command line, killed on its way, the mint, the edge. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";

import { openEvent, type System, startSystem } from "./start-system.ts";
import { App } from "./support/app.ts";
import { runCli, startCli } from "./support/cli.ts";
import { eventually } from "./support/eventually.ts";
import { Organizer } from "./support/organizer.ts";

const PEOPLE = 20_000;
const EVENT = "invited";

let system: System;
beforeAll(async () => {
  system = await startSystem();
});
afterAll(async () => {
  await system?.stop();
});

interface Line {
  readonly id: string;
  readonly number: number;
  readonly visitor: string;
  readonly ticket: string;
}

test("law 1: a list of 20,000 whose command is killed twice: everybody one place, nobody's twice; and whoever holds one buys", async () => {
  await openEvent(system.ready, { event: EVENT, ratePerMinute: 6_000 });
  const ids = Array.from({ length: PEOPLE }, (_, index) => `fan-${index}`);
  writeFileSync(join(system.dataDir, "people.csv"), `id\n${ids.join("\n")}\n`);
  const out = join(system.dataDir, "places.jsonl");
  const args = ["premint", "--event", EVENT, "--in", "people.csv", "--out", "places.jsonl"];
  const sizeOf = () => (existsSync(out) ? statSync(out).size : 0);
  for (let kill = 0; kill < 2; kill += 1) {
    const run = startCli(system, args);
    const before = sizeOf();
    await expect
      .poll(() => sizeOf() > before || run.child.exitCode !== null, {
        timeout: 30_000,
        interval: 1,
      })
      .toBe(true);
    run.child.kill("SIGKILL");
    await run.ended;
  }
  const { app, joined } = await someoneJoins();
  const ran = await runCli(system, ...args, "--json");
  expect(ran.code).toBe(0);
  expect(ran.json).toMatchObject({ places: PEOPLE, isSecret: true });
  const lines = readFileSync(out, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);
  expect(lines.map(({ id }) => id)).toEqual(ids);
  expect(new Set([...lines.map(({ number }) => number), joined]).size).toBe(PEOPLE + 1);

  const [first] = lines;
  if (first === undefined) throw new Error("nobody");
  expect((await app.join(first)).number).toBe(first.number);
  const claimed = await app.claim(first);
  const [key, { sku }] = [randomUUID(), system.ready];
  await eventually("an order", async () => (await app.buy(claimed, { key, sku })).status === 201);
});

async function someoneJoins(): Promise<{ app: App; joined: number }> {
  const app = await new App(system.ready.edge, EVENT).known();
  const { number: joined } = await app.join();
  return { app, joined };
}

interface Admitted {
  readonly number: number;
  readonly state: string;
  readonly opensAt: number;
  readonly admission: string;
}

test("law 3: admissions for 1,200 places, collected by a command that is killed, beside a hold: each for a slot that the drip gave, and good at the edge", async () => {
  const [event, people] = ["collected", 1_200];
  await openEvent(system.ready, {
    ...{ event, ratePerMinute: 24_000, horizonSeconds: 10 },
    ...{ lifetimeSeconds: 120, claimWindowSeconds: 60 },
  });
  const ids = Array.from({ length: people }, (_, index) => `fan-${index}`);
  writeFileSync(join(system.dataDir, "guests.csv"), `id\n${ids.join("\n")}\n`);
  const [given, out] = ["guests.jsonl", "collected.jsonl"];
  const list = ["--event", event, "--in", "guests.csv", "--out", given];
  const placed = await runCli(system, "premint", ...list);
  expect(placed.code).toBe(0);
  const read = (name: string): string => readFileSync(join(system.dataDir, name), "utf8");
  const args = ["admissions", "--in", given, "--out", out, "--json"];
  const run = startCli(system, args);
  await eventually(
    "the first rows",
    () => existsSync(join(system.dataDir, out)) && read(out) !== "",
  );
  run.child.kill("SIGKILL");
  await run.ended;

  const organizer = new Organizer(system.ready, event);
  const again = startCli(system, args);
  await organizer.hold();
  await eventually("a hold lasts for its second", async () => (await organizer.resume(), true));
  const ran = await again.ended;
  expect([ran.code, ran.json.admitted]).toEqual([0, people]);

  const rows = read(out)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Admitted);
  const last = [...new Map(rows.map((row) => [row.number, row])).values()];
  expect(last).toHaveLength(people);
  expect((await organizer.status()).claimed).toBe(people);
  // A hold moves slots; no two of them are closer than the rate says, but for a millisecond of rounding.
  const opens = last.map(({ opensAt }) => opensAt).sort((a, b) => a - b);
  for (const [index, at] of opens.entries()) {
    const earlier = opens[index - 400] ?? -Infinity;
    expect(at - earlier).toBeGreaterThanOrEqual(1_000 - 1);
  }
  const app = await new App(system.ready.edge, event).known();
  const places = read(given).trimEnd().split("\n");
  const moved = rows.at(-1);
  const { visitor } = JSON.parse(places[(moved?.number ?? 1) - 1] ?? "") as Line;
  const pass = { visitor, admission: moved?.admission ?? "" };
  const [key, { sku }] = [randomUUID(), system.ready];
  await eventually("an order", async () => (await app.buy(pass, { key, sku })).status === 201);
});
