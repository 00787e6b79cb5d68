/** Slots that are made good (ADR 7): claimed, settled, and of no use to their fan by a fault of ours. */
import { assert } from "@vestibule/kernel/assert";
import type { LineState } from "./line-state.ts";

/**
 * `count` numbers are put on demand once more. Their claimed slots no longer count as granted, so that
 * `maxAdmissions` bounds people and not tries. Nothing is given back: the fresh slots are part of the rate
 * like any other (law 3).
 * @throws AssertionError for a count that is none.
 */
export function creditSlots(line: LineState, count: number): LineState {
  assert(Number.isSafeInteger(count) && count >= 0, "a count of slots");
  return count === 0 ? line : { ...line, granted: Math.max(0, line.granted - count) };
}
