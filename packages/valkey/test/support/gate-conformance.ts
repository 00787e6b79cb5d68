/** What both inventory gates must do: run by the tests of each. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import type { GateState, InventoryGate, SeatsOf } from "../../src/inventory-gate.ts";

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
  const done = await world.gate.repair({ ...of, version, left, drop: [], sold: [], doubt: false });
  expect(done).toBe(true);
  return of;
}

export function describeInventoryGate(name: string, suite: GateConformance): void {
  const { open, leaseMs, runs } = suite;

  describe(`inventory gate: ${name}`, () => {
    test("a gate that was told nothing knows nothing, and notes who is under way", async () => {
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
    });

    test("1,000 reservations at once of 16 seats: exactly 16 leases, and nobody else is in doubt", async () => {
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
    });

    test("four wanted and three left: none is taken, and the three are still there (IG-10)", async () => {
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
    });

    test("five buyers of two with five left, at once: two are let through and one seat stays (IG-10)", async () => {
      const world = await open();
      const of = await openSale(world, 5);
      const all = ["a", "b", "c", "d", "e"].map((jti) =>
        world.gate.reserve({ ...of, jti, quantity: 2 }),
      );
      const kinds = (await Promise.all(all)).map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === "leased")).toHaveLength(2);
      expect(await world.gate.inspect(of)).toMatchObject({ left: 1 });
    });

    test("the same attempt sent twice counts once, whatever quantity it says", async () => {
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
    });

    test("sold keeps the seats counted off, however often it is said", async () => {
      const world = await open();
      const of = await openSale(world, 4);
      await world.gate.reserve({ ...of, jti: "a", quantity: 3 });
      for (let turn = 0; turn < 3; turn += 1) {
        await world.gate.settle({ ...of, jti: "a", outcome: "sold" });
      }
      expect(await world.gate.inspect(of)).toMatchObject({ left: 1, leases: [], buyers: 1 });
      // Said after it was sold, by a copy that was refused: nothing comes back (IG-02).
      await world.gate.settle({ ...of, jti: "a", outcome: "not-sold" });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 1, leases: [], buyers: 1 });
    });

    test("not sold gives back once, also when said three times or of nobody (IG-02)", async () => {
      const world = await open();
      const of = await openSale(world, 4);
      await world.gate.reserve({ ...of, jti: "a", quantity: 3 });
      const settle = () => world.gate.settle({ ...of, jti: "a", outcome: "not-sold" });
      await Promise.all([settle(), settle(), settle()]);
      await world.gate.settle({ ...of, jti: "never came", outcome: "not-sold" });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 4, leases: [], buyers: 0 });
    });

    test("whoever bought is let through again after everything is gone, everybody else is not", async () => {
      const world = await open();
      const of = await openSale(world, 1);
      await world.gate.reserve({ ...of, jti: "winner", quantity: 1 });
      await world.gate.settle({ ...of, jti: "winner", outcome: "sold" });
      const again = () => world.gate.reserve({ ...of, jti: "winner", quantity: 1 });
      expect(await again()).toEqual({ kind: "known" });
      expect(await again()).toEqual({ kind: "known" });
      expect(await world.gate.reserve({ ...of, jti: "other", quantity: 1 })).toEqual({
        kind: "sold-out",
        sure: true,
      });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 0, leases: [], buyers: 1 });
    });

    test("a lease that was not settled expires, holds its seats until the repair, and can settle until then", async () => {
      const world = await open();
      const of = await openSale(world, 4);
      for (const jti of ["gone", "late", "later"]) {
        await world.gate.reserve({ ...of, jti, quantity: 1 });
      }
      await world.pass(leaseMs + 1_000);
      const state = await world.gate.inspect(of);
      expect(state.left).toBe(1);
      expect(state.leases.map(({ expired }) => expired)).toEqual([true, true, true]);
      // After the expiry, before the repair: both ends still count, once.
      await world.gate.settle({ ...of, jti: "late", outcome: "not-sold" });
      await world.gate.settle({ ...of, jti: "later", outcome: "sold" });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 2, buyers: 1 });
      const { version } = await world.gate.inspect(of);
      await world.gate.repair({ ...of, version, left: 3, drop: ["gone"], sold: [], doubt: false });
      // After the repair: its seat has come back already.
      await world.gate.settle({ ...of, jti: "gone", outcome: "not-sold" });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 3, leases: [] });
    });

    test("an attempt that is tried again makes its lease as good as new", async () => {
      const world = await open();
      const of = await openSale(world, 4);
      await world.gate.reserve({ ...of, jti: "a", quantity: 1 });
      await world.pass(leaseMs + 1_000);
      const { version } = await world.gate.inspect(of);
      expect(await world.gate.reserve({ ...of, jti: "a", quantity: 1 })).toEqual({ kind: "known" });
      expect((await world.gate.inspect(of)).leases).toEqual([
        { jti: "a", quantity: 1, expired: false },
      ]);
      // So that a repair that saw it expired does not end it.
      const repair = { ...of, version, left: 4, drop: ["a"], sold: [], doubt: false };
      expect(await world.gate.repair(repair)).toBe(false);
    });

    test.each<[string, (gate: InventoryGate, of: SeatsOf) => Promise<unknown>]>([
      ["a reservation", (gate, of) => gate.reserve({ ...of, jti: "new", quantity: 1 })],
      ["a copy of one", (gate, of) => gate.reserve({ ...of, jti: "first", quantity: 1 })],
      ["a sale", (gate, of) => gate.settle({ ...of, jti: "first", outcome: "sold" })],
      ["a sale without a lease", (gate, of) => gate.settle({ ...of, jti: "x", outcome: "sold" })],
      ["a give-back", (gate, of) => gate.settle({ ...of, jti: "first", outcome: "not-sold" })],
      [
        "another repair",
        async (gate, of) => {
          const { version } = await gate.inspect(of);
          await gate.repair({ ...of, version, left: 7, drop: [], sold: [], doubt: false });
        },
      ],
    ])("a repair does nothing after %s came between", async (_, move) => {
      const world = await open();
      const of = await openSale(world, 4);
      await world.gate.reserve({ ...of, jti: "first", quantity: 1 });
      const { version } = await world.gate.inspect(of);
      await move(world.gate, of);
      const before = await world.gate.inspect(of);
      const repair = { ...of, version, left: 99, drop: ["first"], sold: [], doubt: true };
      expect(await world.gate.repair(repair)).toBe(false);
      expect(await world.gate.inspect(of)).toEqual(before);
    });

    test("a refusal and a look change nothing, so that a repair is not kept from its work", async () => {
      const world = await open();
      const of = await openSale(world, 0);
      const { version } = await world.gate.inspect(of);
      for (let turn = 0; turn < 5; turn += 1) {
        await world.gate.reserve({ ...of, jti: `fan-${turn}`, quantity: 1 });
      }
      expect((await world.gate.inspect(of)).version).toBe(version);
    });

    test("doubt makes sold-out unsure for good; a rebuild without doubt is sure", async () => {
      const world = await open();
      const of = await openSale(world, 0);
      const refused = async () => world.gate.reserve({ ...of, jti: "a", quantity: 1 });
      const repair = async (doubt: boolean) => {
        const { version } = await world.gate.inspect(of);
        await world.gate.repair({ ...of, version, left: 0, drop: [], sold: [], doubt });
      };
      expect(await refused()).toEqual({ kind: "sold-out", sure: true });
      await repair(false);
      expect(await refused()).toEqual({ kind: "sold-out", sure: true });
      await repair(true);
      expect(await refused()).toEqual({ kind: "sold-out", sure: false });
      await repair(false);
      expect(await refused()).toEqual({ kind: "sold-out", sure: false });
    });

    test("buyers that the repair names are remembered, with a lease or without", async () => {
      const world = await open();
      const of = await openSale(world, 2);
      await world.gate.reserve({ ...of, jti: "lost-answer", quantity: 1 });
      const { version } = await world.gate.inspect(of);
      const sold = ["lost-answer", "earlier"];
      await world.gate.repair({ ...of, version, left: 0, drop: [], sold, doubt: false });
      expect(await world.gate.inspect(of)).toMatchObject({ left: 0, leases: [], buyers: 2 });
      for (const jti of sold) {
        expect(await world.gate.reserve({ ...of, jti, quantity: 1 })).toEqual({ kind: "known" });
      }
    });

    test("each event and each sku has a gate of its own", async () => {
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
    });

    test("what is not a quantity or a name never reaches the counter (IG-05)", async () => {
      const world = await open();
      const of = await openSale(world, 5);
      for (const quantity of [0, -1, 1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
        await expect(world.gate.reserve({ ...of, jti: "a", quantity })).rejects.toThrow(/quantity/);
      }
      await expect(world.gate.reserve({ ...of, jti: "", quantity: 1 })).rejects.toThrow(/jti/);
      await expect(world.gate.inspect({ ...of, event: "a}b" })).rejects.toThrow(/event/);
      const repair = { ...of, version: "x", drop: [], sold: [], doubt: false };
      await expect(world.gate.repair({ ...repair, left: -1 })).rejects.toThrow(/left/);
      expect(await world.gate.inspect(of)).toMatchObject({ left: 5, leases: [] });
    });

    test("however purchases, crashes and repairs mix, left and leases never exceed what is there", async () => {
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
          await new Sale(world, of, { total, leaseMs }).play(steps);
        },
      );
      await fc.assert(property, { numRuns: runs });
    });
  });
}

/** PostgreSQL and the purchase API as far as the gate is concerned. */
class Sale {
  readonly #world: GateWorld;
  readonly #of: SeatsOf;
  readonly #leaseMs: number;
  #left: number;
  /** Attempts between their reservation and their settlement: what they want, and how it ended. */
  readonly #underWay = new Map<string, { quantity: number; outcome?: "sold" | "not-sold" }>();
  readonly #spent = new Set<string>();
  #seen: { state: GateState; left: number; spent: ReadonlySet<string> } | undefined;
  #attempts = 0;

