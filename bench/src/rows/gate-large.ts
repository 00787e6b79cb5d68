import { latencyText, strayMisses, tallyText, winners } from "../purchase/answers.ts";
import { checkBooks, transactionsOf } from "../purchase/books.ts";
import { databaseOf, type GateSetting, SETTINGS, startGateSides } from "../purchase/gate-sides.ts";
import { SKU } from "../purchase/purchase-world.ts";
import type { Bench, Measured, Row } from "../row.ts";

const REQUESTS = 20_000;
const USERS = 2_000;
const SEATS = 500;
const INSTANCES = 3;
/** Of so many users one presses the button twice at first. */
const DOUBLE_CLICK_EVERY = 10;
/** Requests under way at a time, over all instances. */
const UNDER_WAY = 300;
const QUICK_DIVISOR = 10;
const FEWER_LEAST = 0.95;
const WARM_UP_SEATS = 50;
const WARM_UP_USERS = 300;
const WARM_UP_REQUESTS = 2_000;

export const gateLarge: Row = {
  name: "gate-large",
  what: `PostgreSQL transactions for ${REQUESTS.toLocaleString("en")} purchases by ${USERS.toLocaleString("en")} users for ${SEATS} seats, ${INSTANCES} instances, gate on`,
  floor: "the same with the gate off; the ratio is floor ÷ candidate",
  unit: "transactions",
  atLeast: 1 / (1 - FEWER_LEAST),
  timeoutMs: 240_000,
  measure,
};

interface Sale {
  readonly transactions: number;
  readonly perSecond: number;
  readonly misses: readonly string[];
  readonly notes: readonly string[];
}

async function measure(bench: Bench): Promise<Measured> {
  const scale = bench.quick ? QUICK_DIVISOR : 1;
  const [warmUp, event] = ["warm-up", "sale"] as const;
  const options = { events: [warmUp, event], instances: INSTANCES, lanes: UNDER_WAY };
  const sides = await startGateSides(bench, options);
  const visitors = {
    [warmUp]: await sides.admissions(warmUp, WARM_UP_USERS),
    [event]: await sides.admissions(event, USERS / scale),
  };

  const sell = async (setting: GateSetting): Promise<Sale> => {
    const side = sides[setting];
    const { crowd, books, cpu } = side;
    bench.progress(`gate ${setting}: warming up`);
    await side.open(warmUp, WARM_UP_SEATS);
    const first = { event: warmUp, sku: SKU, shoppers: visitors[warmUp] };
    await crowd.hammer({ ...first, requests: WARM_UP_REQUESTS, doubleEvery: 0 });

    const seats = SEATS / scale;
    const requests = REQUESTS / scale;
    await side.open(event, seats);
    await books.startCounting();
    bench.progress(`gate ${setting}: ${requests} requests`);
    const { answers, elapsedMs } = await cpu.during(() =>
      crowd.hammer({
        event,
        sku: SKU,
        shoppers: visitors[event],
        requests,
        doubleEvery: DOUBLE_CLICK_EVERY,
      }),
    );
    const transactions = await books.counted();
    const read = await books.read(event, SKU);
    checkBooks(read, seats);
    const told = winners(answers);
    if (read.orders !== told.size || read.visitors !== read.orders) {
      throw new Error(
        `${read.orders} orders of ${read.visitors} visitors, ${told.size} were told of one`,
      );
    }
    const good = read.orders === seats && answers.length === requests;
    return {
      transactions,
      perSecond: (answers.length * 1_000) / elapsedMs,
      misses: [
        ...strayMisses(answers).map((miss) => `gate ${setting}: ${miss}`),
        ...(good ? [] : [`gate ${setting}: ${read.orders} orders, ${answers.length} answers`]),
      ],
      notes: [
        `gate ${setting}: ${tallyText(answers)}; ${latencyText(answers)}`,
        `gate ${setting}, of one core: ${cpu.text()}`,
      ],
    };
  };
  const sales = { on: await sell("on"), off: await sell("off") };
  const all = await allTransactions(sides);
  const fewer = 1 - sales.on.transactions / sales.off.transactions;
  return {
    candidate: sales.on.transactions,
    floor: sales.off.transactions,
    ratio: sales.off.transactions / sales.on.transactions,
    misses: [...sales.on.misses, ...sales.off.misses],
    notes: [
      ...(bench.quick ? ["quick: a tenth of everything"] : []),
      `${(fewer * 100).toFixed(1)} % fewer; throughput ${sales.on.perSecond.toFixed(0)} a second, with the gate off ${sales.off.perSecond.toFixed(0)}: ${(sales.on.perSecond / sales.off.perSecond).toFixed(2)} ×`,
      `each user has one admission and tries until they have bought, with a new key each time; one in ${DOUBLE_CLICK_EVERY} presses the button twice at first, with one key`,
      "oversold 0; each winner has one order, and each order a winner who was told of it",
      `all transactions of the database, set-up and background work included: ${all.on} on, ${all.off} off`,
      ...sales.on.notes,
      ...sales.off.notes,
    ],
  };
}

/** Ends the instances: sessions report their transactions when they end. */
async function allTransactions(
  sides: Awaited<ReturnType<typeof startGateSides>>,
): Promise<Readonly<Record<GateSetting, number>>> {
  const counts: Record<GateSetting, number> = { on: 0, off: 0 };
  for (const setting of SETTINGS) {
    await sides[setting].api.stop();
    counts[setting] = await transactionsOf(sides.serverUrl, databaseOf(setting));
  }
  return counts;
}
