/**
 * A list of segments read together. One pass over a few hundred entries per call: the edge does this
 * per request. Segments never overlap in time. A number whose slot was made good (a credit) is in
 * several of them: its latest slot is the one that counts. The list need not be sorted.
 */
import type { EpochMs } from "@vestibule/kernel/units";
import { containsNumber, liveCount, openedCount, opensAt, type SegmentView } from "./segment.ts";

export interface HoldView {
  /** While held: slots that open after it are void. Epoch milliseconds. */
  readonly heldSince?: number | undefined;
}

/** When the latest slot of `n` opens, or opened; `undefined` when it has none (not committed, skipped, cut, held). */
export function slotOf(
  segments: readonly SegmentView[],
  n: number,
  { heldSince = Infinity }: HoldView = {},
): EpochMs | undefined {
  let latest: EpochMs | undefined;
  for (const segment of segments) {
    if (!containsNumber(segment, n)) continue;
    const opens = opensAt(segment, n);
    if (opens > (segment.cutAfter ?? Infinity) || opens > heldSince) continue;
    if (latest === undefined || opens > latest) latest = opens;
  }
  return latest;
}

/** Slots of this segment that have opened at `now` and are not void. */
function servedCount(segment: SegmentView, now: number): number {
  return openedCount(segment, Math.min(now, segment.cutAfter ?? Infinity));
}

/**
 * The serving number: the highest whose slot has opened at `now`; `atLeast` when the list knows no
 * higher. Statements list only segments that still matter: pass the statement's `serving`, or the
 * highest value seen so far, as `atLeast`, and the answer never falls (law 2).
 */
export function servingNumber(
  segments: readonly SegmentView[],
  now: number,
  { heldSince = Infinity, atLeast = 0 }: HoldView & { readonly atLeast?: number } = {},
): number {
  let serving = atLeast;
  const at = Math.min(now, heldSince);
  for (const segment of segments) {
    const served = servedCount(segment, at);
    if (served > 0) serving = Math.max(serving, segment.base + served - 1);
  }
  return serving;
}

/** Slots committed that open after `at`, without those that were cut: people who know their time. */
export function pendingCount(segments: readonly SegmentView[], at: number): number {
  let pending = 0;
  for (const segment of segments)
    pending += Math.max(0, liveCount(segment) - openedCount(segment, at));
  return pending;
}
