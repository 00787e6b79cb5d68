import { Secret } from "@vestibule/service/secret";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunningPurchase } from "../src/service.ts";
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
  world.mint.reports.map(({ event, soldOut, seq }) => ({ event, soldOut, seq }));
const row = async () => {
  const [found] = await world.database.sql`
    select sold_out as "soldOut", seq, acked_seq as acked from supply where event = ${EVENT}`;
  return found;
};

test("the last piece of all sold or held is told to the mint at once; what comes back as well", async () => {
  expect((await buy("seat")).status).toBe(201);
  const fan = await world.fan();
  const body = { sku: "box", quantity: 1 };
  const held = await world.buy(fan, { path: "holds", body });
  const startedAt = performance.now();
  await expect.poll(reports).toContainEqual({ event: EVENT, soldOut: true, seq: 2 });
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  const { holdId } = (await held.json()) as { holdId: string };
  await world.buy(fan, { path: `holds/${holdId}/cancel`, body: {} });
  await expect.poll(reports).toContainEqual({ event: EVENT, soldOut: false, seq: 3 });
  await expect.poll(row).toEqual({ soldOut: false, seq: 3, acked: 3 });
  const authorizations = new Set(world.mint.reports.map(({ authorization }) => authorization));
  expect(authorizations).toEqual(new Set([`Bearer ${TOKEN}`]));
});

test("an organizer who adds stock, or sets it to what is sold, is told of too", async () => {
  await buy("seat");
  await buy("box");
  await expect.poll(row).toEqual({ soldOut: true, seq: 2, acked: 2 });
  await world.setStock(EVENT, "late", 5);
  await expect.poll(row).toEqual({ soldOut: false, seq: 3, acked: 3 });
  await world.setStock(EVENT, "late", 0);
  await expect.poll(row).toEqual({ soldOut: true, seq: 4, acked: 4 });
});

test("a change that nobody told of (a process that died) is found by any instance within seconds", async () => {
  await world.database.sql`update stock set total = sold`;
  await expect.poll(row, { timeout: 3_000 }).toEqual({ soldOut: true, seq: 2, acked: 2 });
});

test.each([["silence"], ["cut-off"], [503], [401], [200]] as const)(
  "a mint that answers with %s is told again until it hears, and sales go on meanwhile",
  async (answer) => {
    world.mint.supplyAnswer = answer;
    await buy("seat");
    expect((await buy("box")).status).toBe(201);
    await expect.poll(() => world.mint.reports.length, { timeout: 6_000 }).toBeGreaterThan(2);
    expect(await row()).toEqual({ soldOut: true, seq: 2, acked: 1 });
    world.mint.supplyAnswer = 204;
    await expect.poll(row, { timeout: 8_000 }).toEqual({ soldOut: true, seq: 2, acked: 2 });
    for (const report of reports()) expect(report).toEqual({ event: EVENT, soldOut: true, seq: 2 });
  },
);

test("an event that sells out while everything changes: the sequence grows by one with every change", async () => {
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
  await expect
    .poll(async () => {
      const { seq, acked } = (await row()) as { seq: number; acked: number };
      return seq === acked;
    })
    .toBe(true);
  // Even: sold out. A report and its sequence number always belong together.
  for (const { soldOut, seq } of reports()) expect(soldOut).toBe(seq % 2 === 0);
});

test("an event without stock, and one with some left, are never told of", async () => {
  await world.setStock("autumn", "seat", 2);
  expect(await supply.due([EVENT, "autumn", "winter"])).toEqual([]);
  expect(await supply.look("winter")).toBeUndefined();
  expect(await supply.look("autumn")).toBeUndefined();
  expect(await supply.skus([EVENT, "autumn", "winter"])).toEqual([
    { event: "autumn", sku: "seat", perPurchaseMax: 100 },
    { event: EVENT, sku: "box", perPurchaseMax: 100 },
    { event: EVENT, sku: "seat", perPurchaseMax: 100 },
  ]);
  expect(world.mint.reports).toEqual([]);
});

test("without a token nothing is told", async () => {
  const quiet = await purchaseWorld();
  await quiet.setStock(EVENT, "seat", 1);
  expect((await quiet.buy(await quiet.fan())).status).toBe(201);
  await quiet.close();
  expect(quiet.mint.reports).toEqual([]);
});
