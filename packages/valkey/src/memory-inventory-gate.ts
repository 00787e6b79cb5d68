import type { Clock } from "@vestibule/kernel/clock";

import { checkRepair, checkReservation, checkSeats } from "./gate-input.ts";
import {
  GATE_KEEP_MS,
  GATE_LEASE_MS,
  type GateRepair,
  type InventoryGate,
  type Reservation,
  type SeatsOf,
} from "./inventory-gate.ts";

interface Counter {
  /** Undefined until a repair says what is left. */
  left: number | undefined;
  sure: boolean;
  readonly leases: Map<string, { quantity: number; expiresAtMs: number }>;
  readonly sold: Set<string>;
  /** Counters are numbered, so that one that is made again never repeats a version. */
  readonly born: number;
  moves: number;
  usedAtMs: number;
}

/**
 * Gates in this process, for one instance without a store: at a restart every counter is unknown. Counters that
 * nobody used for a day are forgotten, so that memory follows the sales that go on.
 *
 * @param options.leaseMs for tests; GATE_LEASE_MS.
 */
export function createMemoryInventoryGate(
  clock: Clock,
  options: { readonly leaseMs?: number } = {},
): InventoryGate {
  const { leaseMs = GATE_LEASE_MS } = options;
  const counters = new Map<string, Counter>();
  let born = 0;

  function counterOf(of: SeatsOf, now: number): Counter {
    const key = JSON.stringify([of.event, of.sku]);
    const held = counters.get(key);
    if (held !== undefined && held.usedAtMs + GATE_KEEP_MS > now) {
      held.usedAtMs = now;
      return held;
    }
    for (const [other, { usedAtMs }] of counters) {
      if (usedAtMs + GATE_KEEP_MS <= now) counters.delete(other);
    }
    born += 1;
    const counter: Counter = {
      left: undefined,
      sure: false,
      leases: new Map(),
      sold: new Set(),
      born,
      moves: 0,
      usedAtMs: now,
    };
    counters.set(key, counter);
    return counter;
  }

  function reserve(of: SeatsOf & { jti: string; quantity: number }): Reservation {
    const now = clock.now();
    const counter = counterOf(of, now);
    if (counter.sold.has(of.jti)) return { kind: "known" };
    const held = counter.leases.get(of.jti);
    if (held === undefined && counter.left !== undefined && counter.left < of.quantity) {
      return { kind: "sold-out", sure: counter.sure };
    }
    counter.moves += 1;
    const expiresAtMs = now + leaseMs;
    const quantity = held?.quantity ?? of.quantity;
    counter.leases.set(of.jti, { quantity, expiresAtMs });
    if (held !== undefined) return { kind: "known" };
    if (counter.left === undefined) return { kind: "unknown" };
    counter.left -= quantity;
    return { kind: "leased" };
  }

  function settle(of: SeatsOf & { jti: string; outcome: "sold" | "not-sold" }): void {
    const counter = counterOf(of, clock.now());
    const held = counter.leases.get(of.jti);
    const isNews = of.outcome === "sold" && !counter.sold.has(of.jti);
    if (held === undefined && !isNews) return;
    counter.moves += 1;
    counter.leases.delete(of.jti);
    if (of.outcome === "sold") counter.sold.add(of.jti);
    else if (counter.left !== undefined) counter.left += held?.quantity ?? 0;
  }

  function repair(of: SeatsOf & GateRepair): boolean {
    const counter = counterOf(of, clock.now());
    if (versionOf(counter) !== of.version) return false;
    counter.moves += 1;
    for (const jti of [...of.drop, ...of.sold]) counter.leases.delete(jti);
    for (const jti of of.sold) counter.sold.add(jti);
    counter.sure = !of.doubt && (counter.sure || counter.left === undefined);
    counter.left = of.left;
    return true;
  }

  return {
    reserve: async (of) => {
      checkReservation(of);
      return reserve(of);
    },
    settle: async (of) => {
      checkSeats(of);
      settle(of);
    },
    inspect: async (of) => {
      checkSeats(of);
      const now = clock.now();
      const counter = counterOf(of, now);
      return {
        version: versionOf(counter),
        left: counter.left,
        sure: counter.sure,
        buyers: counter.sold.size,
        leases: [...counter.leases].map(([jti, { quantity, expiresAtMs }]) => ({
          jti,
          quantity,
          expired: expiresAtMs <= now,
        })),
      };
    },
    repair: async (of) => {
      checkRepair(of);
      return repair(of);
    },
  };
}

function versionOf({ born, moves }: Counter): string {
  return `${born}.${moves}`;
}
