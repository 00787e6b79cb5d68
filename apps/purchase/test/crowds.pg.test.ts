/** One thing that everybody wants, or looks at, takes nothing from the rest. */
import { connectDatabase, type Database } from "@vestibule/db/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { many } from "./ledger-world.ts";
import { wordOf } from "./problem-of.ts";
import { EVENT, type PurchaseWorld, purchaseWorld, SHOP_TOKEN } from "./purchase-world.ts";

let world: PurchaseWorld;
/** Connections of its own: the world's are what is tested. */
let outside: Database;
beforeEach(async () => {
  // As few connections as the default has.
  world = await purchaseWorld({ config: { databaseConnectionsMax: 10 } });
  outside = connectDatabase({ url: world.databaseUrl, applicationName: "outside" });
  await world.setStock(EVENT, "seat", 1_000);
  await world.setStock("autumn", "seat", 1_000);
});
afterEach(async () => {
  await world.close();
  await outside.close();
});

/** Locks on the database until `release` is called. */
async function locked(statement: string): Promise<() => Promise<void>> {
  const release = Promise.withResolvers<void>();
  const isLocked = Promise.withResolvers<void>();
  const holding = outside.sql.begin(async (tx) => {
    await tx.unsafe(statement);
    isLocked.resolve();
    await release.promise;
  });
  await isLocked.promise;
  return async () => {
    release.resolve();
    await holding;
  };
}
const took = async (work: () => Promise<unknown>): Promise<number> => {
  const since = performance.now();
  await work();
  return performance.now() - since;
};

test("a sku whose row is locked: another event's buyers do not wait, the instance stays ready, all is sold later", async () => {
  const fans = await Promise.all(many(200, () => world.fan()));
  const others = await Promise.all(many(50, () => world.fan({ event: "autumn" })));
  const held = await world.fan({ event: "autumn" });
  const release = await locked(`select from stock where event = '${EVENT}' for update`);
  const stuck = fans.map((fan) => world.buy(fan));
  // Until they have all the connections that they get.
  await expect
    .poll(async () => {
      const [row] = await outside.sql<{ waiting: number }[]>`
        select count(*)::int as waiting from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`;
      return row?.waiting;
    })
    .toBe(4);
  const slowestMs = await Promise.all(
    others.map((fan) =>
      took(async () => expect((await world.buy(fan, { event: "autumn" })).status).toBe(201)),
    ),
  );
  expect(Math.max(...slowestMs)).toBeLessThan(1_000);
  const hold = await world.buy(held, { event: "autumn", path: "holds" });
  expect(hold.status).toBe(201);
  expect((await world.get("/readyz")).status).toBe(200);
  await release();
  const words = await Promise.all(stuck.map(async (answer) => wordOf(await answer)));
  expect(new Set(words)).toEqual(new Set(["201"]));
});

test("every connection busy for seconds: ready", async () => {
  const release = await locked("lock table stock in access exclusive mode");
  const fans = await Promise.all(many(40, () => world.fan({ event: "autumn" })));
  const stuck = fans.map((fan, index) =>
    world.buy(fan, { event: index % 2 === 0 ? EVENT : "autumn" }),
  );
  const ready = await world.get("/readyz");
  expect(await ready.json()).toMatchObject({ ready: true, checks: { database: true } });
  await release();
  await Promise.all(stuck);
});

test("a flood of strangers who look: buyers and the shop do not notice, and the view is one look", async () => {
  const fan = await world.fan();
  const hold = (await (await world.buy(fan, { path: "holds" })).json()) as { holdId: string };
  const path = `/v1/events/${EVENT}/holds/${hold.holdId}`;
  const release = await locked("lock table orders in access exclusive mode");
  const stranger = { "Vestibule-Visitor": (await world.fan()).visitor };
  const name = "n".repeat(22);
  const looks = many(300, () => world.get(`/v1/events/${EVENT}/orders/${name}`, stranger));
  const views = await Promise.all(many(300, () => world.get(`/v1/events/${EVENT}/stock`)));
  // They stand in line behind the looks, or there is no room: buyers have rooms of their own.
  expect(views.every(({ status }) => status === 200 || status === 503)).toBe(true);
  const spends = many(20, async () => world.buy(await world.fan(), { path: "spends" }));
  for (const answer of await Promise.all(spends)) expect(answer.status).toBe(201);
  const shop = await world.get(path, { Authorization: `Bearer ${SHOP_TOKEN}` });
  expect(shop.status).toBe(200);
  await release();
  const words = await Promise.all(looks.map(async (answer) => wordOf(await answer)));
  expect(new Set(words)).toEqual(new Set(["404 not-found", "503 unavailable"]));
});

test("the stock view: however many ask, PostgreSQL is asked once for each event, and nobody is refused", async () => {
  const release = await locked("lock table stock in access exclusive mode");
  const asked = many(600, (index) =>
    world.get(`/v1/events/${index % 2 === 0 ? EVENT : "autumn"}/stock`),
  );
  const looks = async () => {
    const [row] = await outside.sql<{ looks: number }[]>`
      select count(*)::int as looks from pg_stat_activity
       where datname = current_database() and application_name = 'vestibule-purchase-reads'
         and wait_event_type = 'Lock'`;
    return row?.looks;
  };
  await expect.poll(looks).toBe(2);
  await release();
  for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
  expect((await world.get(`/v1/events/${EVENT}/stock`)).status).toBe(200);
});
