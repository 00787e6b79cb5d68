import { Secret } from "@vestibule/service/secret";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunningPurchase } from "../src/service.ts";
import { createStock } from "../src/stock.ts";
import { createSupply, type Supply } from "../src/supply.ts";
import { many } from "./ledger-world.ts";
import { EVENT, type PurchaseWorld, purchaseWorld } from "./purchase-world.ts";

const TOKEN = "the-token-of-the-supply-in-these-tests";
let world: PurchaseWorld;
let second: RunningPurchase;
let supply: Supply;
beforeEach(async () => {
  world = await purchaseWorld({ config: { supplyToken: new Secret(TOKEN) } });
  second = await world.another(31);
  supply = createSupply(world.database);
  await world.setStock(EVENT, "seat", 1);
  await world.setStock(EVENT, "box", 1);
});
afterEach(async () => {
  await second.stop();
  await world.close();
});

const buy = async (sku: string, path = "purchases") =>
  world.buy(await world.fan(), { path, body: { sku, quantity: 1 } });
const reports = () =>
  world.mint.reports.map(({ authorization: _authorization, ...report }) => report);
/** What the mint was told of the event being sold out, a change each, in the order of their sequence. */
const told = () => {
  const bySeq = new Map(reports().map(({ soldOut, seq }) => [seq, soldOut]));
  const inOrder = [...bySeq].toSorted(([a], [b]) => a - b).map(([, soldOut]) => soldOut);
  return inOrder.filter((soldOut, index) => soldOut !== (inOrder[index - 1] ?? false));
};
const row = async () => {
  const [found] = await world.database.sql`
    select sold_out as "soldOut", acked_seq = seq and last_call_acked_seq = seq and left_acked_seq = seq as heard from supply where event = ${EVENT}`;
  return found;
};

test("the last piece of all sold or held is told to the mint at once; what comes back as well", async () => {
  expect((await buy("seat")).status).toBe(201);
  const fan = await world.fan();
  const body = { sku: "box", quantity: 1 };
  const held = await world.buy(fan, { path: "holds", body });
  const startedAt = performance.now();
  await expect.poll(told).toEqual([true]);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  const { holdId } = (await held.json()) as { holdId: string };
  await world.buy(fan, { path: `holds/${holdId}/cancel`, body: {} });
  await expect.poll(told).toEqual([true, false]);
  await expect.poll(row).toEqual({ soldOut: false, heard: true });
  const authorizations = new Set(world.mint.reports.map(({ authorization }) => authorization));
  expect(authorizations).toEqual(new Set([`Bearer ${TOKEN}`]));
});

test("an organizer who adds stock, or sets it to what is sold, is told of too", async () => {
  await buy("seat");
  await buy("box");
  await expect.poll(row).toEqual({ soldOut: true, heard: true });
  await world.setStock(EVENT, "late", 5);
  await expect.poll(row).toEqual({ soldOut: false, heard: true });
  await world.setStock(EVENT, "late", 0);
  await expect.poll(row).toEqual({ soldOut: true, heard: true });
  expect(told()).toEqual([true, false, true]);
});

test("a change that nobody told of (a process that died) is found by any instance within seconds", async () => {
  await world.database.sql`update stock set total = sold`;
  await expect.poll(row, { timeout: 3_000 }).toEqual({ soldOut: true, heard: true });
});

test.each([["silence"], ["cut-off"], [503], [401], [200]] as const)(
  "a mint that answers with %s is told again until it hears, and sales go on meanwhile",
  async (answer) => {
    world.mint.supplyAnswer = answer;
    await buy("seat");
    expect((await buy("box")).status).toBe(201);
    await expect.poll(() => world.mint.reports.length, { timeout: 6_000 }).toBeGreaterThan(2);
    expect(await row()).toEqual({ soldOut: true, heard: false });
    world.mint.supplyAnswer = 204;
    await expect.poll(row, { timeout: 8_000 }).toEqual({ soldOut: true, heard: true });
    const [first, ...more] = reports().filter(({ soldOut }) => soldOut);
    for (const report of more) expect(report).toEqual(first);
  },
);

test("an event that sells out while everything changes: a number of the sequence always says the same", async () => {
  const flips = many(40, (index) => index);
  await Promise.all(
    flips.map(async (index) => {
      await world.database.sql`update stock set total = ${index % 2} where sku = 'seat'`;
      await world.database.sql`update stock set total = ${index % 2} where sku = 'box'`;
      await supply.look(EVENT);
    }),
  );
  await world.database.sql`update stock set total = 0`;
  await expect.poll(row, { timeout: 3_000 }).toMatchObject({ soldOut: true });
  await expect.poll(row).toEqual({ soldOut: true, heard: true });
  const saidBySeq = new Map<number, object>();
  for (const report of reports()) {
    expect(saidBySeq.get(report.seq) ?? report).toEqual(report);
    saidBySeq.set(report.seq, report);
  }
  expect(told().at(-1)).toBe(true);
});

test("a failover that lost the last commits: what is told afterwards is above all that the mint has heard", async () => {
  await buy("seat");
  await buy("box");
  await expect.poll(row).toEqual({ soldOut: true, heard: true });
  const heard = Math.max(...reports().map(({ seq }) => seq));
  for (const isRowLost of [false, true]) {
    // The promoted server never had them.
    if (isRowLost) await world.database.sql`delete from supply`;
    else {
      await world.database
        .sql`update supply set sold_out = false, seq = 1, acked_seq = 1, last_call_acked_seq = 1, left_acked_seq = 1`;
    }
    await expect.poll(row, { timeout: 3_000 }).toEqual({ soldOut: true, heard: true });
    expect(reports().at(-1)!.seq).toBeGreaterThan(heard);
  }
});

