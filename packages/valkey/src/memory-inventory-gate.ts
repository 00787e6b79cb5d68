import type { Clock } from "@vestibule/kernel/clock";

import type { InventoryGate } from "./inventory-gate.ts";

export function createMemoryInventoryGate(_clock: Clock): InventoryGate {
  throw new Error("being written");
}