  constructor(world: GateWorld, of: SeatsOf, options: { total: number; leaseMs: number }) {
    this.#world = world;
    this.#of = of;
    this.#left = options.total;
    this.#leaseMs = options.leaseMs;
  }

  async play(steps: readonly { kind: string; who: number }[]): Promise<void> {
    for (const { kind, who } of steps) {
      await this.#step(kind, who);
      await this.#check();
    }
    // In the end nobody is under way: two rounds of repair, and the counter is PostgreSQL's.
    await this.#step("crash all", 0);
    await this.#step("look", 0);
    await this.#step("repair", 0);
    expect(await this.#world.gate.inspect(this.#of)).toMatchObject({
      left: this.#left,
      leases: [],
    });
    for (const jti of this.#spent) {
      expect(await this.#world.gate.reserve({ ...this.#of, jti, quantity: 1 })).toEqual({
        kind: "known",
      });
    }
  }

  async #step(kind: string, who: number): Promise<void> {
    const { gate } = this.#world;
    const names = [...this.#underWay.keys()];
    const jti = names[who % Math.max(1, names.length)];
    const attempt = jti === undefined ? undefined : this.#underWay.get(jti);
    if (kind === "reserve") {
      const name = `fan-${(this.#attempts += 1)}`;
      const quantity = 1 + (who % 3);
      const { kind: got } = await gate.reserve({ ...this.#of, jti: name, quantity });
      expect(["leased", "unknown", "sold-out"]).toContain(got);
      if (got !== "sold-out") this.#underWay.set(name, { quantity });
    } else if (kind === "commit" && jti !== undefined && attempt !== undefined) {
      if (attempt.outcome !== undefined) return;
      attempt.outcome = attempt.quantity <= this.#left ? "sold" : "not-sold";
      if (attempt.outcome === "not-sold") return;
      this.#left -= attempt.quantity;
      this.#spent.add(jti);
    } else if (kind === "settle" && jti !== undefined && attempt?.outcome !== undefined) {
      await gate.settle({ ...this.#of, jti, outcome: attempt.outcome });
      // Now and then it is said twice.
      if (who % 2 === 0) await gate.settle({ ...this.#of, jti, outcome: attempt.outcome });
      this.#underWay.delete(jti);
    } else if (kind === "look") {
      const state = await gate.inspect(this.#of);
      this.#seen = { state, left: this.#left, spent: new Set(this.#spent) };
    } else if (kind === "repair") {
      await this.#repair();
    } else if (kind === "crash all") {
      // Longer than any transaction lives: nobody under way can still commit.
      await this.#world.pass(this.#leaseMs + 60_000);
      this.#underWay.clear();
    }
  }

  async #repair(): Promise<void> {
    const seen = this.#seen;
    if (seen === undefined) return;
    const { leases, version } = seen.state;
    const sold = leases.filter(({ jti }) => seen.spent.has(jti));
    const gone = leases.filter(({ jti, expired }) => expired && !seen.spent.has(jti));
    const alive = leases.filter(({ jti, expired }) => !expired && !seen.spent.has(jti));
    const leased = alive.reduce((sum, { quantity }) => sum + quantity, 0);
    await this.#world.gate.repair({
      ...this.#of,
      version,
      left: Math.max(0, seen.left - leased),
      drop: gone.map(({ jti }) => jti),
      sold: sold.map(({ jti }) => jti),
      doubt: false,
    });
  }

  async #check(): Promise<void> {
    const state = await this.#world.gate.inspect(this.#of);
    if (state.left === undefined) return;
    const leased = state.leases
      .filter(({ jti, expired }) => !expired && !this.#spent.has(jti))
      .reduce((sum, { quantity }) => sum + quantity, 0);
    // A lease that was noted while nothing was known may be for more than there is: it alone may overdraw.
    const most = state.left === 0 ? Math.max(this.#left, leased) : this.#left;
    expect(state.left + leased).toBeLessThanOrEqual(most);
    expect(state.left).toBeGreaterThanOrEqual(0);
  }
}
