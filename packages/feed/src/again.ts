/** When a thing that was just answered is asked for again. */
import { DRIP_LAST_CALL_REFRESH_MS } from "@vestibule/contracts/limits";
import { type LastCallView, lastCallInMs } from "@vestibule/drip/last-call";
import type { EpochMs } from "@vestibule/kernel/units";
import { type Thing, eventOf, planOf } from "./thing.ts";

/**
 * In a last call the age of a copy counts: sooner, and sooner still when it is another isolate's, which was old
 * already. So each isolate's copy is younger than `LAST_CALL_COPY_MS_MAX`, and a location still asks a mint once in an
 * interval: whoever asked is due first, and the others find its answer in the cache.
 *
 * @param drips the statements in hand, by event
 */
export function againMs(
  thing: Thing,
  drips: ReadonlyMap<string, { readonly claims: LastCallView }>,
  { now, cached = false }: { now: EpochMs; cached?: boolean },
): number {
  const drip = drips.get(eventOf(thing) ?? "")?.claims;
  if (drip === undefined || lastCallInMs(drip, now) !== 0) return planOf(thing).refreshMs;
  return cached ? DRIP_LAST_CALL_REFRESH_MS / 2 : DRIP_LAST_CALL_REFRESH_MS;
}
