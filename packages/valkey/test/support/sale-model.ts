import assert from "node:assert/strict";

import type { GateState, SeatsOf } from "../../src/inventory-gate.ts";
import type { GateWorld } from "./gate-conformance.ts";

/** PostgreSQL and the purchase API as far as the gate is concerned. */
export class Sale {
  readonly #world: GateWorld;
  readonly #of: SeatsOf;
  readonly #leaseMs: number;
  #left: number;
  /** Attempts between their reservation and their settlement: what they want, and how it ended. */
  readonly #underWay = new Map<string, { quantity: number; sold?: number }>();
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
    const { left, leases } = await this.#world.gate.inspect(this.#of);
    assert.deepEqual({ left, leases }, { left: this.#left, leases: [] });
    for (const jti of this.#spent) {
      const { kind } = await this.#world.gate.reserve({ ...this.#of, jti, quantity: 1 });
      assert.equal(kind, "known");
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
      assert.ok(["leased", "unknown", "sold-out"].includes(got), got);
      if (got !== "sold-out") this.#underWay.set(name, { quantity });
    } else if (kind === "commit" && jti !== undefined && attempt !== undefined) {
      if (attempt.sold !== undefined) return;
      // Now and then another attempt of the same admission buys, of one seat.
      const wanted = who % 4 === 3 ? 1 : attempt.quantity;
      attempt.sold = wanted <= this.#left ? wanted : 0;
      if (attempt.sold === 0) return;
      this.#left -= attempt.sold;
      this.#spent.add(jti);
    } else if (kind === "settle" && jti !== undefined && attempt?.sold !== undefined) {
      await gate.settle({ ...this.#of, jti, sold: attempt.sold });
      // Now and then it is said twice.
      if (who % 2 === 0) await gate.settle({ ...this.#of, jti, sold: attempt.sold });
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
      left: seen.left - leased,
      drop: gone.map(({ jti }) => jti),
      sold: sold.map(({ jti }) => jti),
      sure: true,
    });
  }

  async #check(): Promise<void> {
    const state = await this.#world.gate.inspect(this.#of);
    if (state.left === undefined) return;
    const leased = state.leases
      .filter(({ jti, expired }) => !expired && !this.#spent.has(jti))
      .reduce((sum, { quantity }) => sum + quantity, 0);
    const most = `${state.left} left and ${leased} leased of ${this.#left}`;
    assert.ok(state.left + leased <= this.#left, most);
  }
}
