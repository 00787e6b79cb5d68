/** Law 3, looked for in what is stored: the moments at which slots really open. */
import { liveCount, opensAt } from "@vestibule/drip/segment";
import type { Segment } from "@vestibule/drip/line-state";

export interface Slot {
  readonly n: number;
  readonly at: number;
}

/** Every slot that is not void, in the order of its opening. */
export function openings(segments: readonly Segment[]): readonly Slot[] {
  return segments
    .flatMap((segment) =>
      Array.from({ length: liveCount(segment) }, (_, index) => ({
        n: segment.base + index,
        at: opensAt(segment, segment.base + index) as number,
      })),
    )
    .sort((a, b) => a.at - b.at);
}

/**
 * The first window in which more slots open than `ratePerMinute × length + extra` and the one at its
 * edge; `undefined` when there is none. Every window that begins and ends at a slot is tried: no other
 * can be worse.
 */
export function tooFast(
  slots: readonly Slot[],
  { ratePerMinute, extra = 0 }: { ratePerMinute: number; extra?: number },
): { readonly from: number; readonly until: number; readonly count: number } | undefined {
  for (let start = 0; start < slots.length; start += 1) {
    for (let end = start; end < slots.length; end += 1) {
      const [from, until] = [slots[start]?.at ?? 0, slots[end]?.at ?? 0];
      const count = end - start + 1;
      if (count * 60_000 >= ratePerMinute * (until - from + 1) + (extra + 1) * 60_000) {
        return { from, until, count };
      }
    }
  }
  return undefined;
}

/** Numbers with more than one slot that is not void: a place that was served twice. */
export function twice(slots: readonly Slot[]): readonly number[] {
  const seen = new Set<number>();
  return slots.filter(({ n }) => seen.size === seen.add(n).size).map(({ n }) => n);
}
