/**
 * Claims of one event, recorded many at a time. A claim is decided inside the event's queue of
 * writes, next to holds and settles, and at the reading of the clock that its admission carries as
 * `iat`: a leader that was replaced meanwhile finds its fence gone, and signs nothing.
 */
import type { ConfirmPresence } from "@vestibule/contracts/line-api";
import { lastClaimBy } from "@vestibule/drip/lapse";
import { claimWindowMs, type SlotTimes, slotTimes } from "@vestibule/drip/slot";
import { opensAt } from "@vestibule/drip/segment";
import type { Clock } from "@vestibule/kernel/clock";
import { type EpochMs, type EpochSeconds, toSeconds } from "@vestibule/kernel/units";
import { problem } from "@vestibule/service/problems";
import {
  CLAIM_BATCH_MAX,
  CLAIM_QUEUE_MAX,
  DEMAND_RETRY_SECONDS,
  DEMAND_RUNS_MAX,
  TICK_EVERY_MS,
  UNAVAILABLE_RETRY_SECONDS,
} from "../limits.ts";
import type { ClaimOf, HoldFacts, PlaceFound, StoredSegment } from "../store/store.ts";
import { unavailable } from "../unavailable.ts";
import type { Credited, EventLine } from "./event-line.ts";
import { boundedSeconds, isEnded, isSoldOut, soldOut } from "./event-state.ts";

/** A genuine credit for the number that is claimed: counts when its slot is the latest one, and over. */
export interface ShownCredit {
  /** The second in which the slot opened that could not be used. */
  readonly slot: EpochSeconds;
}

/** A recorded claim: everything that its admission says. */
export interface Granted {
  readonly n: number;
  readonly times: SlotTimes;
  /** When it was decided: `iat`. */
  readonly at: EpochMs;
}

/** What comes with a claim. */
export interface ClaimSays {
  readonly credit?: ShownCredit | undefined;
  /** Somebody is there: asked for when the event's presence is `confirm`. */
  readonly confirmed?: boolean | undefined;
}

interface Asked extends ClaimSays {
  readonly n: number;
  readonly answer: PromiseWithResolvers<Granted>;
}

interface Candidate extends ClaimOf {
  readonly times: SlotTimes;
}

/** A slot that is not over. */
interface SlotFound {
  readonly tag: "slot";
  readonly candidate: Candidate;
  /** Within its claim window: who comes later gets what is recorded already, and nothing else. */
  readonly inTime: boolean;
}

/** The time of a slot has run out. */
interface Over {
  readonly tag: "over";
  readonly slot: EpochSeconds;
  /** When the counts of its segment are final, about. */
  readonly settledBy: number;
  /** It was made good already. */
  readonly creditUsed?: boolean;
}

