/** The laws of the design, section 2, as a simulated world can break them. Asked after every event. */
import { containsNumber, liveCount, opensAt } from "@vestibule/drip/segment";
import {
  type Commitment,
  lawThreeViolations,
  numberViolations,
} from "@vestibule/drip/test/law-three";
import type { EventChange, StoredSegment } from "@vestibule/mint/src/store/store.ts";
import type { MemoryStore } from "@vestibule/mint/test/support/memory-store.ts";
import type { TicketClaims } from "@vestibule/mint/src/tokens.ts";
import type { DripClaims } from "@vestibule/contracts/statements";
import type { Isolate } from "../actors/location.ts";
import type { Machine } from "../world/machine.ts";
import type { SteppedAt } from "../world/simulated-store.ts";
import type { Trace } from "./trace.ts";

/** An admission as it was signed. */
export interface Signed {
  readonly n: number;
  readonly sub: string;
  readonly nbf: number;
  readonly exp: number;
  /** The clock of the mint that signed, ahead of the right one. */
  readonly offsetMs: number;
}

/** A stalled process commits nothing that it decided before the stall. */
const DECISION_MS_MAX = 2_000;

export class Laws {
  /** The first law that was broken; nothing is looked at after it. */
  broken: string | undefined;
  /** A database lost commits: what it cannot know it may say again (docs/simulation.md). */
  hasForgotten = false;
  /** Slots that opened before their commit was on disk, and by how much at worst. */
  lateSlots = 0;
  readonly #event: string;
  readonly #rows: MemoryStore;
  readonly #trace: Trace;
  readonly #holders = new Map<number, string>();
  readonly #taken = new Set<number>();
  readonly #commitments = new Map<number, Omit<Commitment, "segment">>();
  readonly #statements = new Map<number, string>();
  readonly #shown = new Map<object, { readonly seq: number; readonly serving: number }>();
  #earnsSince = -Infinity;
  #steered = "";
  /** Slots for which an admission was signed: segment and number. */
  readonly #claimedSlots = new Set<string>();

  /** Places whose fans have said that they are there; `undefined`: nobody is asked. */
  readonly #said: Set<number> | undefined;

  constructor(parts: { event: string; rows: MemoryStore; trace: Trace; asksPresence: boolean }) {
    this.#said = parts.asksPresence ? new Set() : undefined;
    this.#event = parts.event;
    this.#rows = parts.rows;
    this.#trace = parts.trace;
  }

  break(law: string): void {
    if (this.broken !== undefined) return;
    this.broken = law;
    this.#trace.note(`BROKEN ${law}`);
  }

  /** Before a ticket is signed. Law 1. */
  ticket({ n, sub }: TicketClaims): void {
    this.#taken.add(n);
    const holder = this.#holders.get(n);
    if (holder !== undefined && holder !== sub) this.break(`law 1: ${n} is given to two visitors`);
    this.#holders.set(n, sub);
  }

