/** When each number's slot opens, as the statements said it. */
import { opensAt } from "@vestibule/drip/segment";

import type { Segment } from "../trace.ts";

/** Number → moment. */
export type Slots = ReadonlyMap<number, number>;

/** A slot does not move: every segment that was ever listed says the same of a number. */
export function slotsOf(segments: readonly Segment[]): {
  readonly slots: Slots;
  readonly violations: readonly string[];
} {
  const slots = new Map<number, number>();
  const violations: string[] = [];
  for (const segment of segments) {
    for (let n = segment.base; n < segment.base + segment.count; n += 1) {
      const opens = opensAt(segment, n);
      const before = slots.get(n) ?? opens;
      if (before !== opens)
        violations.push(`law 2: the slot of ${n} moved by ${opens - before} ms`);
      slots.set(n, before);
    }
  }
  return { slots, violations };
}
