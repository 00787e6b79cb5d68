import { AppError } from "@vestibule/kernel/app-error";
import { silentLog, type LogFields } from "@vestibule/service/log";
import type { GateState, InventoryGate } from "@vestibule/valkey/inventory-gate";
import { StoreAwayError } from "@vestibule/valkey/token-bucket";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createGateKeeper } from "../src/gate-keeper.ts";
import { createGateRepair, planOf } from "../src/gate-repair.ts";
import type { SkuRef } from "../src/ledger-types.ts";
import type { SkuForSale } from "../src/stock.ts";
import {
  expectAgreement,
  expectBuyersGetThrough,
  gateWorld,
  type GateWorld,
  ModelLedger,
  portOf,
  SEAT,
} from "./gate-world.ts";
import { many, tally } from "./ledger-world.ts";

const leftAt = async ({ gate }: GateWorld) => (await gate.inspect(SEAT)).left;

describe("the plan", () => {
  const lease = (jti: string, quantity: number, expired = false) => ({ jti, quantity, expired });
  const state = { buyers: 0, sure: true, version: "7", life: "1" };
  const unknown = { ...state, left: undefined, sure: false };
  const plan = (at: GateState, standing: Parameters<typeof planOf>[1], wasTold = false) =>
    planOf(at, standing, { wasTold });

  test("is none when both agree, also while somebody is on their way", () => {
    const leases = [lease("a", 2), lease("b", 1)];
    const standing = { left: 9, taken: 1, spent: [{ jti: "b", quantity: 1 }] };
    expect(plan({ ...state, left: 7, leases }, standing)).toBeUndefined();
  });

  test("gives back what a holder who is gone had counted off, and keeps what one had bought", () => {
    const leases = [lease("dead", 3, true), lease("sold", 2, true), lease("alive", 1)];
    const standing = { left: 8, taken: 2, spent: [{ jti: "sold", quantity: 2 }] };
    expect(plan({ ...state, left: 4, leases }, standing)).toEqual({
      version: "7",
      left: 7,
      drop: ["dead"],
      sold: ["sold"],
      sure: true,
    });
  });

  test("of a counter that was too high, and of a new one in a sale under way, the buyers are not sure", () => {
    const standing = { left: 3, taken: 7, spent: [] };
    expect(plan({ ...state, left: 1_000, leases: [] }, standing)).toEqual({
      version: "7",
      left: 3,
      drop: [],
      sold: [],
      sure: false,
    });
    expect(plan({ ...unknown, leases: [] }, standing)?.sure).toBe(false);
    expect(plan({ ...unknown, leases: [] }, { ...standing, taken: 0 })?.sure).toBe(true);
    expect(plan({ ...state, left: 0, leases: [] }, standing)?.sure).toBe(true);
  });

  test("is sure again when it was told of all of them, unless somebody bought past it since", () => {
    const standing = { left: 3, taken: 7, spent: [] };
    const unsure = { ...state, sure: false, leases: [] };
    expect(plan({ ...unsure, left: 3 }, standing)).toBeUndefined();
    expect(plan({ ...unsure, left: 3 }, standing, true)).toMatchObject({ left: 3, sure: true });
    for (const left of [2, 4]) {
      expect(plan({ ...unsure, left }, standing, true)).toMatchObject({ left: 3, sure: false });
    }
    expect(plan({ ...unknown, leases: [] }, standing, true)?.sure).toBe(false);
  });

  test("is not sure when dead leases hide who bought past the gate", () => {
    const standing = { left: 9, taken: 1, spent: [] };
    const hiding = { ...state, left: 8, leases: [lease("dead", 2, true)] };
    expect(plan(hiding, standing)).toMatchObject({ left: 9, drop: ["dead"], sure: false });
  });

  test("counts everybody who is on their way, also when they ask for more than there is", () => {
    const none = { ...unknown, leases: [lease("a", 5)] };
    expect(plan(none, { left: 2, taken: 0, spent: [] })?.left).toBe(-3);
  });

  test("ends 150,000 dead leases in bounded steps, and never gives seats back before their lease is gone", () => {
    let leases = many(150_000, (index) => lease(`dead-${index}`, 2, true));
    const spent = many(10, (index) => `dead-${index * 3}`);
    const standing = {
      left: 300_000,
      taken: 20,
      spent: spent.map((jti) => ({ jti, quantity: 2 })),
    };
    let left: number | undefined;
    let rounds = 0;
    for (; leases.length > 0; rounds += 1) {
      const step = plan({ ...state, left, leases }, standing);
      const ended = new Set([...(step?.drop ?? []), ...(step?.sold ?? [])]);
      expect(ended.size).toBeGreaterThan(0);
      expect(ended.size).toBeLessThanOrEqual(10_000);
      leases = leases.filter(({ jti }) => !ended.has(jti));
      left = step?.left;
      const unspent = leases.filter(({ jti }) => !spent.includes(jti));
      expect(left).toBe(standing.left - 2 * unspent.length);
    }
    expect({ left, rounds }).toEqual({ left: 300_000, rounds: 15 });
  });
});

