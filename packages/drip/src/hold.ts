/**
 * What a hold cuts, worked out when it ends (design section 5, Hold). While held nothing is
 * committed and slots after `heldSince` are void; at the resume they are void for good, and their
 * numbers are committed anew, first in line.
 */
import { ok, refuse, type Result } from "@vestibule/kernel/result";
import type { EpochMs, TicketNumber } from "@vestibule/kernel/units";
import type { LineState, NumberRange, Segment } from "./line-state.ts";
import { liveCount, openedCount } from "./segment.ts";

export interface Resumption<Row extends Segment = Segment> {
  /**
   * The segments that change, each with its `cutAfter` and whatever else the caller's rows carry. Tell
   * them apart by an id: a number, or a moment, can be in a void segment and again in a later one.
   */
  readonly cutSegments: readonly Row[];
  /** Numbers that lost their slot, in the order of their slots: put them in front of the demand. */
  readonly cut: readonly NumberRange[];
  readonly cutCount: number;
  readonly line: LineState;
}

/**
 * The earliest moment at which a resume can take effect: the second after the hold's second.
 * Tokens carry whole seconds, so this is what tells a slot before the hold from one after it.
 */
export function earliestResume(heldSince: EpochMs): EpochMs {
  return ((Math.floor(heldSince / 1000) + 1) * 1000) as EpochMs;
}

/**
 * End a hold at `now`, which becomes the resume's moment. `segments`: at least every segment with a
 * slot after `heldSince`. Plan the next step in the same transaction, so that the cut numbers have
 * their new slots in the next statement.
 *
 * Give-back spent on cut slots is not returned: the drip may only end up slower for it (law 3).
 * Refused (`too-early`) before `earliestResume(heldSince)`.
 */
export function resumeLine<Row extends Segment>(input: {
  readonly line: LineState;
  readonly segments: readonly Row[];
  readonly heldSince: EpochMs;
  readonly now: EpochMs;
}): Result<Resumption<Row>, { readonly tag: "too-early"; readonly from: EpochMs }> {
  const { line, segments, heldSince, now } = input;
  const earliest = earliestResume(heldSince);
  if (now < earliest) return refuse({ tag: "too-early", from: earliest });

  const cutSegments: Row[] = [];
  const cut: NumberRange[] = [];
  let cutCount = 0;
  // The first cut slot could have opened at its time, so a slot may open then: never before it, or
  // a short hold at a slow rate would bring two slots closer together than the rate allows.
  let frontier = Infinity;
  for (const segment of segments.toSorted((a, b) => a.from - b.from)) {
    const live = liveCount(segment);
    const kept = Math.min(live, openedCount(segment, heldSince));
    if (kept === live) continue;
    cutSegments.push({ ...segment, cutAfter: heldSince });
    cutCount += live - kept;
    frontier = Math.min(frontier, endOfSlots(segment, kept));
    const first = (segment.base + kept) as TicketNumber;
    const last = (segment.base + live - 1) as TicketNumber;
    const previous = cut.at(-1);
    if (previous !== undefined && previous.last + 1 === first) {
      cut[cut.length - 1] = { first: previous.first, last };
    } else {
      cut.push({ first, last });
    }
  }
  const free = cutCount === 0 ? line.frontier : frontier;
  return ok({
    cutSegments,
    cut,
    cutCount,
    line: {
      ...line,
      frontier: Math.max(now, free) as EpochMs,
      granted: line.granted - cutCount,
    },
  });
}

/** Where the spacing of the first `kept` slots ends, rounded up. */
function endOfSlots({ from, until, count }: Segment, kept: number): number {
  return from + Math.ceil((kept * (until - from)) / count);
}
