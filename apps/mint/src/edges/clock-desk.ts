/** "What time is it?", asked by anybody: answered with a signature, so often for each sender and for all, and no more. */
import type { ClockReport } from "@vestibule/contracts/edges-api";
import type { EpochMs } from "@vestibule/kernel/units";
import { problem } from "@vestibule/service/problems";
import {
  type BucketPolicy,
  StoreAwayError,
  type Taken,
  type TokenBucket,
} from "@vestibule/valkey/token-bucket";
import { unavailable } from "../unavailable.ts";
import type { EdgeAlarms } from "./edge-alarms.ts";
import type { EdgeTable, Moment } from "./edge-table.ts";

export interface ClockDeskOptions {
  readonly table: EdgeTable;
  readonly alarms: EdgeAlarms;
  readonly bucket: TokenBucket;
  readonly limits: { readonly sender: BucketPolicy; readonly total: BucketPolicy };
  /** Answers that are being signed at once. */
  readonly signingsMax: number;
  readonly moment: () => Moment;
  readonly sign: (answer: { readonly nonce: string; readonly at: EpochMs }) => Promise<string>;
}

export interface Question {
  readonly location: string;
  readonly sender: string;
  readonly report: ClockReport;
}

/** How questions ended, since the start. */
export type QuestionCounts = Record<"answered" | "limited" | "busy", number>;

export class ClockDesk {
  readonly #options: ClockDeskOptions;
  readonly #counts: QuestionCounts = { answered: 0, limited: 0, busy: 0 };
  #signing = 0;

  constructor(options: ClockDeskOptions) {
    this.#options = options;
  }

  get counts(): Readonly<QuestionCounts> {
    return this.#counts;
  }

  /**
   * Before anything of a question is read.
   *
   * @throws AppError `too-many-requests`; `unavailable` when there are too many senders to tell apart.
   */
  async admit(sender: string): Promise<void> {
    const { limits } = this.#options;
    const taken = await this.#take(limits.sender, sender);
    if (taken.allowed) return;
    this.#counts.limited += 1;
    throw problem("too-many-requests", {
      retryAfterSeconds: taken.retryAfterMs / 1_000,
      extensions: { retryAfterMs: taken.retryAfterMs },
    });
  }

  /**
   * Hears the report and signs the time.
   *
   * @throws AppError `unavailable` when too many ask, all senders together.
   */
  async answer({ location, sender, report }: Question): Promise<string> {
    const { table, alarms, limits, moment, sign, signingsMax } = this.#options;
    const { nonce, passes = [], ...said } = report;
    const { kept, change } = table.hear({ location, sender, report: said }, moment());
    if (!kept) await alarms.sayFull(table.turnedAway);
    if (change !== undefined) await alarms.say(change);
    if (this.#signing >= signingsMax) throw this.#busy("too many answers are being signed");
    const taken = await this.#take(limits.total, "all");
    if (!taken.allowed) throw this.#busy("too many questions, all senders together");
    this.#signing += 1;
    try {
      // As late as can be: whoever asked knows that this lies between their sending and their receiving, so that a
      // signature that takes its time makes the measure rougher, and never wrong.
      const time = await sign({ nonce, at: moment().now });
      this.#counts.answered += 1;
      // What is not answered is told again.
      table.addPasses({ location, sender }, passes);
      return time;
    } finally {
      this.#signing -= 1;
    }
  }

  async #take(policy: BucketPolicy, identity: string): Promise<Taken> {
    try {
      return await this.#options.bucket.take(policy, identity);
    } catch (error) {
      if (error instanceof StoreAwayError) throw this.#busy("too many senders at once");
      throw error;
    }
  }

  #busy(why: string): Error {
    this.#counts.busy += 1;
    return unavailable(why);
  }
}
