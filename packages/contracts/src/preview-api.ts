/** What `POST /v1/admin/events/{event}/preview` answers: what a change would do. Nothing is written. */
import * as z from "zod/mini";
import { EVENT_STATES } from "./statements.ts";

const count = z.int().check(z.gte(0));
/** Epoch milliseconds, by the mint's clock. */
const moment = z.int().check(z.gte(0));

/**
 * The drip ahead, if everybody shows up and nothing is held; while it is held or sold out: as if it went on now. Exact
 * but for roundings, 0.1 % at most.
 */
const outlookSchema = z.object({
  /** Slots that open in each minute from `at` on, while there are people for them; committed ones included. */
  perMinute: z.array(count),
  /** When the last one who waits now, or has a turn ahead, has it; absent: nobody does. */
  lastTurnAt: z.optional(moment),
  /** People who get no turn: after `endsAt`, where theirs may be committed already, or beyond `maxAdmissions`. */
  leftOut: count,
  /** From `takesHoldAt` on at most so many can buy at once: the highest rate ahead × lifetime, and the budget. */
  shoppersAtOnce: count,
});
export type OutlookView = z.infer<typeof outlookSchema>;

export const previewSchema = z.object({
  event: z.string(),
  /** The `If-Match` of the change that was looked at. */
  version: count,
  state: z.enum(EVENT_STATES),
  at: moment,
  /** Where the committed drip ends: no slot before it moves, whatever is changed. */
  takesHoldAt: moment,
  /** People without a committed slot. */
  waiting: count,
  /** Until when the event goes, with the change. */
  endsAt: moment,
  /** Settings that would be others; a value that is absent is none. */
  changes: z.array(
    z.object({
      field: z.string(),
      before: z.optional(z.unknown()),
      after: z.optional(z.unknown()),
    }),
  ),
  before: outlookSchema,
  after: outlookSchema,
});
export type PreviewView = z.infer<typeof previewSchema>;
