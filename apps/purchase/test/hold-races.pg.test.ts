import { afterEach, beforeEach, expect, test } from "vitest";
import type { Hold } from "../src/ledger-types.ts";
import { EVENT, type LedgerWorld, SKU, attemptOf, ledgerWorld, many } from "./ledger-world.ts";

let world: LedgerWorld;
beforeEach(async () => {
  world = await ledgerWorld();
});
afterEach(() => world.close());

const NOW = attemptOf(1).now;
const HOLDS = 300;
const nameOf = ({ event, holdId }: Hold) => ({ event, holdId });

/** One hold of two seats each for as many fans. */
async function makeHolds(): Promise<Hold[]> {
  await world.put(2 * HOLDS, { perBuyerMax: 2 });
  const outcomes = await Promise.all(
    many(HOLDS, (index) => world.ledger.hold(attemptOf(index + 1, { quantity: 2 }))),
  );
  return outcomes.flatMap((each) => (each.kind === "held" ? [each.hold] : []));
}

/**
 * The holds are over within the next `spreadMs`, in an order of their own: a test that goes through
 * them as they were made meets ends that are just past, just to come, and everything between. A few
 * last for a minute, so that a slow machine meets both.
 */
async function letThemEnd(spreadMs: number): Promise<void> {
  await world.database.sql`
    update holds set expires_at = date_trunc('milliseconds', clock_timestamp()
      + make_interval(secs => case when number % 50 = 1 then 60
          else ${spreadMs / 1_000}::float8 * (number * 7 % ${HOLDS}) / ${HOLDS} end))`;
}

/** Whatever is held yet is over now, and swept. */
async function endTheRest(): Promise<void> {
  await world.database.sql`
    update holds set expires_at = clock_timestamp() - interval '1 second' where state = 'held'`;
  await world.holds.sweep();
}

/** Two instances that sweep without a pause until `work` is done. */
async function whileSwept<Value>(work: () => Promise<Value>): Promise<Value> {
  const state = { on: true };
  const others = [world.another(), world.another()];
  await Promise.all(others.map(({ holds }) => holds.sweep())); // connected before it begins
  const sweeps = others.map(async ({ holds }) => {
    let ended = 0;
    while (state.on) ended += await holds.sweep();
    return ended + (await holds.sweep());
  });
  try {
    return await work();
  } finally {
    state.on = false;
    const ended = await Promise.all(sweeps);
    const [row] = await world.database.sql<{ expired: number; failed: number }[]>`
      select count(*) filter (where state = 'expired')::int as expired,
             count(*) filter (where state = 'failed')::int as failed from holds`;
    const sum = ended.reduce((all, one) => all + one, 0);
    // Each hold that expired was ended by exactly one sweep; it may have been failed since.
    expect(sum).toBeGreaterThanOrEqual(row?.expired ?? -1);
    expect(sum).toBeLessThanOrEqual((row?.expired ?? 0) + (row?.failed ?? 0));
  }
}

interface Books {
  readonly sold: number;
  readonly held: number;
  readonly orders: number;
  readonly spends: number;
  readonly totals: number;
  readonly states: Record<string, number>;
}
async function books(): Promise<Books> {
  const [row] = await world.database.sql<Books[]>`
    select sold, held, (select count(*)::int from orders) as orders,
           (select count(*)::int from spends) as spends,
           (select coalesce(sum(quantity), 0)::int from buyer_totals) as totals,
           (select jsonb_object_agg(state, count) from
             (select state, count(*) from holds group by state) as by_state) as states
      from stock where event = ${EVENT} and sku = ${SKU}`;
  if (row === undefined) throw new Error("no books");
  return row;
}

test("confirm and expiry at the same moment: exactly one wins, and the shop hears which", async () => {
  const holds = await makeHolds();
  const answers = await whileSwept(async () => {
    await letThemEnd(300);
    return Promise.all(
      holds.map((hold, index) =>
        world.holds.confirm({
          ...nameOf(hold),
          paymentReference: `pay-${index}`,
          orderId: `order-of-${hold.holdId}`,
          now: NOW,
        }),
      ),
    );
  });
  await world.holds.sweep();
  const confirmed = answers.filter(({ kind }) => kind === "confirmed").length;
  const over = answers.filter(({ kind }) => kind === "over").length;
  expect(confirmed + over).toBe(HOLDS);
  expect(confirmed).toBeGreaterThan(0);
  expect(over).toBeGreaterThan(0);
  expect(await books()).toEqual({
    sold: 2 * confirmed,
    held: 0,
    orders: confirmed,
    spends: HOLDS,
    totals: 2 * confirmed,
    states: { confirmed, expired: over },
  });
});