  /** A place that was shown with its genuine ticket, and what the mint made of it. Law 2. */
  shownPlace(shown: number, answered: number, now: number): void {
    if (shown === answered || this.hasForgotten) return;
    const { settings, facts } = this.#record();
    const segment = this.#rows
      .committed(this.#event)
      .findLast(
        (each) =>
          containsNumber(each, shown) && opensAt(each, shown) <= (each.cutAfter ?? Infinity),
      );
    if (segment === undefined) {
      this.break(`law 2: ${shown}, which waits for its slot, becomes ${answered}`);
      return;
    }
    const opens = opensAt(segment, shown);
    const isCut = facts.hold !== undefined && opens > facts.hold.since;
    const windowMs = Math.min(settings.claimWindowSeconds, settings.lifetimeSeconds) * 1_000;
    if (isCut || now <= opens + windowMs) {
      this.break(`law 2: ${shown}, whose turn is not over, becomes ${answered}`);
    }
  }

  /** A fan has pressed "I'm here". */
  said(n: number): void {
    this.#said?.add(n);
  }

  /** An admission is about to be signed: its claim is on disk. */
  admission(n: number, opens: number): void {
    if (this.#said?.has(n) === false) {
      this.break(`presence: ${n} is admitted, and nobody has said that they are there`);
    }
    const segment = this.#segmentOf(n, opens);
    if (segment !== undefined) this.#claimedSlots.add(`${segment.id} ${n}`);
    if (this.hasForgotten) return;
    // A hold that has cut this slot meanwhile has made its admission void (ADR 1).
    const isCut = opens > (segment?.cutAfter ?? Infinity);
    if (segment === undefined) this.break(`an admission for a slot of ${n} that is not committed`);
    else if (!isCut && !this.#rows.isClaimed(this.#event, n, segment.id)) {
      this.break(`an admission for ${n} is signed before its claim is on disk`);
    }
  }

  /** A statement that is signed: `seq` tells it from every other one, and the serving number never falls. */
  statement(by: Machine, { seq, serving, segments, state }: DripClaims): void {
    const text = JSON.stringify([segments, state, serving]);
    const before = this.#statements.get(seq);
    if (before !== undefined && before !== text) this.break(`statement ${seq} is signed twice`);
    this.#statements.set(seq, text);
    this.#serves(by, by.name, { seq, serving });
  }

  /** Law 3, and that nothing is counted which was not so: after every step that is on disk. */
  stepped({ done, decidedAt, sentAt }: SteppedAt, committedAt: number): void {
    const { change, segments } = done;
    const { settings, progress } = this.#record();
    const { ratePerMinute, ratePlan, overdrivePercent, approximationBudget } = settings;
    this.#noteSteering(change, decidedAt);
    if (segments.length > 0 && Math.abs(sentAt - decidedAt) > DECISION_MS_MAX) {
      this.break(`law 3: slots are committed ${sentAt - decidedAt} ms after they were decided`);
    }
    for (const segment of segments) {
      const lapsedSoFar = progress.lapsed;
      this.#commitments.set(segment.id, {
        committedAt: decidedAt,
        rates: { ratePerMinute, ratePlan },
        ...{ overdrivePercent, approximationBudget, lapsedSoFar },
        // A change may have been forgotten with the rest.
        earnsSince: this.hasForgotten ? -Infinity : this.#earnsSince,
      });
      if (segment.from < decidedAt) {
        this.break(`law 3: slots from ${segment.from} are committed at ${decidedAt}`);
      }
      for (let k = 0; k < segment.count; k += 1) {
        if (opensAt(segment, segment.base + k) < committedAt) this.lateSlots += 1;
      }
    }
    this.#settles(change);
    if (segments.length === 0 && change.cutSegments === undefined) return;
    const history = this.#rows.committed(this.#event).map((each) => this.#commitmentOf(each));
    const [violation] = [
      ...lawThreeViolations(history),
      ...numberViolations(history, (n) => this.#taken.has(n)),
    ];
    if (violation !== undefined) this.break(`law 3: ${violation}`);
  }

  #noteSteering({ settings, cut }: EventChange, decidedAt: number): void {
    const steered =
      settings === undefined
        ? this.#steered
        : JSON.stringify([settings.ratePerMinute, settings.ratePlan, settings.approximationBudget]);
    if (steered !== this.#steered || cut !== undefined) this.#earnsSince = decidedAt;
    this.#steered = steered;
  }

  /** What lapsed was claimed by nobody. */
  #settles({ settled = [] }: EventChange): void {
    for (const { id, lapsed } of settled) {
      const segment = this.#rows.committed(this.#event).find((each) => each.id === id);
      if (segment === undefined || this.hasForgotten) continue;
      let claimed = 0;
      for (let k = 0; k < liveCount(segment); k += 1) {
        if (this.#claimedSlots.has(`${id} ${segment.base + k}`)) claimed += 1;
      }
      if (lapsed + claimed > liveCount(segment)) {
        this.break(
          `law 3: ${lapsed} of segment ${id} lapse, ${claimed} of ${liveCount(segment)} were claimed`,
        );
      }
    }
  }

  /** After every event: what each isolate shows. Law 2. */
  isolate(isolate: Isolate, name: string): void {
    const known = isolate.feed.drip(this.#event);
    if (known !== undefined) this.#serves(isolate, name, known.claims);
  }

  #serves(
    by: object,
    name: string,
    next: { readonly seq: number; readonly serving: number },
  ): void {
    const before = this.#shown.get(by);
    if (before !== undefined && next.seq < before.seq)
      this.break(`law 2: ${name} goes back to statement ${next.seq}`);
    const fell = before !== undefined && next.serving < before.serving && !this.hasForgotten;
    if (fell)
      this.break(
        `law 2: the serving number falls from ${before.serving} to ${next.serving} at ${name}`,
      );
    if (before?.seq !== next.seq) this.#shown.set(by, { seq: next.seq, serving: next.serving });
  }

  #segmentOf(n: number, opens: number): StoredSegment | undefined {
    return this.#rows
      .committed(this.#event)
      .findLast((each) => containsNumber(each, n) && opensAt(each, n) === opens);
  }

  #commitmentOf(segment: StoredSegment): Commitment {
    const found = this.#commitments.get(segment.id);
    if (found === undefined) throw new Error(`segment ${segment.id} was committed unseen`);
    return { segment, ...found };
  }

  #record() {
    const record = this.#rows.recordOf(this.#event);
    if (record === undefined) throw new Error("the event is gone");
    return record;
  }
}
