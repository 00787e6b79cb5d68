/** What those who wait are told of how much is left. */
import type { DripClaims } from "@vestibule/contracts/statements";
import { bandOf } from "@vestibule/drip/band";
import { pendingCount } from "@vestibule/drip/line";
import type { EpochMs } from "@vestibule/kernel/units";
import type { EventRecord } from "../store/store.ts";

/**
 * The fewer of two: pieces that can still be sold, as they were reported, and turns that are still to come, where
 * `maxAdmissions` bounds them. `undefined`: the organizer does not tell, or there is neither.
 */
export function leftOf(
  { settings, facts, progress, segments }: EventRecord,
  now: EpochMs,
): DripClaims["left"] {
  const { maxAdmissions, tellLeft } = settings;
  if (!tellLeft) return undefined;
  const pieces = facts.supply.left.atMost ?? Infinity;
  const upcoming = pendingCount(segments, Math.min(now, facts.hold?.since ?? now));
  const turns = Math.max(0, (maxAdmissions ?? Infinity) - progress.line.granted) + upcoming;
  const fewer = Math.min(pieces, turns);
  if (fewer === Infinity) return undefined;
  return { atMost: bandOf(fewer), ...(turns < pieces ? { turns: true } : {}) };
}
