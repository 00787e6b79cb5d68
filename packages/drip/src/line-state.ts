/** The drip of one event as the mint stores it: what the controller reads, and what it leaves behind. */
import type { EpochMs, TicketNumber } from "@vestibule/kernel/units";
import type { Rates } from "./rate-plan.ts";

/** A run of numbers, both ends included. */
export interface NumberRange {
  readonly first: TicketNumber;
  readonly last: TicketNumber;
}

/** A committed piece of the drip (design section 3). `cutAfter`: slots that open after it are void. */
export interface Segment {
  readonly base: TicketNumber;
  readonly count: number;
  readonly from: EpochMs;
  readonly until: EpochMs;
  readonly cutAfter?: EpochMs;
}

export interface LineState {
  /** The lowest number that the drip has neither given a slot nor skipped. */
  readonly nextNumber: TicketNumber;
  /** End of the last committed segment: the earliest moment the next slot may open. */
  readonly frontier: EpochMs;
  /** Credit: lapsed slots not yet given back, and what of the budget is earned; in millionths of a slot. */
  readonly giveBackMicro: number;
  /** Slots committed so far, without those that lapsed or were cut: what `maxAdmissions` bounds. */
  readonly granted: number;
}

export interface DripPolicy extends Rates {
  readonly horizonMs: number;
  readonly overdrivePercent: number;
  /** Slots that may open beyond the rate, made up for time in which nothing was committed; 0: none. */
  readonly approximationBudget: number;
  readonly maxAdmissions: number | null;
}
