/** `POST {mint}/v1/admin/events/{event}/archive`. All moments are epoch milliseconds. */
import * as z from "zod/mini";

const count = z.int().check(z.nonnegative());

/** What is left of an event's rows. */
export const archivedFiguresSchema = z.object({
  /** People who were given a number, and the highest one. */
  issued: count,
  highestNumber: count,
  /** Slots that were claimed in time, and those that were not. */
  claimed: count,
  lapsed: count,
  endedAt: count,
});
export type ArchivedFigures = z.infer<typeof archivedFiguresSchema>;

export const archiveAnswerSchema = z.object({
  event: z.string(),
  archivedAt: count,
  figures: archivedFiguresSchema,
  /** Rows that this call deleted. */
  deleted: count,
  /** False: more rows are left than one call deletes; ask again. */
  done: z.boolean(),
});
export type ArchiveAnswer = z.infer<typeof archiveAnswerSchema>;
