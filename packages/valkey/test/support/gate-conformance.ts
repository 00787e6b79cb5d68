/** What both inventory gates must do: run by the tests of each. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { type InventoryGate, LEASES_UNKNOWN_MAX, type SeatsOf } from "../../src/inventory-gate.ts";
import { Sale } from "./sale-model.ts";

export interface GateWorld {
  readonly gate: InventoryGate;
  /** Lets `ms` go by for every lease, at once. */
  readonly pass: (ms: number) => Promise<void>;
}

export interface GateConformance {
  readonly open: () => Promise<GateWorld>;
  readonly leaseMs: number;
  readonly runs: number;
}

let sales = 0;
const someSale = (): SeatsOf => ({ event: "summer-tour", sku: `floor-${(sales += 1)}` });

/** A gate that has been told what is left, of a sale in which nobody has bought. */
async function openSale(world: GateWorld, left: number): Promise<SeatsOf> {
  const of = someSale();
  const { version } = await world.gate.inspect(of);
  const done = await world.gate.repair({ ...of, version, left, drop: [], sold: [], sure: true });
  expect(done).toBe(true);
  return of;
}

interface Guarantee {
  readonly title: string;
  readonly holds: (suite: GateConformance) => Promise<void>;
}

/** Everything that makes a gate another than the one that was looked at. */
const MOVES: readonly [string, (gate: InventoryGate, of: SeatsOf) => Promise<unknown>][] = [
  ["a reservation", (gate, of) => gate.reserve({ ...of, jti: "new", quantity: 1 })],
  ["a copy of one", (gate, of) => gate.reserve({ ...of, jti: "first", quantity: 1 })],
  ["a sale", (gate, of) => gate.settle({ ...of, jti: "first", sold: 1 })],
  ["a sale without a lease", (gate, of) => gate.settle({ ...of, jti: "x", sold: 1 })],
  ["a buyer of earlier", (gate, of) => gate.remember({ ...of, jti: "x" })],
  ["a give-back", (gate, of) => gate.settle({ ...of, jti: "first", sold: 0 })],
  [
    "another repair",
    async (gate, of) => {
      const { version } = await gate.inspect(of);
      await gate.repair({ ...of, version, left: 7, drop: [], sold: [], sure: true });
    },
  ],
];

async function expectRepairToYield(
  suite: GateConformance,
  move: (gate: InventoryGate, of: SeatsOf) => Promise<unknown>,
): Promise<void> {
  const { open } = suite;
  const world = await open();
  const of = await openSale(world, 4);
  await world.gate.reserve({ ...of, jti: "first", quantity: 1 });
  const { version } = await world.gate.inspect(of);
  await move(world.gate, of);
  const before = await world.gate.inspect(of);
  const repair = { ...of, version, left: 99, drop: ["first"], sold: [], sure: false };
  expect(await world.gate.repair(repair)).toBe(false);
  expect(await world.gate.inspect(of)).toEqual(before);
}

