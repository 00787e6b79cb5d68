import { QUANTITY_MAX, SKU_CHARS_MAX } from "@vestibule/contracts/limits";
import { isSlug } from "@vestibule/contracts/slug";
import { assert } from "@vestibule/kernel/assert";

import { type GateRepair, REPAIRED_AT_ONCE_MAX, type SeatsOf } from "./inventory-gate.ts";

/** @throws AssertionError: these come from verified tokens and parsed bodies. */
export function checkSeats(of: SeatsOf): void {
  assert(isSlug(of.event), "an event is named by a slug");
  assert(of.sku.length >= 1 && of.sku.length <= SKU_CHARS_MAX, "a sku is not empty and not long");
}

/** @throws AssertionError */
export function checkReservation(of: SeatsOf & { jti: string; quantity: number }): void {
  checkSeats(of);
  assert(of.jti.length >= 1 && of.jti.length <= 256, "a jti has 1 to 256 characters");
  const { quantity } = of;
  assert(
    Number.isSafeInteger(quantity) && quantity >= 0 && quantity <= QUANTITY_MAX,
    "a quantity is a whole number from 0 to QUANTITY_MAX",
  );
}

/** @throws AssertionError */
export function checkSettlement(of: SeatsOf & { sold: number }): void {
  checkSeats(of);
  assert(
    Number.isSafeInteger(of.sold) && of.sold >= 0 && of.sold <= QUANTITY_MAX,
    "what was sold is a whole number from 0 to QUANTITY_MAX",
  );
}

/** @throws AssertionError */
export function checkRepair(of: SeatsOf & GateRepair): void {
  checkSeats(of);
  assert(
    Number.isSafeInteger(of.left) && Math.abs(of.left) < 1e15,
    "what is left is a whole number",
  );
  assert(of.drop.length + of.sold.length <= REPAIRED_AT_ONCE_MAX, "a repair has a bounded size");
}
