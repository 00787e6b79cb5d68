/** When the pages of a sale look about every second: what is left may be gone any moment. */
import type { DripClaims } from "@vestibule/contracts/statements";
import type { EpochMs } from "@vestibule/kernel/units";
import type { EventRecord } from "../store/store.ts";
import { joinableFrom } from "./event-state.ts";

type Described = Pick<EventRecord, "settings" | "facts" | "cuts">;

/**
 * A span of open selling: it begins when it was reported, or with the opening, and anew when a hold ends or something
 * comes back (`hearSupply`). `undefined`: none was reported, the organizer wants none, or it is over.
 */
export function lastCallOf(
  { settings, facts, cuts }: Described,
  now: EpochMs,
): DripClaims["lastCall"] {
  const { at } = facts.supply.lastCall;
  const spanMs = settings.lastCallSeconds * 1_000;
  if (at === undefined || spanMs === 0) return undefined;
  const opensAt = Math.max(joinableFrom(settings), settings.startsAt ?? 0);
  const from = Math.max(at, opensAt, cuts.at(-1)?.until ?? 0);
  return now < from + spanMs ? { from, until: from + spanMs } : undefined;
}