describe("sales through the gate", () => {
  test("protects PostgreSQL: 128 attempts on 16 seats, 16 transactions once the counter is there", async () => {
    const world = gateWorld(16);
    await world.repair.round();
    const outcomes = await Promise.all(many(128, (index) => world.buy(`jti-${index}`)));
    expect(tally(outcomes.map((kind) => ({ kind })))).toEqual({ bought: 16, "sold-out": 112 });
    expect(world.ledger.transactions).toBe(16);
    await world.calm();
    await expectAgreement(world);
  });

  test.each([1_000, 0, -1])(
    "a counter that says %d oversells nothing, and is right after one round",
    async (wrong) => {
      const world = gateWorld(1);
      await world.repair.round();
      if (wrong >= 0) await world.gate.set(wrong);
      else world.gate.flush();
      const outcomes = await Promise.all(many(200, (index) => world.buy(`jti-${index}`)));
      expect(outcomes.filter((kind) => kind === "bought").length).toBe(wrong === 0 ? 0 : 1);
      await world.calm();
      await expectAgreement(world);
      expect(await world.buy("another")).toBe(wrong === 0 ? "bought" : "sold-out");
      await expectBuyersGetThrough(world);
    },
  );

  test("IG-10: five buyers of two with five left: two buy, one is left, nothing is half taken", async () => {
    const world = gateWorld(5);
    await world.repair.round();
    const outcomes = await Promise.all(many(5, (index) => world.buy(`jti-${index}`, 2)));
    expect(outcomes.filter((kind) => kind === "bought")).toHaveLength(2);
    await world.keeper.idle();
    expect(await leftAt(world)).toBe(1);
    expect(await world.buy("four", 4)).toBe("sold-out");
    expect(await world.buy("one", 1)).toBe("bought");
    await world.calm();
    await expectAgreement(world);
  });

  test("a new sale is sure at once; one that lost its counter is sure again after one round, and its buyers get through", async () => {
    const world = gateWorld(2);
    await world.repair.round();
    await world.buy("a");
    await world.buy("b");
    const wish = { ...SEAT, jti: "c", quantity: 1 };
    expect(await world.gate.reserve(wish)).toEqual({ kind: "sold-out", sure: true });
    expect((await world.keeper.enter({ ...wish, jti: "a" })).kind).toBe("known");
    world.gate.flush();
    expect((await world.keeper.enter(wish)).kind).toBe("unknown");
    await world.calm();
    // It was told of both again.
    expect(await world.gate.reserve(wish)).toEqual({ kind: "sold-out", sure: true });
    for (const jti of ["a", "b"]) {
      expect((await world.keeper.enter({ ...wish, jti })).kind).toBe("known");
    }
  });
});

