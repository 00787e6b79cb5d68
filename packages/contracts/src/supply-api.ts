/** What the purchase API tells the mint: whether anything is left to be sold, and for how long, and about how much. */
import * as z from "zod/mini";
import { SUPPLY_LEFT_MAX } from "./limits.ts";

/**
 * `PUT {mint}/v1/supply/events/{event}`, with the supply bearer token; 204. Idempotent: a report whose
 * `seq` is not above the last one that was heard changes nothing. Each fact goes by the last `seq` that
 * came with it, so that a report without `lastCall` or `left` (an older sender's) takes nothing from a newer sender's
 * with the same number.
 */
export const supplyReportSchema = z.strictObject({
  /** Every seat is sold or held. `false` after `true`: some came back, and the drip goes on. */
  soldOut: z.boolean(),
  /**
   * What is left may be gone within `LAST_CALL_AHEAD_MS` (apps/purchase/src/limits.ts): pages are to look often. Absent:
   * unchanged. A mint from before there was a last call answers 400 to a report that has it, and is told without.
   */
  lastCall: z.optional(z.boolean()),
  /**
   * At most so many pieces can still be sold: those that nobody has bought, whether they are held or not, since a hold
   * ends in a sale or comes back. Only told to those who wait, as a band: it changes who gets a slot in nothing. Absent:
   * unchanged. A mint from before it answers 400, as for `lastCall`.
   */
  left: z.optional(z.int().check(z.gte(0), z.lte(SUPPLY_LEFT_MAX))),
  /**
   * Grows with every change, over all purchase instances: the epoch milliseconds of the change, or one more than
   * the last. More than a day ahead of the mint's clock it is refused (`invalid-settings`), since no report would
   * be heard after it.
   */
  seq: z.int().check(z.gte(1)),
});
export type SupplyReport = z.infer<typeof supplyReportSchema>;
