/** PostgreSQL stops and comes back while the gate is at work. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKeyPair } from "@vestibule/keys/key-pair";
import { sleep } from "@vestibule/feed/fetch-text.system";
import { Secret } from "@vestibule/service/secret";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { type LocalPostgres, startLocalPostgres } from "@vestibule/testkit/local-postgres";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunningPurchase } from "../src/service.ts";
import { breakableStore, type BreakableStore } from "./gate-world.ts";
import { many } from "./ledger-world.ts";
import { wordOf } from "./problem-of.ts";
import { EVENT, type Fan, type PurchaseWorld, purchaseWorld } from "./purchase-world.ts";

const SEAT = { event: EVENT, sku: "seat" };
let home: string;
let server: LocalPostgres;
let world: PurchaseWorld;
let store: BreakableStore;
/** Two instances on one store and on a PostgreSQL of their own. */
let instances: RunningPurchase[];

const start = (port?: number) =>
  startLocalPostgres({
    dataDir: join(home, "data"),
    password: "of-this-test",
    ...(port === undefined ? {} : { port }),
  });

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "vestibule-away-"));
  chmodSync(home, 0o755); // the server may run as another user
  server = await start();
  const clock = new FakeClock();
  store = breakableStore(clock);
  const creditKey = new Secret(JSON.stringify((await generateKeyPair()).privateJwk));
  world = await purchaseWorld({ clock, store, config: { creditKey } });
  const config = { databaseUrl: new Secret(server.url()) };
  instances = [await world.another(81, { config }), await world.another(82, { config })];
});
afterEach(async () => {
  for (const instance of instances) await instance.stop();
  await world.close();
  await server.stop();
  rmSync(home, { recursive: true, force: true });
});

/** As a crash: every connection and transaction is gone at once. */
async function restart(): Promise<void> {
  process.kill(server.pid, "SIGQUIT");
  await server.stop();
  server = await start(server.port);
}

async function sell(total: number): Promise<void> {
  await instances[0]!.database.sql`
    insert into stock (event, sku, total, per_purchase_max, show_remaining)
    values (${EVENT}, 'seat', ${total}, 10, true)`;
  await expect
    .poll(async () => (await store.gate.inspect(SEAT)).left, { timeout: 8_000 })
    .toBe(total);
}

const buy = (fan: Fan, index: number) => world.buy(fan, { base: instances[index % 2]!.url });
const crowd = (size: number) => Promise.all(many(size, () => world.fan()));

async function words(answers: Promise<Response>[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const answer of await Promise.all(answers)) {
    const word = await wordOf(answer);
    counts[word] = (counts[word] ?? 0) + 1;
  }
  return counts;
}

test("away for longer than the seats last: nobody is told sold out, everybody has a credit, and all is sold afterwards", async () => {
  await sell(16);
  const fans = await crowd(40);
  await server.stop();
  for (const [index, fan] of fans.entries()) {
    const answer = await buy(fan, index);
    expect(await wordOf(answer)).toBe("503 unavailable");
    expect(await answer.json()).toMatchObject({ credit: expect.any(String) as string });
  }
  // Every seat was counted off for somebody whose transaction was lost.
  expect((await store.gate.inspect(SEAT)).left).toBe(0);
  server = await start(server.port);
  await expect.poll(() => instances[0]!.database.isUp()).toBe(true);
  const again = [...fans].toReversed();
  expect(await words(again.map((fan, index) => buy(fan, index)))).toEqual({
    "201": 16,
    "409 sold-out": 24,
  });
  const [books] = await instances[0]!.database.sql`
    select sold, (select count(*)::int from orders) as orders from stock`;
  expect(books).toEqual({ sold: 16, orders: 16 });
});

test("crashed and started again in the middle of transactions, twice, while 150 buy 60 seats: 60 orders, and every buyer has theirs", async () => {
  await sell(60);
  const fans = await crowd(150);
  const seen: string[] = [];
  const insist = async (fan: Fan, index: number): Promise<{ word: string; order?: unknown }> => {
    for (;;) {
      const answer = await buy(fan, index);
      const word = await wordOf(answer);
      seen.push(word);
      if (word === "201") return { word, order: await answer.json() };
      // What another request of theirs left running is looked at again, as an outage is.
      if (word !== "503 unavailable" && word !== "409 in-progress") return { word };
      await sleep(50);
    }
  };
  // So that there is a middle: every purchase takes a moment.
  await instances[0]!.database.sql.unsafe(`
    create function slowly() returns trigger language plpgsql as $$
    begin perform pg_sleep(0.02); return new; end $$;
    create trigger slowly before insert on orders for each row execute function slowly();`);
  const insisting = Promise.all(fans.map((fan, index) => insist(fan, index)));
  for (const after of [8, 30]) {
    await expect
      .poll(() => seen.filter((word) => word === "201").length, { interval: 5 })
      .toBeGreaterThanOrEqual(after);
    await restart();
  }
  const ends = await insisting;
  expect(seen).toContain("503 unavailable");
  const winners = ends.filter(({ word }) => word === "201");
  const rest = ends.filter(({ word }) => word === "409 sold-out");
  expect([winners.length, rest.length]).toEqual([60, 90]);
  const orders = await instances[0]!.database.sql<{ id: string }[]>`
    select order_id as id from orders order by order_id`;
  const told = winners.map(({ order }) => (order as { orderId: string }).orderId);
  expect(told.toSorted()).toEqual(orders.map(({ id }) => id).toSorted());
  const [books] = await instances[0]!.database.sql`
    select sold, held, (select count(*)::int from spends) as spends from stock`;
  expect(books).toEqual({ sold: 60, held: 0, spends: 60 });
}, 60_000);
