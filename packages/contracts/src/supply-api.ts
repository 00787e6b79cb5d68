/** What the purchase API tells the mint: whether anything is left to be sold. */
import * as z from "zod/mini";

/**
 * `PUT {mint}/v1/supply/events/{event}`, with the supply bearer token; 204. Idempotent: a report whose
 * `seq` is not above the last one that was heard changes nothing.
 */
export const supplyReportSchema = z.strictObject({
  /** Every seat is sold or held. `false` after `true`: some came back, and the drip goes on. */
  soldOut: z.boolean(),
  /**
   * Grows with every change, over all purchase instances: the epoch milliseconds of the change, or one more than
   * the last. More than a day ahead of the mint's clock it is refused (`invalid-settings`), since no report would
   * be heard after it.
   */
  seq: z.int().check(z.gte(1)),
});
export type SupplyReport = z.infer<typeof supplyReportSchema>;
