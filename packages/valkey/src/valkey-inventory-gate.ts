import type { ValkeyClient } from "./client.system.ts";
import { checkRepair, checkReservation, checkSeats, checkSettlement } from "./gate-input.ts";
import {
  GATE_KEEP_MS,
  GATE_LEASE_MS,
  type InventoryGate,
  LEASES_UNKNOWN_MAX,
  type SeatsOf,
} from "./inventory-gate.ts";
import { INSPECT_GATE } from "./scripts/inspect-gate.ts";
import { REMEMBER_BUYER } from "./scripts/remember-buyer.ts";
import { REPAIR_GATE } from "./scripts/repair-gate.ts";
import { RESERVE_SEATS } from "./scripts/reserve-seats.ts";
import { SETTLE_SEATS } from "./scripts/settle-seats.ts";

/**
 * Gates in Valkey or Redis: three keys for each event and sku, `vst:gate:{<event>}:<sku>:state|leases|sold`,
 * all of an event on one node of a cluster. The server's clock counts. `scripts/gate-state.ts` says what is in
 * them.
 *
 * @param options.leaseMs for tests; GATE_LEASE_MS.
 */
export function createValkeyInventoryGate(
  client: ValkeyClient,
  options: { readonly leaseMs?: number } = {},
): InventoryGate {
  const leaseMs = String(options.leaseMs ?? GATE_LEASE_MS);
  const keepMs = String(GATE_KEEP_MS);
  return {
    reserve: async (of) => {
      checkReservation(of);
      const args = [of.jti, String(of.quantity), leaseMs, keepMs, String(LEASES_UNKNOWN_MAX)];
      return client.run(RESERVE_SEATS, keysOf(of), args);
    },
    settle: async (of) => {
      checkSettlement(of);
      await client.run(SETTLE_SEATS, keysOf(of), [of.jti, String(of.sold), keepMs]);
    },
    remember: async (of) => {
      checkSeats(of);
      await client.run(REMEMBER_BUYER, keysOf(of), [of.jti, keepMs]);
    },
    inspect: async (of) => {
      checkSeats(of);
      return client.run(INSPECT_GATE, keysOf(of), [keepMs]);
    },
    repair: async (of) => {
      checkRepair(of);
      const { version, left, drop, sold, sure } = of;
      const numbers = [String(left), sure ? "1" : "0", keepMs, String(drop.length)];
      return client.run(REPAIR_GATE, keysOf(of), [version, ...numbers, ...drop, ...sold]);
    },
  };
}

function keysOf({ event, sku }: SeatsOf): string[] {
  return ["state", "leases", "sold"].map((part) => `vst:gate:{${event}}:${sku}:${part}`);
}
