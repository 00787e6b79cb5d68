import { afterEach, beforeEach, expect, test } from "vitest";
import { startLocalPostgres } from "@vestibule/testkit/local-postgres";
import { silentLog } from "@vestibule/service/log";
import { Secret } from "@vestibule/service/secret";
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { startPurchase } from "../src/service.ts";
import { configOf, EVENT, type PurchaseWorld, purchaseWorld } from "./purchase-world.ts";

let world: PurchaseWorld;
beforeEach(async () => {
  world = await purchaseWorld();
  await world.setStock(EVENT, "seat", 100);
});
afterEach(() => world.close());

const heldAt = (secondsAgo: number) => world.clock.now() - secondsAgo * 1_000;

test("a hold of everything refuses purchases with 503, and lost answers are still given", async () => {
  const [buyer, next] = [await world.fan(), await world.fan()];
  const order = await (await world.buy(buyer)).json();
  world.mint.drip = { state: "paused", heldSince: heldAt(1), heldScope: "all" };
  world.clock.advance(2_000);
  const statusOfAnother = async () => (await world.buy(await world.fan())).status;
  await expect.poll(statusOfAnother, { timeout: 5_000 }).toBe(503);
  const refused = await world.buy(next);
  expect(refused.headers.get("retry-after")).toBe("10");
  expect(await refused.json()).toMatchObject({ type: "urn:vestibule:problem:held" });
  expect(await (await world.buy(buyer)).json()).toEqual(order);
  world.mint.drip = {};
  world.clock.advance(2_000);
  await expect.poll(statusOfAnother, { timeout: 5_000 }).toBe(201);
  expect((await world.buy(next)).status).toBe(201);
});

test("a hold is heeded by the first purchase after a quiet time", async () => {
  expect((await world.buy(await world.fan())).status).toBe(201);
  world.clock.advance(3_600_000);
  world.mint.drip = { state: "paused", heldSince: heldAt(60), heldScope: "all" };
  expect((await world.buy(await world.fan())).status).toBe(503);
});

test("a hold of entries refuses whose slot opened after it; whoever was in goes on", async () => {
  world.mint.drip = { state: "paused", heldSince: heldAt(30), heldScope: "entries" };
  const [inside, outside] = [await world.fan({ secondsAgo: 60 }), await world.fan()];
  expect((await world.buy(inside)).status).toBe(201);
  expect((await world.buy(outside)).status).toBe(503);
});

test("an admission for a slot that a hold cut is refused after the hold", async () => {
  world.mint.drip = { cuts: [{ since: heldAt(30), until: heldAt(5) }] };
  const [before, cut] = [await world.fan({ secondsAgo: 60 }), await world.fan({ secondsAgo: 10 })];
  expect((await world.buy(before)).status).toBe(201);
  expect((await world.buy(cut)).status).toBe(401);
});

test("the mint away: whoever was admitted goes on buying", async () => {
  expect((await world.buy(await world.fan())).status).toBe(201);
  world.mint.away = true;
  world.clock.advance(120_000);
  expect((await world.buy(await world.fan())).status).toBe(201);
});

test("law 4: a second instance and a restarted one refuse what the first has spent", async () => {
  const fan = await world.fan();
  expect((await world.buy(fan)).status).toBe(201);
  const start = () => world.another(9);
  const second = await start();
  expect((await world.buy(fan, { base: second.url, key: "2" })).status).toBe(409);
  await second.stop();
  const restarted = await start();
  expect((await world.buy(fan, { base: restarted.url, key: "3" })).status).toBe(409);
  expect((await world.buy(fan, { base: restarted.url })).status).toBe(201);
  await restarted.stop();
});

test("nothing known of the mint is 503 and not ready; a database away stops the start", async () => {
  world.mint.away = true;
  const parts = { clock: world.clock, randomness: new SeededRandomness(9), log: silentLog };
  const config = configOf({ databaseUrl: world.databaseUrl, mintUrl: world.mint.url });
  const fresh = await startPurchase(config, parts);
  const fan = await world.fan();
  const refused = await world.buy(fan, { base: fresh.url });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "3"]);
  expect((await fetch(`${fresh.url}/readyz`)).status).toBe(503);
  await fresh.stop();
  const nowhere = new Secret("postgres://nobody@127.0.0.1:9/none");
  await expect(startPurchase({ ...config, databaseUrl: nowhere }, parts)).rejects.toMatchObject({
    code: "unavailable",
  });
});

test("PostgreSQL away is 503 within the deadline, and the service stays alive but not ready", async () => {
  const server = await startLocalPostgres();
  const service = await startPurchase(
    configOf({ databaseUrl: server.url(), mintUrl: world.mint.url }),
    { clock: world.clock, randomness: new SeededRandomness(9), log: silentLog },
  );
  const fan = await world.fan();
  expect((await world.buy(fan, { base: service.url })).status).toBe(404); // no such sku yet
  await expect.poll(async () => (await fetch(`${service.url}/readyz`)).status).toBe(200);
  await server.stop();
  const startedAt = performance.now();
  const refused = await world.buy(fan, { base: service.url });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(performance.now() - startedAt).toBeLessThan(6_000);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  await service.stop();
});