/** What one look at the line says about one number. */
type Verdict =
  | SlotFound
  | Over
  | { readonly tag: "refused"; readonly error: Error }
  /** Waits for a slot on demand, from now on or already. */
  | { readonly tag: "demand" }
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
   * Records that the holder of `n` claims their slot. With a credit for a slot that is over: makes it good,
   * by one on demand.
   *
   * @throws AppError `too-early` (with `creditUsed` when the credit has done what it can), `confirm-presence`, `held`,
   * `slot-over`, `sold-out`, `event-ended`, `unavailable`.
   */
  claim(n: number, says: ClaimSays = {}): Promise<Granted> {
    // Most refusals need no place in the queue; they are decided again inside it.
    const now = this.#clock.now();
    const verdict = this.#look(n, now);
    if (verdict.tag !== "slot" && verdict.tag !== "passed") {
      return Promise.reject(this.#refusal(verdict, says.credit, now));
    }
    if (verdict.tag === "slot" && this.#lacksPresence(verdict, says)) {
      return Promise.reject(confirmPresence(verdict.candidate.times));
    }
    if (this.#pending.length >= CLAIM_QUEUE_MAX) {
      return Promise.reject(unavailable("too many claims wait"));
    }
    const answer = Promise.withResolvers<Granted>();
    this.#pending.push({ ...says, n, answer });
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
    if (passed.length > 0) await this.#lookBack(passed, { at, verdicts, batch });

    const slots = [...verdicts.values()].filter((verdict) => verdict.tag === "slot");
    const confirmed = new Set(batch.filter((asked) => asked.confirmed).map(({ n }) => n));
    const lacksPresence = (slot: SlotFound): boolean =>
      this.#lacksPresence(slot, { confirmed: confirmed.has(slot.candidate.n) });
    const granted =
      slots.length === 0
        ? new Set<number>()
        : await line.store.recordClaims(line.lead, {
            event: line.event,
            at,
            fresh: slots
              .filter((slot) => slot.inTime && !lacksPresence(slot))
              .map(({ candidate }) => candidate),
            again: slots.filter(({ inTime }) => !inTime).map(({ candidate }) => candidate),
          });
    for (const { n, credit, answer } of batch) {
      const verdict = verdicts.get(n);
      if (verdict?.tag !== "slot") answer.reject(this.#refusal(verdict, credit, at));
      else if (granted.has(n)) answer.resolve({ n, times: verdict.candidate.times, at });
      else if (lacksPresence(verdict)) answer.reject(confirmPresence(verdict.candidate.times));
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
    const waits = this.#line.waitsOnDemand(n);
    const isAhead = n >= record.progress.line.nextNumber;
    if ((waits || isAhead) && isSoldOut(record.facts)) return refused(soldOut());
    if (isAhead) return refused(problem("too-early", { retryAfterSeconds: DEMAND_RETRY_SECONDS }));
    return waits ? { tag: "demand" } : { tag: "passed" };
  }

  /**
   * Numbers that the line has passed: an old slot, or none ever, and then one on demand. An old slot
   * for which a credit is shown is made good, once.
   */
  async #lookBack(
    numbers: readonly number[],
    {
      at,
      verdicts,
      batch,
    }: { at: EpochMs; verdicts: Map<number, Verdict>; batch: readonly Asked[] },
  ): Promise<void> {
    const line = this.#line;
    const isOut = isSoldOut(line.record.facts);
    const places = await line.store.findPlaces(line.event, numbers);
    const owed: number[] = [];
    const credited: Credited[] = [];
    /** Whoever is beyond the bound comes back; nobody else's claim fails for it. */
    const mayWait = (n: number): boolean => {
      const isFull = line.record.demand.length + owed.length + credited.length >= DEMAND_RUNS_MAX;
      const full = (): Verdict =>
        refused(unavailable("too many numbers wait for a slot on demand"));
      verdicts.set(n, isFull ? full() : { tag: "demand" });
      return !isFull;
    };
    for (const n of numbers) {
      const place: PlaceFound | undefined = places.get(n);
      if (place === undefined) {
        if (isOut) verdicts.set(n, refused(soldOut()));
        else if (mayWait(n)) owed.push(n);
        continue;
      }
      const verdict = this.#verdict(n, place.segment, at);
      verdicts.set(n, verdict);
      if (verdict.tag !== "over") continue;
      const { settled, claimed, creditUsed } = place;
      verdicts.set(n, { ...verdict, creditUsed });
      const isGood = settled && !creditUsed && this.#creditRefusal() === undefined;
      if (!isGood || !isCredited(n, verdict.slot, batch)) continue;
      if (mayWait(n)) credited.push({ n, slot: verdict.slot, claimed });
    }
    if (owed.length + credited.length > 0) await line.addDemand(owed, credited);
  }

  /** Why no slot is made good now; the credit keeps. */
  #creditRefusal(): Error | undefined {
    const { facts } = this.#line.record;
    if (isSoldOut(facts)) return soldOut();
    return facts.hold === undefined ? undefined : held(facts.hold);
  }

  #refusal(verdict: Verdict | undefined, credit: ShownCredit | undefined, now: EpochMs): Error {
    if (verdict?.tag === "refused") return verdict.error;
    if (verdict?.tag !== "over") return onDemand(credit !== undefined);
    if (credit?.slot !== verdict.slot) return problem("slot-over");
    // Then its number waits on demand or has a later slot: this memory is not what is stored.
    if (verdict.creditUsed === true) return unavailable("another leader made this slot good");
    return (
      this.#creditRefusal() ??
      problem("too-early", {
        detail: "This slot is made good when all slots beside it are over",
        retryAfterSeconds: boundedSeconds(verdict.settledBy - now),
      })
    );
  }

  /** After the window nothing new is recorded, so that nobody needs to say it. */
  #lacksPresence({ inTime }: SlotFound, { confirmed }: ClaimSays): boolean {
    return inTime && confirmed !== true && this.#line.record.settings.presence === "confirm";
  }

  #verdict(n: number, segment: StoredSegment, now: EpochMs): Verdict {
    const { settings, facts } = this.#line.record;
    const times = slotTimes(opensAt(segment, n), settings);
    if (facts.hold !== undefined && times.opensAt > facts.hold.since) {
      return refused(held(facts.hold));
    }
    if (now >= times.closesAt) {
      const settledBy = (lastClaimBy(segment, claimWindowMs(settings)) ?? 0) + TICK_EVERY_MS;
      return { tag: "over", slot: toSeconds(times.opensAt), settledBy };
    }
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

function confirmPresence({ opensAt, closesAt, claimBy }: SlotTimes): Error {
  const times: ConfirmPresence = { opensAt, closesAt, claimBy };
  return problem("confirm-presence", {
    detail: "Send this again with `confirmed: true` when the fan has said that they are there",
    extensions: { ...times },
  });
}

function held({ reason }: HoldFacts): Error {
  return problem("held", {
    retryAfterSeconds: UNAVAILABLE_RETRY_SECONDS * 5,
    ...(reason === "" ? {} : { detail: reason }),
  });
}

/** Does anybody of the batch show a credit for this very slot of `n`? */
function isCredited(n: number, slot: EpochSeconds, batch: readonly Asked[]): boolean {
  return batch.some((asked) => asked.n === n && asked.credit?.slot === slot);
}

/** @param creditUsed the claim came with a credit, which is of no more use. */
function onDemand(creditUsed: boolean): Error {
  return problem("too-early", {
    detail: "This place gets the next slot",
    retryAfterSeconds: DEMAND_RETRY_SECONDS,
    ...(creditUsed ? { extensions: { creditUsed } } : {}),
  });
}