test("cancel, failure, confirm and expiry at the same moment: one end each, the stock exact", async () => {
  const holds = await makeHolds();
  const other = world.another();
  const answers = await whileSwept(async () => {
    await letThemEnd(400);
    const all = holds.flatMap((hold, index) => {
      const name = nameOf(hold);
      const visitor = `visitor-${index + 1}`;
      const order = { paymentReference: "p", orderId: `order-of-${hold.holdId}`, now: NOW };
      const calls = [
        () => world.holds.cancel({ ...name, by: { kind: "buyer", visitor } }),
        () => other.holds.cancel({ ...name, by: { kind: "shop" } }),
        () => other.holds.confirm({ ...name, ...order }),
        ...(index % 3 === 0
          ? [
              () => world.holds.fail(name),
              () => other.holds.fail(name),
              () => other.holds.fail(name),
            ]
          : []),
      ];
      return calls.map(async (call) => {
        return { holdId: hold.holdId, kind: (await call()).kind };
      });
    });
    return Promise.all(all);
  });
  await world.holds.sweep();
  const { sold, held, orders, spends, totals, states } = await books();
  const { confirmed = 0, failed = 0, held: live = 0 } = states;
  expect(live).toBe(0);
  expect([sold, held, orders, totals]).toEqual([2 * confirmed, 0, confirmed, 2 * confirmed]);
  expect(spends).toBe(HOLDS - failed);
  expect(Object.values(states).reduce((sum, count) => sum + count, 0)).toBe(HOLDS);
  const confirmations = answers.filter(({ kind }) => kind === "confirmed");
  expect(confirmations).toHaveLength(confirmed);
});

test("extension and expiry at the same moment: whoever is told of more time has it", async () => {
  const holds = await makeHolds();
  const answers = await whileSwept(async () => {
    await letThemEnd(300);
    return Promise.all(
      holds.map((hold, index) =>
        world.holds.extend({ ...nameOf(hold), visitor: `visitor-${index + 1}` }),
      ),
    );
  });
  const extended = answers.filter(({ kind }) => kind === "done").length;
  expect(answers.filter(({ kind }) => kind === "over")).toHaveLength(HOLDS - extended);
  expect(extended).toBeGreaterThan(0);
  await world.holds.sweep();
  expect(await books()).toMatchObject({ held: 2 * extended, totals: 2 * extended });
});

test("seats that come back are bought while they come back, and never twice", async () => {
  const holds = await makeHolds();
  const seats = 2 * HOLDS;
  const outcomes = await whileSwept(async () => {
    await letThemEnd(300);
    const buyers = many(800, async (index) => {
      const outcome = await world.ledger.purchase(attemptOf(1_000 + index));
      await world.stock.set(EVENT, SKU, {
        total: seats,
        perPurchaseMax: 10,
        showRemaining: false,
        perBuyerMax: 2,
        holdSeconds: 60,
        holdExtensionSeconds: 0,
      });
      return outcome.kind;
    });
    const cancels = holds
      .slice(0, 100)
      .map((hold) => world.holds.cancel({ ...nameOf(hold), by: { kind: "shop" } }));
    const kinds = await Promise.all(buyers);
    await Promise.all(cancels);
    return kinds;
  });
  await endTheRest();
  const bought = outcomes.filter((kind) => kind === "bought").length;
  expect(outcomes.every((kind) => kind === "bought" || kind === "sold-out")).toBe(true);
  expect(await books()).toMatchObject({ sold: bought, held: 0, orders: bought, totals: bought });
  expect(bought).toBeLessThanOrEqual(seats);
});

test("many skus swept by three instances while their organizer changes them: no deadlock", async () => {
  const skus = many(12, (index) => `sku-${index}`);
  await Promise.all(skus.map((sku) => world.put(100, { sku, perBuyerMax: 100 })));
  const buyer = "one-buyer";
  await Promise.all(
    skus.flatMap((sku, place) =>
      many(20, (index) =>
        world.ledger.hold(attemptOf(place * 100 + index, { sku, buyer, jti: `${sku}-${index}` })),
      ),
    ),
  );
  const before = await deadlocks();
  await whileSwept(async () => {
    await letThemEnd(300);
    return Promise.all(
      skus.flatMap((sku, place) =>
        many(20, async (index) => {
          await world.ledger.purchase(
            attemptOf(place * 100 + index, {
              sku,
              buyer,
              jti: `${sku}-again-${index}`,
              idempotencyKey: "2",
            }),
          );
          await world.put(100 + index, { sku, perBuyerMax: 100 });
        }),
      ),
    );
  });
  await endTheRest();
  const rows = await world.database.sql`
    select distinct sold, held, quantity from stock join buyer_totals using (event, sku)`;
  expect([...rows]).toEqual([{ sold: 20, held: 0, quantity: 20 }]);
  expect(await deadlocks()).toBe(before);
});

async function deadlocks(): Promise<number> {
  const [row] = await world.database.sql<{ deadlocks: number }[]>`
    select deadlocks from pg_stat_database where datname = current_database()`;
  return row?.deadlocks ?? -1;
}
