/**
 * Claims of one event, recorded many at a time. A claim is decided inside the event's queue of
 * writes, next to holds and settles, and at the reading of the clock that its admission carries as
 * `iat`: a leader that was replaced meanwhile finds its fence gone, and signs nothing.
 */
import { type SlotTimes, slotTimes } from "@vestibule/drip/slot";
import { opensAt } from "@vestibule/drip/segment";
import type { Clock } from "@vestibule/kernel/clock";
import type { EpochMs } from "@vestibule/kernel/units";
import { problem } from "@vestibule/service/problems";
import {
  CLAIM_BATCH_MAX,
  CLAIM_QUEUE_MAX,
  DEMAND_RETRY_SECONDS,
  DEMAND_RUNS_MAX,
  UNAVAILABLE_RETRY_SECONDS,
} from "../limits.ts";
import type { ClaimOf, PlaceFound, StoredSegment } from "../store/store.ts";
import { unavailable } from "../unavailable.ts";
import type { EventLine } from "./event-line.ts";
import { isEnded } from "./event-state.ts";

/** A recorded claim: everything that its admission says. */
export interface Granted {
  readonly n: number;
  readonly times: SlotTimes;
  /** When it was decided: `iat`. */
  readonly at: EpochMs;
}

interface Asked {
  readonly n: number;
  readonly answer: PromiseWithResolvers<Granted>;
}

interface Candidate extends ClaimOf {
  readonly times: SlotTimes;
}

/** What one look at the line says about one number. */
type Verdict =
  | { readonly tag: "slot"; readonly candidate: Candidate; readonly inTime: boolean }
  | { readonly tag: "refused"; readonly error: Error }
  | { readonly tag: "passed" };

export class ClaimDesk {
  readonly #line: EventLine;
  readonly #clock: Clock;
  #pending: Asked[] = [];
  #flushing = false;

  constructor({ line, clock }: { line: EventLine; clock: Clock }) {
    this.#line = line;
    this.#clock = clock;
  }

  /**
   * Records that the holder of `n` claims their slot.
   *
   * @throws AppError `too-early`, `held`, `slot-over`, `event-ended`, `unavailable`.
   */
  claim(n: number): Promise<Granted> {
    // Most refusals need no place in the queue; they are decided again inside it.
    const verdict = this.#look(n, this.#clock.now());
    if (verdict.tag === "refused") return Promise.reject(verdict.error);
    if (this.#pending.length >= CLAIM_QUEUE_MAX) {
      return Promise.reject(unavailable("too many claims wait"));
    }
    const answer = Promise.withResolvers<Granted>();
    this.#pending.push({ n, answer });
    this.#flushSoon();
    return answer.promise;
  }

  #flushSoon(): void {
    if (this.#flushing || this.#pending.length === 0) return;
    this.#flushing = true;
    let batch: readonly Asked[] = [];
    this.#line
      .write(async (now) => {
        batch = this.#pending.slice(0, CLAIM_BATCH_MAX);
        this.#pending = this.#pending.slice(CLAIM_BATCH_MAX);
        await this.#flush(batch, now);
      })
      .catch((error: unknown) => {
        if (batch.length === 0) batch = this.#pending.splice(0);
        for (const { answer } of batch) answer.reject(error);
      })
      .finally(() => {
        this.#flushing = false;
        this.#flushSoon();
      });
  }

  async #flush(batch: readonly Asked[], at: EpochMs): Promise<void> {
    const line = this.#line;
    const numbers = [...new Set(batch.map(({ n }) => n))];
    const verdicts = new Map(numbers.map((n) => [n, this.#look(n, at)]));
    const passed = numbers.filter((n) => verdicts.get(n)?.tag === "passed");
    if (passed.length > 0) await this.#lookBack(passed, at, verdicts);

    const slots = [...verdicts.values()].filter((verdict) => verdict.tag === "slot");
    const granted =
      slots.length === 0
        ? new Set<number>()
        : await line.store.recordClaims(line.lead, {
            event: line.event,
            at,
            fresh: slots.filter(({ inTime }) => inTime).map(({ candidate }) => candidate),
            again: slots.filter(({ inTime }) => !inTime).map(({ candidate }) => candidate),
          });
    for (const { n, answer } of batch) {
      const verdict = verdicts.get(n);
      if (verdict === undefined || verdict.tag === "passed") answer.reject(onDemand());
      else if (verdict.tag === "refused") answer.reject(verdict.error);
      else if (granted.has(n)) answer.resolve({ n, times: verdict.candidate.times, at });
      else if (verdict.inTime)
        answer.reject(unavailable("a slot was settled while it was claimed"));
      else answer.reject(problem("slot-over"));
    }
  }

  /** What memory knows of `n` at `now`. */
  #look(n: number, now: EpochMs): Verdict {
    const { record } = this.#line;
    if (isEnded(record, now)) return refused(problem("event-ended"));
    const slot = this.#line.liveSlot(n);
    if (slot !== undefined) return this.#verdict(n, slot.segment, now);
    if (record.facts.soldoutAt !== undefined) {
      return refused(problem("sold-out", { detail: "The sale is sold out" }));
    }
    if (n >= record.progress.line.nextNumber) {
      return refused(problem("too-early", { retryAfterSeconds: DEMAND_RETRY_SECONDS }));
    }
    return this.#line.waitsOnDemand(n) ? refused(onDemand()) : { tag: "passed" };
  }

  /** Numbers that the line has passed: an old slot, or none ever, and then one on demand. */
  async #lookBack(
    numbers: readonly number[],
    now: EpochMs,
    verdicts: Map<number, Verdict>,
  ): Promise<void> {
    const line = this.#line;
    const places = await line.store.findPlaces(line.event, numbers);
    const owed: number[] = [];
    for (const n of numbers) {
      const place: PlaceFound | undefined = places.get(n);
      if (place === undefined) owed.push(n);
      else verdicts.set(n, this.#verdict(n, place.segment, now));
    }
    if (owed.length === 0) return;
    if (line.record.demand.length + owed.length > DEMAND_RUNS_MAX) {
      throw unavailable("too many numbers wait for a slot on demand");
    }
    await line.addDemand(owed);
  }

  #verdict(n: number, segment: StoredSegment, now: EpochMs): Verdict {
    const { settings, facts } = this.#line.record;
    const times = slotTimes(opensAt(segment, n), settings);
    if (facts.hold !== undefined && times.opensAt > facts.hold.since) {
      return refused(
        problem("held", {
          retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS * 5,
          ...(facts.hold.reason === "" ? {} : { detail: facts.hold.reason }),
        }),
      );
    }
    if (now >= times.closesAt) return refused(problem("slot-over"));
    return {
      tag: "slot",
      candidate: { n, segment: segment.id, times },
      inTime: now <= times.claimBy,
    };
  }
}

function refused(error: Error): Verdict {
  return { tag: "refused", error };
}

function onDemand(): Error {
  return problem("too-early", {
    detail: "This place gets the next slot",
    retryAfterSeconds: DEMAND_RETRY_SECONDS,
  });
}