describe("crashes", () => {
  const wish = { ...SEAT, jti: "dead", quantity: 3 };

  test("between reservation and transaction: given back when the lease is over, and not before", async () => {
    const world = gateWorld(3);
    await world.repair.round();
    await world.gate.reserve(wish);
    await world.repair.round();
    expect(await leftAt(world)).toBe(0);
    expect(await world.buy("next")).toBe("sold-out");
    await world.calm();
    await expectAgreement(world);
    expect(await world.buy("next")).toBe("bought");
  });

  test("between commit and settlement: not given back, and its buyer gets through for ever", async () => {
    const world = gateWorld(3);
    await world.repair.round();
    await world.gate.reserve(wish);
    world.ledger.purchase(wish);
    expect(await world.buy("dead", 3)).toBe("bought"); // the retry, elsewhere
    await world.calm();
    await expectAgreement(world);
    world.clock.advance(60_000);
    expect((await world.keeper.enter(wish)).kind).toBe("known");
  });

  test("the same without a retry", async () => {
    const world = gateWorld(3);
    await world.repair.round();
    await world.gate.reserve(wish);
    world.ledger.purchase(wish);
    await world.calm();
    await expectAgreement(world);
    expect((await world.keeper.enter(wish)).kind).toBe("known");
    expect(await world.keeper.enter({ ...wish, jti: "x" })).toMatchObject({ kind: "sold-out" });
  });

  test("an answer that was lost: nothing is settled, and the repair finds out which it was", async () => {
    for (const isCommitted of [true, false]) {
      const world = gateWorld(3);
      await world.repair.round();
      const pass = await world.keeper.enter(wish);
      if (isCommitted) world.ledger.purchase(wish);
      world.keeper.leave(pass, "lost");
      await world.keeper.idle();
      expect(await leftAt(world)).toBe(0);
      await world.calm();
      await expectAgreement(world);
      expect(world.ledger.left).toBe(isCommitted ? 0 : 3);
    }
  });
});

interface Buyer {
  readonly jti: string;
  readonly quantity: number;
  /** Before which step its process dies; 3: it lives. */
  readonly diesAt: 0 | 1 | 2 | 3;
}

/** Every call of gate and ledger happens when the scheduler says so, so that all interleavings are tried. */
async function runScheduled(
  scheduler: fc.Scheduler,
  { total, buyers, faults }: { total: number; buyers: readonly Buyer[]; faults: readonly string[] },
  afterEach: (world: GateWorld) => Promise<void>,
): Promise<GateWorld> {
  const world = gateWorld(total);
  await world.repair.round();
  const step = <Of, Value>(work: (of: Of) => Promise<Value>): ((of: Of) => Promise<Value>) =>
    scheduler.scheduleFunction(async (of: Of) => {
      const value = await work(of);
      await afterEach(world);
      return value;
    });
  const gate: InventoryGate = {
    reserve: step(world.gate.reserve),
    settle: step(world.gate.settle),
    remember: step(world.gate.remember),
    inspect: step(world.gate.inspect),
    repair: step(world.gate.repair),
  };
  const port = portOf(world.ledger);
  const ledger = { standing: step(port.standing), buyers: step(() => port.buyers(SEAT, 1_000)) };
  const repairs = many(2, () =>
    createGateRepair({
      gate,
      ledger,
      listSkus: async () => [{ ...SEAT, perPurchaseMax: 10 }],
      clock: world.clock,
      log: silentLog,
    }),
  );
  const transact = step(async (wish: { jti: string; quantity: number }) =>
    world.ledger.purchase({ ...SEAT, ...wish }),
  );
  const attempt = async ({ jti, quantity, diesAt }: Buyer, index: number): Promise<void> => {
    const keeper = createGateKeeper(gate, { repair: repairs[index % 2]!, ledger, log: silentLog });
    if (diesAt === 0) return;
    const wish = { ...SEAT, jti, quantity };
    const pass = await keeper.enter(wish);
    if (diesAt === 1 || pass.kind === "sold-out") return;
    const outcome = await transact(wish);
    if (diesAt === 2) return;
    keeper.leave(pass, outcome);
    await keeper.idle();
  };
  const fault = step(async (kind: string) => {
    if (kind === "flush") world.gate.flush();
    else await world.gate.set(Number(kind));
  });
  const work = Promise.all([
    ...buyers.map((buyer, index) => attempt(buyer, index)),
    ...faults.map((kind) => fault(kind)),
    ...repairs.map(async (repair) => {
      await repair.round();
      await repair.round();
    }),
  ]);
  await scheduler.waitFor(work);
  await scheduler.waitFor(Promise.all(repairs.map((repair) => repair.idle())));
  return world;
}

const quantity = fc.integer({ min: 1, max: 3 });
const jti = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
const total = fc.integer({ min: 0, max: 8 });

