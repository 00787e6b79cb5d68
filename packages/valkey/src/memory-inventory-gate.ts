import type { Clock } from "@vestibule/kernel/clock";

import { checkRepair, checkReservation, checkSeats, checkSettlement } from "./gate-input.ts";
import {
  GATE_KEEP_MS,
  GATE_LEASE_MS,
  type GateRepair,
  type InventoryGate,
  LEASES_UNKNOWN_MAX,
  type Reservation,
  type SeatsOf,
} from "./inventory-gate.ts";

interface Counter {
  /** Undefined until a repair says what is left. Below 0 while leases are for more than there is. */
  left: number | undefined;
  sure: boolean;
  readonly leases: Map<string, { quantity: number; expiresAtMs: number }>;
  readonly sold: Set<string>;
  /** Counters are numbered over the whole process, so that one that is made again never repeats a version. */
  readonly born: number;
  moves: number;
  repairs: number;
  /** Seats that leases were ever noted for. */
  asked: number;
  usedAtMs: number;
}

let born = 0;

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
      repairs: 0,
      asked: 0,
      usedAtMs: now,
    };
    counters.set(key, counter);
    return counter;
  }

  return {
    reserve: async (of) => {
      checkReservation(of);
      const now = clock.now();
      return reserve(counterOf(of, now), of, now + leaseMs);
    },
    settle: async (of) => {
      checkSettlement(of);
      settle(counterOf(of, clock.now()), of);
    },
    remember: async (of) => {
      checkSeats(of);
      const counter = counterOf(of, clock.now());
      if (counter.sold.has(of.jti)) return;
      counter.moves += 1;
      counter.sold.add(of.jti);
    },
    inspect: async (of) => {
      checkSeats(of);
      const now = clock.now();
      const counter = counterOf(of, now);
      return {
        version: versionOf(counter),
        life: `${counter.born}.${counter.repairs}`,
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
      return repair(counterOf(of, clock.now()), of);
    },
  };
}

function reserve(
  counter: Counter,
  of: { jti: string; quantity: number },
  expiresAtMs: number,
): Reservation {
  if (counter.sold.has(of.jti)) return { kind: "known" };
  const held = counter.leases.get(of.jti);
  const isTooMuch = counter.left !== undefined && of.quantity > Math.max(0, counter.left);
  if (held === undefined && isTooMuch) return { kind: "sold-out", sure: counter.sure };
  counter.moves += 1;
  const quantity = held?.quantity ?? of.quantity;
  const isCounted = counter.left !== undefined && quantity > 0;
  const isNoted = held !== undefined || isCounted || counter.leases.size < LEASES_UNKNOWN_MAX;
  if (isNoted) counter.leases.set(of.jti, { quantity, expiresAtMs });
  if (held !== undefined) return { kind: "known" };
  counter.asked += quantity;
  if (counter.left === undefined) return { kind: "unknown" };
  counter.left -= quantity;
  return { kind: "leased" };
}

function settle(counter: Counter, of: { jti: string; sold: number }): void {
  const held = counter.leases.get(of.jti);
  const isNews = of.sold > 0 && !counter.sold.has(of.jti);
  if (held === undefined && !isNews) return;
  counter.moves += 1;
  counter.leases.delete(of.jti);
  if (of.sold > 0) counter.sold.add(of.jti);
  if (held !== undefined && counter.left !== undefined) counter.left += held.quantity - of.sold;
}

function repair(counter: Counter, of: GateRepair): boolean {
  const [born, moves, repairs, asked = 0, leased = 0] = of.version.split(".").map(Number);
  if (born !== counter.born || repairs !== counter.repairs) return false;
  const hasMoved = moves !== counter.moves;
  if (hasMoved && counter.left !== undefined && counter.left <= of.left + leased) return false;
  // `scripts/repair-gate.ts` says why a gate that moved is treated so.
  let left = hasMoved ? of.left - (counter.asked - asked) : of.left;
  for (const jti of of.drop) {
    if (hasMoved) left -= counter.leases.get(jti)?.quantity ?? 0;
    else counter.leases.delete(jti);
  }
  for (const jti of of.sold) {
    counter.leases.delete(jti);
    counter.sold.add(jti);
  }
  counter.moves += 1;
  counter.repairs += 1;
  counter.sure = of.sure && !hasMoved;
  counter.left = left;
  return true;
}

function versionOf({ born, moves, repairs, asked, leases }: Counter): string {
  const leased = [...leases.values()].reduce((sum, { quantity }) => sum + quantity, 0);
  return [born, moves, repairs, asked, leased].join(".");
}
