/** One line of the real mint in virtual time: its controller, its steps, its store of memory. Nothing is signed. */
import {
  type EventChange,
  type EventSettings,
  eventSettingsSchema,
} from "@vestibule/contracts/event-settings";
import type { DripClaims } from "@vestibule/contracts/statements";
import { liveCount, openedCount } from "@vestibule/drip/segment";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import * as z from "zod/mini";
import { tick } from "../../src/line/controller.ts";
import { EventLine } from "../../src/line/event-line.ts";
import { changeSettings, hold, resume } from "../../src/line/organizer.ts";
import { dripClaims } from "../../src/line/statement.ts";
import type { StoredSegment } from "../../src/store/store.ts";
import { MemoryStore } from "./memory-store.ts";

const EVENT = "sale";
const LEASE_MS = 3_000;
const TICK_MS = 1_000;

/** What was known when a segment was committed. */
export interface Commitment {
  readonly segment: StoredSegment;
  readonly decidedAt: number;
  readonly lapsedSoFar: number;
}

export class VirtualLine {
  readonly clock: FakeClock = new FakeClock();
  readonly store: MemoryStore = new MemoryStore(this.clock);
  readonly settings: EventSettings;
  line!: EventLine;
  /** Who did not come in time, in order. */
  readonly missed: number[] = [];
  readonly #random: SeededRandomness;
  readonly #noShowPercent: (n: number) => number;
  readonly #known = new Map<number, Omit<Commitment, "segment">>();
  readonly #looked = new Map<number, number>();
  #terms = 0;
  #seq = 0;

  private constructor(change: Partial<EventSettings>, crowd: Crowd, plan: Plan) {
    this.#random = new SeededRandomness(crowd.seed);
    const { noShowPercent = 0 } = crowd;
    this.#noShowPercent = typeof noShowPercent === "number" ? () => noShowPercent : noShowPercent;
    this.settings = z.parse(eventSettingsSchema, {
      ...{ event: EVENT, title: "Sale", ratePerMinute: 60, endsAt: this.clock.now() + 86_400_000 },
      ...{ hosts: ["shop.example"], paths: ["/*"], homePath: "/", ...change },
      ratePlan: plan(this.clock.now()),
    });
  }

  /** A sale whose line has been joined by everybody already, and that another mint has prepared. */
  static async start(
    change: Partial<EventSettings>,
    crowd: Crowd,
    plan: Plan = () => [],
  ): Promise<VirtualLine> {
    const at = new VirtualLine(change, crowd, plan);
    const first = { holder: "first", ttlMs: LEASE_MS, gapNumbers: 0 };
    const { lead } = await at.store.acquireLease(first);
    if (lead === undefined) throw new Error("the lease of a new store is free");
    const audit = { actor: "bench", action: "create", detail: {} };
    const { settings } = at;
    await at.store.createEvent(lead, { settings, at: at.clock.now(), audit });
    const through = crowd.waiting;
    await at.store.reserveNumbers(lead, { event: EVENT, first: 1, through });
    await at.store.releaseLease(lead, [{ event: EVENT, issuedThrough: through }]);
    await at.#lead();
    return at;
  }

  /** The leader dies; another takes over when its lease has run out. */
  async crash(): Promise<void> {
    this.line.sequencer.stop();
    this.clock.advance(LEASE_MS + 1);
    await this.#lead();
  }

  async #lead(): Promise<void> {
    const { store, clock } = this;
    this.#terms += 1;
    const request = { holder: `mint-${this.#terms}`, ttlMs: LEASE_MS, gapNumbers: 1_000 };
    const { lead } = await store.acquireLease(request);
    const record = await store.loadEvent(EVENT);
    if (lead === undefined || record === undefined) throw new Error("nobody else leads");
    const onLeaseLost = (): never => {
      throw new Error("nobody else leads");
    };
    this.line = new EventLine(record, { lead, store, clock, onLeaseLost });
  }

  /** Time goes by, with a tick a second, as in life; whoever shows up claims when their slot opens. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= TICK_MS) {
      this.clock.advance(Math.min(left, TICK_MS));
      await this.tick();
    }
  }

  async tick(): Promise<void> {
    await this.#claim();
    await tick(this.line);
    this.#note();
  }

  async hold(): Promise<void> {
    await hold(this.line, {}, { actor: "bench" });
  }

  async resume(): Promise<void> {
    await resume(this.line, { actor: "bench" });
    this.#note();
  }

  async change(change: EventChange): Promise<void> {
    await changeSettings(this.line, change, { actor: "bench" });
  }

  /** These come before everybody else: made good, or passed by the line. */
  async oweSlots(numbers: readonly number[]): Promise<void> {
    await this.line.write(() => this.line.addDemand(numbers));
    this.#note();
  }

  /** What the mint says at this moment; nothing is signed. */
  statement(): DripClaims {
    this.#seq += 1;
    return dripClaims(this.line, { issuer: "mint", seq: this.#seq, now: this.clock.now() });
  }

  /** In the order of their commits. */
  commitments(): readonly Commitment[] {
    return this.store.committed(EVENT).map((segment) => {
      const known = this.#known.get(segment.id);
      if (known === undefined) throw new Error("a segment was committed unseen");
      return { segment, ...known };
    });
  }

  #note(): void {
    const committed = this.store.committed(EVENT);
    for (let index = committed.length - 1; index >= 0; index -= 1) {
      const segment = committed[index];
      if (segment === undefined || this.#known.has(segment.id)) break;
      const lapsedSoFar = this.line.record.progress.lapsed;
      this.#known.set(segment.id, { decidedAt: this.clock.now(), lapsedSoFar });
    }
  }

  async #claim(): Promise<void> {
    const { record, lead } = this.line;
    const until = Math.min(this.clock.now(), record.facts.hold?.since ?? Infinity);
    const fresh: { n: number; segment: number }[] = [];
    for (const segment of record.segments) {
      const opened = Math.min(openedCount(segment, until), liveCount(segment));
      for (let k = this.#looked.get(segment.id) ?? 0; k < opened; k += 1) {
        const n = segment.base + k;
        if (this.#random.chance(this.#noShowPercent(n))) this.missed.push(n);
        else fresh.push({ n, segment: segment.id });
      }
      this.#looked.set(segment.id, Math.max(opened, this.#looked.get(segment.id) ?? 0));
    }
    const request = { event: EVENT, at: this.clock.now(), fresh, again: [] };
    if (fresh.length > 0) await this.store.recordClaims(lead, request);
  }
}

/** A plan of rates for a sale that begins at this moment. */
type Plan = (start: number) => EventSettings["ratePlan"];

interface Crowd {
  readonly seed: number;
  readonly waiting: number;
  /** Of all, or of each number. */
  readonly noShowPercent?: number | ((n: number) => number);
}
