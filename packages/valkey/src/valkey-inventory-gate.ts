import type { ValkeyClient } from "./client.system.ts";
import type { InventoryGate } from "./inventory-gate.ts";

export function createValkeyInventoryGate(_client: ValkeyClient): InventoryGate {
  throw new Error("being written");
}
