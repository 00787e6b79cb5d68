/**
 * One event under one leader: what is stored, as a value, plus the numbers given from memory. All
 * writes but reservations pass `write`, one at a time, so that lapses and claims never race.
 */
import { creditSlots } from "@vestibule/drip/credit";
import type { NumberRange } from "@vestibule/drip/line-state";
import { containsNumber, liveCount, opensAt } from "@vestibule/drip/segment";
import type { Clock } from "@vestibule/kernel/clock";
import { type EpochMs, ticketNumber } from "@vestibule/kernel/units";
import { problem } from "@vestibule/service/problems";
import { STEP_DECISION_MS_MAX, WRITES_MAX } from "../limits.ts";
import { applied } from "../store/applied.ts";
import {
  type Demand,
  type EventChange,
  type EventRecord,
  type Lead,
  LeaseLostError,
  LineMovedError,
  type MintStore,
  type StepDone,
  type StoredSegment,
} from "../store/store.ts";
import { unavailable } from "../unavailable.ts";
import { RecentLapses } from "./recent-lapses.ts";
import { Sequencer } from "./sequencer.ts";
import { SerialQueue } from "./serial-queue.ts";

export interface LineOptions {
  readonly lead: Lead;
  readonly store: MintStore;
  readonly clock: Clock;
  /** The store says that somebody else leads. */
  readonly onLeaseLost: () => void;
}

/** A slot that is made good; `claimed`: it counts as granted. */
export interface Credited {
  readonly n: number;
  /** Epoch seconds. */
  readonly slot: number;
  readonly claimed: boolean;
}

export interface LineStep {
  readonly settle: readonly number[];
  /** As of `StepRequest`. `now` is read when it is called: connections and locks have been waited for. */
  readonly decide: (claimed: ReadonlyMap<number, number>, now: EpochMs) => EventChange;
}

export class EventLine {
  readonly event: string;
  readonly lead: Lead;
  readonly store: MintStore;
  readonly sequencer: Sequencer;
  readonly lapses: RecentLapses;
  readonly #clock: Clock;
  readonly #queue = new SerialQueue({ jobsMax: WRITES_MAX });
  readonly #onLeaseLost: () => void;
  #record: EventRecord;
  /** An answer was lost: what is stored is known only after a new read. */
  #doubtful = false;
  /** Grows with everything that a statement shows. */
  #edition = 0;
  #servingShown = 0;

  constructor(record: EventRecord, { lead, store, clock, onLeaseLost }: LineOptions) {
    this.event = record.settings.event;
    this.lead = lead;
    this.store = store;
    this.#clock = clock;
    this.#record = record;
    this.#onLeaseLost = onLeaseLost;
    const { line, lapsed } = record.progress;
    const unsettled = record.segments.reduce((sum, segment) => sum + liveCount(segment), 0);
    this.lapses = new RecentLapses({ claimed: line.granted - unsettled, lapsed });
    const first = record.reserved + 1;
    this.sequencer = new Sequencer({
      first,
      clock,
      reserve: (through) =>
        this.#fenced(() => store.reserveNumbers(lead, { event: this.event, first, through })),
    });
  }

  get record(): EventRecord {
    return this.#record;
  }

  get edition(): number {
    return this.#edition;
  }

  /** The serving number as shown: `computed`, but never lower than before (law 2). */
  showServing(computed: number): number {
    this.#servingShown = Math.max(this.#servingShown, computed);
    return this.#servingShown;
  }