test("repairs while purchases run, in every order of steps: the counter is exact at every moment", async () => {
  const alive = fc.record({ jti, quantity, diesAt: fc.constant<3>(3) });
  const buyers = fc.uniqueArray(alive, { maxLength: 8, selector: (buyer) => buyer.jti });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), total, buyers, async (scheduler, seats, all) => {
      const exact = async ({ gate, ledger }: GateWorld): Promise<void> => {
        const { left, leases } = await gate.inspect(SEAT);
        const { spent: found } = ledger.standing(leases.map((lease) => lease.jti));
        const spent = new Set(found.map((one) => one.jti));
        const onTheirWay = leases.filter((lease) => !spent.has(lease.jti));
        const counted = onTheirWay.reduce((sum, lease) => sum + lease.quantity, 0);
        expect(left).toBe(ledger.left - counted);
      };
      const sale = { total: seats, buyers: all, faults: [] };
      await expectAgreement(await runScheduled(scheduler, sale, exact));
    }),
  );
});

const diesAt = fc.constantFrom<Buyer["diesAt"][]>(0, 1, 2, 3);
const someBuyers = fc.array(fc.record({ jti, quantity, diesAt }), { maxLength: 10 });
const someFaults = fc.array(fc.constantFrom("flush", "0", "1000", "3"), { maxLength: 3 });
async function expectNoOversale({ ledger }: GateWorld): Promise<void> {
  expect(ledger.left).toBeGreaterThanOrEqual(0);
}
const afterOneRound = fc.asyncProperty(
  fc.scheduler(),
  total,
  someBuyers,
  someFaults,
  async (scheduler, ...sale) => {
    const [seats, buyers, faults] = sale;
    const world = await runScheduled(scheduler, { total: seats, buyers, faults }, expectNoOversale);
    await world.calm();
    await expectAgreement(world);
    await expectBuyersGetThrough(world);
  },
);

test("whatever dies, is flushed or set wrong, in every order of steps: after one round both agree, and buyers get through", async () => {
  await fc.assert(afterOneRound);
});

// Each made a gate sure that had not been told of a buyer.
test.each([
  ["a gate that moved was rebuilt with too little left", 1_569_513_479, "31"],
  ["the same", 1_569_513_479, "31:3:2:8:13:20:22:24:26:18:26:26:27"],
  ["too little left while it was told", 1_569_513_479, "2097:6:6:12:16:18"],
  ["another repair while it was told", 9, "112:1:6:6:9:10:17:20:21:23"],
  ["another repair while it was told", 11, "1862:2:3:3:8:12:14"],
  ["two looks that agreed by chance", 11, "2775:5:11:16:19:20"],
  ["two looks that agreed by chance", 8, "625:6:6:10:5:19:19:20:22:22:22:23"],
])("found once: %s (seed %d, path %s)", async (_what, seed, path) => {
  await fc.assert(afterOneRound, { seed, path, endOnFailure: true });
});

test("each sku is asked for once, however many want it; made-up ones are asked for and not kept", async () => {
  let asked = 0;
  const gated = gateWorld(5, {
    ledger: {
      ...portOf(new ModelLedger(5)),
      standing: async ({ sku, jtis }) => {
        asked += 1;
        return sku === SEAT.sku ? new ModelLedger(5).standing(jtis) : undefined;
      },
    },
  });
  const { repair } = gated;
  const answers = await Promise.all(many(100, () => repair.perPurchaseMax(SEAT)));
  expect(new Set(answers)).toEqual(new Set([10]));
  expect(await repair.perPurchaseMax(SEAT)).toBe(10);
  expect(asked).toBe(1);
  for (const turn of [2, 3]) {
    expect(await repair.perPurchaseMax({ ...SEAT, sku: "made-up" })).toBeUndefined();
    expect(asked).toBe(turn);
  }
});

