/** Settling a segment whose claim windows are over: what nobody claimed is given back (law 3). */
import { assert } from "@vestibule/kernel/assert";
import type { EpochMs } from "@vestibule/kernel/units";
import type { LineState, Segment } from "./line-state.ts";
import { liveCount, opensAt } from "./segment.ts";

const MICRO = 1_000_000;

/**
 * The last moment at which a slot of this segment can be claimed; `undefined` when every slot of it
 * is void. A claim at exactly this moment is in time.
 */
export function lastClaimBy(segment: Segment, claimWindowMs: number): EpochMs | undefined {
  const live = liveCount(segment);
  if (live === 0) return undefined;
  return (opensAt(segment, segment.base + live - 1) + claimWindowMs) as EpochMs;
}

/**
 * May this segment be settled at `now`? Strictly after its last slot's `claimBy`, and, while held,
 * only when the hold leaves it whole: a resume will cut it first. Claims in flight must be recorded
 * before the count is taken: settle in the transaction that counts the claims.
 */
export function maySettle(
  segment: Segment,
  when: {
    readonly claimWindowMs: number;
    readonly now: EpochMs;
    readonly heldSince?: EpochMs | undefined;
  },
): boolean {
  const claimBy = lastClaimBy(segment, when.claimWindowMs);
  if (claimBy === undefined) return true;
  if (claimBy >= when.now) return false;
  const lastOpens = claimBy - when.claimWindowMs;
  return when.heldSince === undefined || lastOpens <= when.heldSince;
}

/**
 * Settle a segment once: its slots that were neither void nor claimed have lapsed.
 * @throws AssertionError when more were claimed than there were slots.
 */
export function settleSegment(input: {
  readonly line: LineState;
  readonly segment: Segment;
  readonly claimed: number;
}): { readonly lapsed: number; readonly line: LineState } {
  const { line, segment, claimed } = input;
  const lapsed = liveCount(segment) - claimed;
  assert(Number.isSafeInteger(claimed) && claimed >= 0 && lapsed >= 0, "claims fit the slots");
  return {
    lapsed,
    line: {
      ...line,
      giveBackMicro: line.giveBackMicro + lapsed * MICRO,
      granted: line.granted - lapsed,
    },
  };
}