test("an event without stock is never told of; one with some left is told of about how much", async () => {
  await world.setStock("autumn", "seat", 2);
  const levels = await supply.levels([EVENT, "autumn", "winter"]);
  expect(levels.map(({ event }) => event)).toEqual(["autumn", EVENT]);
  expect(await supply.look("winter")).toBeUndefined();
  expect(await supply.look("autumn", { again: true })).toMatchObject({ soldOut: false, left: 9 });
  expect(await createStock(world.database).skus([EVENT, "autumn", "winter"])).toEqual([
    { event: "autumn", sku: "seat", perPurchaseMax: 100 },
    { event: EVENT, sku: "box", perPurchaseMax: 100 },
    { event: EVENT, sku: "seat", perPurchaseMax: 100 },
  ]);
  expect(reports().filter(({ soldOut }) => soldOut)).toEqual([]);
});

/** Of each report that says something else of it than the one before. */
const lastCalls = () =>
  reports()
    .map(({ lastCall }) => lastCall ?? false)
    .filter((said, index, all) => said !== (all[index - 1] ?? false));

test("what is left is told as a band, with what is held in it, and again only when the band is another", async () => {
  const lefts = () => [...new Map(reports().map(({ seq, left }) => [seq, left])).values()];
  await world.setStock(EVENT, "balcony", 51);
  await expect.poll(() => lefts().at(-1), { timeout: 4_000 }).toBe(100);
  const body = { sku: "balcony", quantity: 3 };
  const held = await world.buy(await world.fan(), { path: "holds", body });
  expect(held.status).toBe(201);
  await buy("balcony");
  await buy("balcony");
  // 51 are not sold, 3 of them are held.
  expect((await supply.levels([EVENT]))[0]).toMatchObject({ left: 48, unsold: 100 });
  const before = lefts();
  await supply.look(EVENT);
  expect(lefts()).toEqual(before);
  await buy("balcony");
  await expect.poll(() => lefts().at(-1), { timeout: 4_000 }).toBe(50);
  await expect.poll(row).toEqual({ soldOut: false, heard: true });
});

test("what the drip can bring the buyers of within two minutes is in its last call at once, by one report", async () => {
  // 60 a minute: 240 of them.
  await expect.poll(lastCalls, { timeout: 6_000 }).toEqual([true]);
  await expect.poll(row).toEqual({ soldOut: false, heard: true });
  await world.setStock(EVENT, "late", 239);
  expect((await supply.levels([EVENT]))[0]).toMatchObject({ left: 241, told: { lastCall: true } });
  await buy("seat");
  await buy("box");
  await world.setStock(EVENT, "late", 0);
  await expect.poll(told, { timeout: 3_000 }).toEqual([true]);
  expect(reports().at(-1)).toMatchObject({ soldOut: true, lastCall: true });
});

test("of many who find it at once one writes a last call down, and it is due until it is heard", async () => {
  // The mint knows no such event: nobody else looks at it.
  await world.setStock("winter", "seat", 5);
  const looks = await Promise.all(many(20, () => supply.look("winter", { lastCall: true })));
  expect(new Set(looks.map((report) => report?.seq)).size).toBe(1);
  const [report] = looks;
  expect(report).toMatchObject({ soldOut: false, lastCall: true, left: 9, soldOutHeard: false });
  await supply.acknowledge(report!, "sold-out");
  expect(await supply.look("winter")).toEqual({ ...report, soldOutHeard: true });
  await supply.acknowledge(report!, "last-call");
  const mostly = { ...report, soldOutHeard: true, lastCallHeard: true };
  expect(await supply.look("winter")).toEqual(mostly);
  await supply.acknowledge(report!, "all");
  expect(await supply.look("winter", { lastCall: true })).toBeUndefined();
  // A mint may have forgotten it.
  expect(await supply.look("winter", { again: true })).toEqual(mostly);
  expect((await supply.levels(["winter"]))[0]).toMatchObject({ wasTold: true });
  const over = await supply.look("winter", { lastCall: false });
  expect(over).toMatchObject({ soldOut: false, lastCall: false });
  expect(over!.seq).toBeGreaterThan(report!.seq);
});

test("a mint that knows no last call hears that all is gone; a newer one that follows it hears the rest", async () => {
  world.mint.knowsLastCall = false;
  await buy("seat");
  await buy("box");
  await expect.poll(told, { timeout: 5_000 }).toEqual([true]);
  const unheard = async () => (await supply.levels([EVENT]))[0]?.unheard;
  await expect.poll(unheard).toEqual({ soldOut: false, lastCall: true, unsold: true });
  expect(await supply.look(EVENT)).toMatchObject({ soldOut: true, soldOutHeard: true });
});

test("the release before, which knows sold out alone, raises and acknowledges numbers beside this one: nothing is lost", async () => {
  await supply.look(EVENT, { lastCall: true });
  const { sql } = world.database;
  // What its `look` and `acknowledge` do.
  await sql`
    update supply set sold_out = true, seq = greatest(seq + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint)
     where event = ${EVENT}`;
  await sql`update supply set acked_seq = seq where event = ${EVENT} and acked_seq < seq`;
  await world.setStock(EVENT, "seat", 0);
  await world.setStock(EVENT, "box", 0);
  await expect.poll(row, { timeout: 3_000 }).toEqual({ soldOut: true, heard: true });
  expect(reports().at(-1)).toMatchObject({ soldOut: true, lastCall: true });
});

test("without a token nothing is told", async () => {
  const quiet = await purchaseWorld();
  await quiet.setStock(EVENT, "seat", 1);
  expect((await quiet.buy(await quiet.fan())).status).toBe(201);
  await quiet.close();
  expect(quiet.mint.reports).toEqual([]);
});