describe("the loop", () => {
  /** Counts who is compared, on a gate where nothing is ever wrong. */
  function counting(skus: () => readonly SkuForSale[], inspect?: (of: SkuRef) => Promise<never>) {
    const seen: string[] = [];
    const lines: { event: string; fields: LogFields }[] = [];
    const line = (event: string, fields: LogFields = {}) => void lines.push({ event, fields });
    const log = { ...silentLog, info: line, warn: line, error: line as never };
    const ledger = new ModelLedger(5);
    const base = gateWorld(5);
    const repair = createGateRepair({
      gate: {
        ...base.gate,
        inspect: async (of) => {
          seen.push(of.event);
          return inspect === undefined ? base.gate.inspect(of) : inspect(of);
        },
      },
      ledger: portOf(ledger),
      listSkus: async () => skus(),
      clock: base.clock,
      log,
    });
    return { repair, seen, lines };
  }
  const seats = { ...SEAT, perPurchaseMax: 10 };
  const event = (index: number): SkuForSale => ({
    perPurchaseMax: 10,
    event: `event-${String(index).padStart(3, "0")}`,
    sku: "seat",
  });

  test("at most 50 events a batch, all of them in turn, also when some come and go", async () => {
    let skus = many(120, event);
    const { repair, seen } = counting(() => skus);
    await repair.round();
    expect(new Set(seen).size).toBe(50);
    skus = skus.filter((_, index) => index !== 49);
    await repair.round();
    await repair.round();
    expect(new Set(seen).size).toBe(120);
    await repair.round();
    expect(seen.length).toBeLessThanOrEqual(200);
  });

  test("one sku is repaired at once, and asked a thousand times it waits for its tick", async () => {
    const { repair, seen } = counting(() => []);
    for (let asks = 0; asks < 1_000; asks += 1) repair.ask(SEAT);
    await repair.idle();
    expect(seen).toHaveLength(1);
    await repair.tick(); // it was repaired within this tick's time
    expect(seen).toHaveLength(1);
    await repair.tick();
    expect(seen).toHaveLength(2);
    await repair.tick();
    await repair.tick();
    expect(seen).toHaveLength(2);
  });

  test("200 skus asked for at once are compared a few at a time, and all of them", async () => {
    const { repair, seen } = counting(() => []);
    const skus = many(200, event);
    for (const of of skus) repair.ask(of);
    await repair.idle();
    expect(seen.length).toBeLessThanOrEqual(4);
    for (let ticks = 0; ticks < 100; ticks += 1) await repair.tick();
    expect(new Set(seen).size).toBe(200);
  });

  test("a round under way is waited for: a service that stops closes its store behind it", async () => {
    const look = Promise.withResolvers<never>();
    const { repair, lines } = counting(
      () => [seats],
      () => look.promise,
    );
    const round = repair.round();
    let isIdle = false;
    const idle = repair.idle().then(() => (isIdle = true));
    await Promise.resolve();
    expect(isIdle).toBe(false);
    look.reject(new AppError("unavailable"));
    await Promise.all([round, idle]);
    expect(lines.map((line) => line.event)).toEqual(["inventory-repair-postponed"]);
  });

  test("says what it changed, and nothing when it changed nothing", async () => {
    const { repair, lines } = counting(() => [seats]);
    await repair.round();
    await repair.round();
    expect(lines).toEqual([
      {
        event: "inventory reconciliation",
        fields: { ...SEAT, before: null, after: 5, leasesEnded: 0 },
      },
    ]);
  });

  test("a gate that is away is told once and harms nothing; PostgreSQL away is waited for", async () => {
    const away = counting(
      () => many(50, event),
      () => Promise.reject(new StoreAwayError("away")),
    );
    for (let rounds = 0; rounds < 5; rounds += 1) await away.repair.round();
    expect(away.lines.map((line) => line.event)).toEqual(["inventory-gate-away"]);
    expect(away.seen).toHaveLength(5); // one try a round, not one deadline for each event
    const { repair } = gateWorld(5, {
      ledger: {
        standing: () => Promise.reject(new AppError("unavailable")),
        buyers: () => Promise.reject(new AppError("unavailable")),
      },
    });
    await expect(repair.round()).resolves.toBeUndefined();
  });

  test("purchases that keep moving the counter end it after three tries, and the next round goes on", async () => {
    const world = gateWorld(9);
    await world.repair.round();
    await world.gate.set(5); // too low: it is only raised by somebody who saw everything
    let inspections = 0;
    let isBusy = true;
    const gate: InventoryGate = {
      ...world.gate,
      inspect: async (of) => {
        inspections += 1;
        const state = await world.gate.inspect(of);
        if (isBusy) await world.gate.reserve({ ...SEAT, jti: `j${inspections}`, quantity: 1 });
        return state;
      },
    };
    const repair = createGateRepair({
      gate,
      ledger: portOf(world.ledger),
      listSkus: async () => [{ ...SEAT, perPurchaseMax: 10 }],
      clock: world.clock,
      log: silentLog,
    });
    await repair.round();
    expect(inspections).toBe(3);
    isBusy = false;
    await repair.round();
    expect(await leftAt(world)).toBe(6); // nine, and three are on their way
  });
});