const GUARANTEES: readonly Guarantee[] = [
  {
    title: "a gate that was told nothing knows nothing, and notes who is under way",
    holds: async (suite) => {
      const { open } = suite;
      const { gate } = await open();
      const of = someSale();
      expect(await gate.inspect(of)).toMatchObject({
        left: undefined,
        sure: false,
        buyers: 0,
        leases: [],
      });
      expect(await gate.reserve({ ...of, jti: "a", quantity: 2 })).toEqual({ kind: "unknown" });
      expect(await gate.inspect(of)).toMatchObject({
        left: undefined,
        leases: [{ jti: "a", quantity: 2, expired: false }],
      });
    },
  },

  {
    title: "1,000 reservations at once of 16 seats: exactly 16 leases, and nobody else is in doubt",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 16);
      const all = Array.from({ length: 1_000 }, (_, index) =>
        world.gate.reserve({ ...of, jti: `fan-${index}`, quantity: 1 }),
      );
      const kinds = (await Promise.all(all)).map((reservation) => JSON.stringify(reservation));
      expect(kinds.filter((kind) => kind === '{"kind":"leased"}')).toHaveLength(16);
      expect(kinds.filter((kind) => kind === '{"kind":"sold-out","sure":true}')).toHaveLength(984);
      const state = await world.gate.inspect(of);
      expect(state.left).toBe(0);
      expect(state.leases).toHaveLength(16);
    },
  },

  {
    title: "four wanted and three left: none is taken, and the three are still there (IG-10)",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 3);
      expect(await world.gate.reserve({ ...of, jti: "four", quantity: 4 })).toEqual({
        kind: "sold-out",
        sure: true,
      });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 3, leases: [] });
      expect(await world.gate.reserve({ ...of, jti: "three", quantity: 3 })).toEqual({
        kind: "leased",
      });
    },
  },

  {
    title:
      "five buyers of two with five left, at once: two are let through and one seat stays (IG-10)",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 5);
      const all = ["a", "b", "c", "d", "e"].map((jti) =>
        world.gate.reserve({ ...of, jti, quantity: 2 }),
      );
      const kinds = (await Promise.all(all)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "leased")).toHaveLength(2);
      expect(await world.gate.inspect(of)).toMatchObject({ left: 1 });
    },
  },

  {
    title: "the same attempt sent twice counts once, whatever quantity it says",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 10);
      const reserve = (quantity: number) => world.gate.reserve({ ...of, jti: "a", quantity });
      const kinds = (await Promise.all([reserve(2), reserve(2), reserve(2)])).map(
        ({ kind }) => kind,
      );
      expect(kinds.sort()).toEqual(["known", "known", "leased"]);
      expect(await reserve(9)).toEqual({ kind: "known" });
      expect(await world.gate.inspect(of)).toMatchObject({
        left: 8,
        leases: [{ jti: "a", quantity: 2, expired: false }],
      });
    },
  },

  {
    title: "sold keeps the seats counted off, however often it is said",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 4);
      await world.gate.reserve({ ...of, jti: "a", quantity: 3 });
      for (let turn = 0; turn < 3; turn += 1) {
        await world.gate.settle({ ...of, jti: "a", sold: 3 });
      }
      expect(await world.gate.inspect(of)).toMatchObject({ left: 1, leases: [], buyers: 1 });
      // Said after it was sold, by a copy that was refused: nothing comes back (IG-02).
      await world.gate.settle({ ...of, jti: "a", sold: 0 });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 1, leases: [], buyers: 1 });
    },
  },

  {
    title: "what was sold counts, not what the lease was for: another attempt may have bought it",
    holds: async (suite) => {
      const { gate, of } = await suite.open().then(async (world) => {
        return { gate: world.gate, of: await openSale(world, 4) };
      });
      await gate.reserve({ ...of, jti: "less", quantity: 3 });
      await gate.settle({ ...of, jti: "less", sold: 1 });
      expect(await gate.inspect(of)).toMatchObject({ left: 3, leases: [], buyers: 1 });
      await gate.reserve({ ...of, jti: "more", quantity: 1 });
      await gate.settle({ ...of, jti: "more", sold: 5 });
      expect(await gate.inspect(of)).toMatchObject({ left: -2, leases: [], buyers: 2 });
      // Without a lease nobody knows whether it was counted off.
      await gate.settle({ ...of, jti: "past", sold: 1 });
      expect(await gate.inspect(of)).toMatchObject({ left: -2, buyers: 3 });
    },
  },

  {
    title: "a lease of no seats is had of a gate that is sold out, and what it buys is counted off",
    holds: async (suite) => {
      const world = await suite.open();
      const of = await openSale(world, 0);
      const goPast = (jti: string) => world.gate.reserve({ ...of, jti, quantity: 0 });
      expect(await goPast("buys")).toEqual({ kind: "leased" });
      expect(await goPast("buys")).toEqual({ kind: "known" });
      await goPast("does not");
      expect((await world.gate.inspect(of)).leases).toContainEqual({
        jti: "buys",
        quantity: 0,
        expired: false,
      });
      await world.gate.settle({ ...of, jti: "buys", sold: 2 });
      await world.gate.settle({ ...of, jti: "does not", sold: 0 });
      expect(await world.gate.inspect(of)).toMatchObject({ left: -2, leases: [], buyers: 1 });
      // What comes back pays for that first, and there is still nothing.
      expect(await goPast("next")).toEqual({ kind: "leased" });
      expect(await world.gate.reserve({ ...of, jti: "x", quantity: 1 })).toMatchObject({
        kind: "sold-out",
      });
    },
  },

  {
    title: "not sold gives back once, also when said three times or of nobody (IG-02)",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 4);
      await world.gate.reserve({ ...of, jti: "a", quantity: 3 });
      const settle = () => world.gate.settle({ ...of, jti: "a", sold: 0 });
      await Promise.all([settle(), settle(), settle()]);
      await world.gate.settle({ ...of, jti: "never came", sold: 0 });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 4, leases: [], buyers: 0 });
    },
  },

  {
    title: "whoever bought is let through again after everything is gone, everybody else is not",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 1);
      await world.gate.reserve({ ...of, jti: "winner", quantity: 1 });
      await world.gate.settle({ ...of, jti: "winner", sold: 1 });
      const again = () => world.gate.reserve({ ...of, jti: "winner", quantity: 1 });
      expect(await again()).toEqual({ kind: "known" });
      expect(await again()).toEqual({ kind: "known" });
      expect(await world.gate.reserve({ ...of, jti: "other", quantity: 1 })).toEqual({
        kind: "sold-out",
        sure: true,
      });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 0, leases: [], buyers: 1 });
    },
  },

  {
    title:
      "a lease that was not settled expires, holds its seats until the repair, and can settle until then",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 4);
      for (const jti of ["gone", "late", "later"]) {
        await world.gate.reserve({ ...of, jti, quantity: 1 });
      }
      await world.pass(suite.leaseMs + 1_000);
      const state = await world.gate.inspect(of);
      expect(state.left).toBe(1);
      expect(state.leases.map(({ expired }) => expired)).toEqual([true, true, true]);
      // After the expiry, before the repair: both ends still count, once.
      await world.gate.settle({ ...of, jti: "late", sold: 0 });
      await world.gate.settle({ ...of, jti: "later", sold: 1 });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 2, buyers: 1 });
      const { version } = await world.gate.inspect(of);
      await world.gate.repair({ ...of, version, left: 3, drop: ["gone"], sold: [], sure: true });
      // After the repair: its seat has come back already.
      await world.gate.settle({ ...of, jti: "gone", sold: 0 });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 3, leases: [] });
    },
  },

  {
    title: "an attempt that is tried again makes its lease as good as new",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 4);
      await world.gate.reserve({ ...of, jti: "a", quantity: 1 });
      await world.pass(suite.leaseMs + 1_000);
      const { version } = await world.gate.inspect(of);
      expect(await world.gate.reserve({ ...of, jti: "a", quantity: 1 })).toEqual({ kind: "known" });
      expect((await world.gate.inspect(of)).leases).toEqual([
        { jti: "a", quantity: 1, expired: false },
      ]);
      // So that a repair that saw it expired does not end it.
      const repair = { ...of, version, left: 4, drop: ["a"], sold: [], sure: true };
      expect(await world.gate.repair(repair)).toBe(false);
    },
  },

  ...MOVES.map(([what, move]) => ({
    title: `a repair does nothing after ${what} came between`,
    holds: (suite: GateConformance) => expectRepairToYield(suite, move),
  })),

  {
    title:
      "an unknown counter is rebuilt while a crowd is at it: whoever asked since is counted off",
    holds: async (suite) => {
      const { gate } = await suite.open();
      const of = someSale();
      await gate.reserve({ ...of, jti: "before", quantity: 1 });
      await gate.reserve({ ...of, jti: "crashed", quantity: 1 });
      const { version } = await gate.inspect(of);
      await gate.reserve({ ...of, jti: "sold since", quantity: 2 });
      await gate.settle({ ...of, jti: "sold since", sold: 2 });
      await gate.reserve({ ...of, jti: "under way", quantity: 1 });
      await gate.settle({ ...of, jti: "before", sold: 1 });
      // 20 seats, seen before any of these sold; "before" was alive, and "crashed" was said to be gone.
      const repair = { ...of, left: 19, drop: ["crashed"], sold: [], sure: true };
      expect(await gate.repair({ ...repair, version })).toBe(true);
      // Exactly, with "crashed", who may have come back: 20 - 1 - 2 - 1 - 1. Who bought past it may be hidden by that.
      const rebuilt = await gate.inspect(of);
      expect(rebuilt).toMatchObject({ left: 15, buyers: 2, sure: false });
      await gate.settle({ ...of, jti: "under way", sold: 0 });
      await gate.settle({ ...of, jti: "crashed", sold: 0 });
      expect(await gate.inspect(of)).toMatchObject({ left: 17, leases: [] });
      // Of two repairs by one look the second does nothing. What was told before one is not believed after it.
      expect(await gate.repair({ ...repair, version })).toBe(false);
      const { version: now, life } = await gate.inspect(of);
      expect(life).toBe(rebuilt.life);
      await gate.repair({ ...of, version: now, left: 17, drop: [], sold: [], sure: true });
      const later = await gate.inspect(of);
      expect({ sure: later.sure, isSame: later.life === life }).toEqual({
        sure: true,
        isSame: false,
      });
    },
  },
  {
    title:
      "a counter that is surely too high is lowered while a crowd is at it, one that may be right is not",
    holds: async (suite) => {
      const world = await suite.open();
      const { gate } = world;
      const of = await openSale(world, 1_000);
      await gate.reserve({ ...of, jti: "a", quantity: 4 });
      const { version } = await gate.inspect(of);
      await gate.reserve({ ...of, jti: "b", quantity: 1 });
      const repair = { ...of, version, drop: [], sold: [], sure: true };
      // 995 now. What was seen, and what "a" may give back, could make it right.
      expect(await gate.repair({ ...repair, left: 991 })).toBe(false);
      expect(await gate.repair({ ...repair, left: 3 })).toBe(true);
      expect(await gate.inspect(of)).toMatchObject({ left: 2 });
    },
  },
  {
    title: "leases for more than there is are paid for first when they come back (IG-02)",
    holds: async (suite) => {
      const { gate } = await suite.open();
      const of = someSale();
      for (const jti of ["a", "b", "c"]) await gate.reserve({ ...of, jti, quantity: 2 });
      const { version } = await gate.inspect(of);
      await gate.repair({ ...of, version, left: 3 - 6, drop: [], sold: [], sure: true });
      expect(await gate.inspect(of)).toMatchObject({ left: -3 });
      const lefts: unknown[] = [];
      for (const jti of ["a", "b", "c"]) {
        await gate.settle({ ...of, jti, sold: 0 });
        lefts.push((await gate.inspect(of)).left);
        const next = await gate.reserve({ ...of, jti: `after ${jti}`, quantity: 4 });
        expect(next).toEqual({ kind: "sold-out", sure: true });
      }
      expect(lefts).toEqual([-1, 1, 3]);
    },
  },
  {
    title: "a refusal and a look change nothing, so that a repair is not kept from its work",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 0);
      const { version } = await world.gate.inspect(of);
      for (let turn = 0; turn < 5; turn += 1) {
        await world.gate.reserve({ ...of, jti: `fan-${turn}`, quantity: 1 });
      }
      expect((await world.gate.inspect(of)).version).toBe(version);
    },
  },

  {
    title: "sold-out is as sure as the last repair said, and never without a counter",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 0);
      const refused = async () => world.gate.reserve({ ...of, jti: "a", quantity: 1 });
      const repair = async (sure: boolean) => {
        const { version } = await world.gate.inspect(of);
        await world.gate.repair({ ...of, version, left: 0, drop: [], sold: [], sure });
      };
      expect(await refused()).toEqual({ kind: "sold-out", sure: true });
      await repair(false);
      expect(await refused()).toEqual({ kind: "sold-out", sure: false });
      await repair(true);
      expect(await refused()).toEqual({ kind: "sold-out", sure: true });
      expect((await world.gate.inspect(someSale())).sure).toBe(false);
    },
  },

  {
    title: "buyers that the repair names are remembered, with a lease or without",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 2);
      await world.gate.reserve({ ...of, jti: "lost-answer", quantity: 1 });
      const { version } = await world.gate.inspect(of);
      const sold = ["lost-answer", "earlier"];
      await world.gate.repair({ ...of, version, left: 0, drop: [], sold, sure: true });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 0, leases: [], buyers: 2 });
      for (const jti of sold) {
        expect(await world.gate.reserve({ ...of, jti, quantity: 1 })).toEqual({ kind: "known" });
      }
    },
  },

  {
    title:
      "leases that nobody ends are bounded while nothing is known; who asked meanwhile counts all the same",
    holds: async (suite) => {
      const { gate } = await suite.open();
      const of = someSale();
      const reserve = (index: number) =>
        gate.reserve({ ...of, jti: `fan-${index}`, quantity: 1 }).then(({ kind }) => kind);
      for (let from = 0; from < LEASES_UNKNOWN_MAX; from += 500) {
        await Promise.all(Array.from({ length: 500 }, (_, index) => reserve(from + index)));
      }
      const { version } = await gate.inspect(of);
      expect(await reserve(LEASES_UNKNOWN_MAX)).toBe("unknown");
      expect(await reserve(LEASES_UNKNOWN_MAX)).toBe("unknown");
      expect((await gate.inspect(of)).leases).toHaveLength(LEASES_UNKNOWN_MAX);
      // A lease that is there already is made as good as new.
      expect(await reserve(0)).toBe("known");
      const left = 20_000 - LEASES_UNKNOWN_MAX;
      expect(await gate.repair({ ...of, version, left, drop: [], sold: [], sure: true })).toBe(
        true,
      );
      // Both that were not noted.
      expect((await gate.inspect(of)).left).toBe(left - 2);
      expect(await reserve(LEASES_UNKNOWN_MAX + 1)).toBe("leased");
    },
  },

  {
    title: "buyers may be told to a gate one by one; its life shows that it still knows them",
    holds: async (suite) => {
      const { gate } = await suite.open();
      const of = someSale();
      const { life } = await gate.inspect(of);
      await gate.reserve({ ...of, jti: "under way", quantity: 1 });
      for (const jti of ["earlier", "under way", "earlier"]) {
        await gate.remember({ ...of, jti });
      }
      let state = await gate.inspect(of);
      expect(state).toMatchObject({ life, left: undefined, buyers: 2, sure: false });
      // Whoever holds the lease ends it.
      expect(state.leases).toEqual([{ jti: "under way", quantity: 1, expired: false }]);
      await gate.settle({ ...of, jti: "under way", sold: 0 });
      state = await gate.inspect(of);
      const repair = { ...of, left: 0, drop: [], sold: [], sure: true };
      expect(await gate.repair({ ...repair, version: state.version })).toBe(true);
      expect(await gate.reserve({ ...of, jti: "earlier", quantity: 1 })).toEqual({ kind: "known" });
      expect((await gate.inspect(someSale())).life).not.toBe(life);
    },
  },

  {
    title: "each event and each sku has a gate of its own",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 1);
      await world.gate.reserve({ ...of, jti: "a", quantity: 1 });
      for (const other of [
        { ...of, event: "winter-tour" },
        { ...of, sku: `${of.sku}:state` },
      ]) {
        expect(await world.gate.reserve({ ...other, jti: "b", quantity: 1 })).toEqual({
          kind: "unknown",
        });
      }
      expect(await world.gate.inspect(of)).toMatchObject({ left: 0 });
    },
  },

  {
    title: "what is not a quantity or a name never reaches the counter (IG-05)",
    holds: async (suite) => {
      const { open } = suite;
      const world = await open();
      const of = await openSale(world, 5);
      for (const quantity of [-1, 1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
        await expect(world.gate.reserve({ ...of, jti: "a", quantity })).rejects.toThrow(/quantity/);
        const settled = world.gate.settle({ ...of, jti: "a", sold: quantity });
        await expect(settled).rejects.toThrow(/sold/);
      }
      await expect(world.gate.reserve({ ...of, jti: "", quantity: 1 })).rejects.toThrow(/jti/);
      await expect(world.gate.inspect({ ...of, event: "a}b" })).rejects.toThrow(/event/);
      const repair = { ...of, version: "x", drop: [], sold: [], sure: true };
      await expect(world.gate.repair({ ...repair, left: 0.5 })).rejects.toThrow(/left/);
      expect(await world.gate.inspect(of)).toMatchObject({ left: 5, leases: [] });
    },
  },

  {
    title: "however purchases, crashes and repairs mix, left and leases never exceed what is there",
    holds: async (suite) => {
      const { open } = suite;
      const step = fc.oneof(
        { weight: 6, arbitrary: fc.record({ kind: fc.constant("reserve"), who: fc.nat(9) }) },
        { weight: 5, arbitrary: fc.record({ kind: fc.constant("commit"), who: fc.nat(9) }) },
        { weight: 4, arbitrary: fc.record({ kind: fc.constant("settle"), who: fc.nat(9) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant("look"), who: fc.nat(9) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant("repair"), who: fc.nat(9) }) },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant("crash all"), who: fc.nat(9) }) },
      );
      const property = fc.asyncProperty(
        fc.integer({ min: 0, max: 8 }),
        fc.boolean(),
        fc.array(step, { maxLength: 40 }),
        async (total, isTold, steps) => {
          const world = await open();
          const of = isTold ? await openSale(world, total) : someSale();
          await new Sale(world, of, { total, leaseMs: suite.leaseMs }).play(steps);
        },
      );
      await fc.assert(property, { numRuns: suite.runs });
    },
  },
];

export function describeInventoryGate(name: string, suite: GateConformance): void {
  describe(`inventory gate: ${name}`, () => {
    const named = GUARANTEES.map(({ title, holds }) => [title, holds] as const);
    test.each(named)("%s", async (_, holds) => {
      await expect(holds(suite)).resolves.toBeUndefined();
    });
  });
}