  /**
   * Runs `job` when no other write of this event runs; it sees what is stored. `now` is read then: a
   * moment from before the wait would let slots open in the past, or after claims that were signed since.
   */
  write<Value>(job: (now: EpochMs) => Promise<Value>): Promise<Value> {
    return this.#queue.run(async () => {
      if (this.#doubtful) await this.#reload();
      try {
        return await this.#fenced(() => job(this.#clock.now()));
      } catch (error) {
        if (isUnknownOutcome(error)) this.#doubtful = true;
        if (!(error instanceof LineMovedError)) throw error;
        throw unavailable("the line moved: an earlier write was stored after all", error);
      }
    });
  }

  /** Only within `write`: one step, stored and then remembered. */
  async step({ settle, decide }: LineStep): Promise<StepDone> {
    let decidedAt = this.#clock.now();
    const done = await this.store.step(this.lead, {
      settle,
      decide: (claimed) => {
        decidedAt = this.#clock.now();
        return decide(claimed, decidedAt);
      },
      isFresh: () => Math.abs(this.#clock.now() - decidedAt) <= STEP_DECISION_MS_MAX,
      event: this.event,
      lineVersion: this.#record.lineVersion,
    });
    this.#record = applied(this.#record, done, {
      epoch: this.lead.epoch,
      first: this.sequencer.first,
    });
    this.lapses.note(done.change.settled ?? []);
    this.#edition += 1;
    return done;
  }

  /**
   * Only within `write`: numbers that wait for a slot on demand from now on; none waits already. `credited`:
   * their slots, long settled, are made good by it.
   */
  async addDemand(owed: readonly number[], credited: readonly Credited[] = []): Promise<void> {
    const { demand, progress } = this.#record;
    let position = demand.at(-1)?.position ?? 0;
    const demandSet: Demand[] = [...owed, ...credited.map(({ n }) => n)].map((n) => ({
      position: (position += 1),
      first: n,
      last: n,
    }));
    const claimed = credited.filter((credit) => credit.claimed).length;
    const more = (at: EpochMs): EventChange => ({
      creditsUsed: credited.map(({ n, slot }) => ({ n, slot, at })),
      progress: { ...progress, line: creditSlots(progress.line, claimed) },
    });
    await this.step({
      settle: [],
      decide: (_counts, now) => ({ demandSet, ...(credited.length === 0 ? {} : more(now)) }),
    });
  }

  /** Runs of numbers that somebody holds, from `from` on, ascending. */
  heldFrom(from: number): readonly NumberRange[] {
    const runs: NumberRange[] = [];
    const add = (first: number, last: number): void => {
      if (last < Math.max(first, from)) return;
      runs.push({ first: ticketNumber(Math.max(first, from)), last: ticketNumber(last) });
    };
    for (const block of this.#record.blocks) {
      if (block.epoch !== this.lead.epoch) add(block.first, block.issuedThrough);
    }
    add(this.sequencer.first, this.sequencer.issuedThrough);
    return runs;
  }

  /** Does nobody wait for a slot? Asked by every join, so that it allocates nothing. */
  isQuiet(): boolean {
    const { demand, blocks, progress } = this.#record;
    const next = progress.line.nextNumber;
    if (demand.length > 0 || this.sequencer.issuedThrough >= next) return false;
    for (const { issuedThrough, first } of blocks) {
      if (issuedThrough >= Math.max(next, first)) return false;
    }
    return true;
  }

  /** People who were given a number. */
  issuedCount(): number {
    return this.heldFrom(1).reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }

  /** People without a committed slot: behind the committed numbers, or on demand. */
  waitingCount(): number {
    const { demand, progress } = this.#record;
    return [...demand, ...this.heldFrom(progress.line.nextNumber)].reduce(
      (sum, { first, last }) => sum + last - first + 1,
      0,
    );
  }

  /** The highest number that was given for sure. */
  highestIssued(): number {
    return this.heldFrom(1).at(-1)?.last ?? 0;
  }

  /** The latest segment, not settled, in which `n` has a slot that no hold has cut. */
  liveSlot(n: number): { readonly segment: StoredSegment; readonly opensAt: EpochMs } | undefined {
    const { segments } = this.#record;
    for (let index = segments.length - 1; index >= 0; index -= 1) {
      const segment = segments[index];
      if (segment === undefined || !containsNumber(segment, n)) continue;
      const opens = opensAt(segment, n);
      if (opens <= (segment.cutAfter ?? Infinity)) return { segment, opensAt: opens };
    }
    return undefined;
  }

  waitsOnDemand(n: number): boolean {
    return this.#record.demand.some(({ first, last }) => n >= first && n <= last);
  }

  async close(): Promise<void> {
    this.sequencer.stop();
    await Promise.all([this.sequencer.idle(), this.#queue.idle()]);
  }

  async #reload(): Promise<void> {
    const record = await this.store.loadEvent(this.event);
    // It was archived, and the answer was lost.
    if (record === undefined) throw problem("event-not-found");
    // A leader that slept meets its successor's numbers here: nothing can be planned between the two.
    if (record.blocks.some(({ epoch }) => epoch > this.lead.epoch)) {
      this.#onLeaseLost();
      throw unavailable("another mint leads: it has reserved numbers");
    }
    this.#record = record;
    this.#edition += 1;
    this.#doubtful = false;
  }

  async #fenced<Value>(grant: () => Promise<Value>): Promise<Value> {
    try {
      return await grant();
    } catch (error) {
      if (!(error instanceof LeaseLostError)) throw error;
      this.#onLeaseLost();
      throw unavailable("another mint leads", error);
    }
  }
}

/** Every refusal that is no trouble of the store leaves nothing behind. */
function isUnknownOutcome(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === undefined || code === "unavailable";
}
