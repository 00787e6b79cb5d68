/** A mint and its crowd in virtual time: controller, lapses and holds together, faults included. */
import { epochMs, type EpochMs, type TicketNumber } from "@vestibule/kernel/units";
import { changePolicy } from "../src/change-policy.ts";
import { planStep, type Step, type StepInput } from "../src/controller.ts";
import { creditSlots } from "../src/credit.ts";
import { earliestResume, resumeLine } from "../src/hold.ts";
import { maySettle, settleSegment } from "../src/lapse.ts";
import type { DripPolicy, LineState, NumberRange, Segment } from "../src/line-state.ts";
import { servingNumber } from "../src/line.ts";
import { liveCount, opensAt } from "../src/segment.ts";
import type { Commitment } from "./law-three.ts";

export const START = 1_800_000_000_000;

export const run = (first: number, last: number): NumberRange => ({
  first: first as TicketNumber,
  last: last as TicketNumber,
});

export const freshLine: LineState = {
  nextNumber: 1 as TicketNumber,
  frontier: 0 as EpochMs,
  giveBackMicro: 0,
  granted: 0,
};

/** 500 a minute, and everything else as it is when an organizer leaves it out. */
export const policyOf = (changes: Partial<DripPolicy> = {}): DripPolicy => ({
  ratePerMinute: 500,
  ratePlan: [],
  horizonMs: 60_000,
  overdrivePercent: 150,
  approximationBudget: 0,
  maxAdmissions: null,
  ...changes,
});

/** Mulberry32: small, seeded, good enough to decide who does not show up. */
export function seeded(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Planner = (input: StepInput) => Step;

interface Entry extends Commitment {
  segment: Segment;
  settled: boolean;
}

export class World {
  now: number = START;
  line: LineState = freshLine;
  #policy: DripPolicy;
  #earnsSince = -Infinity;
  readonly history: Entry[] = [];
  /** Claims that were made, by the moment of their slot. */
  readonly claims: { readonly at: number; readonly number: number }[] = [];
  /** How often each number's slot was made good, and claims whose slot was not. */
  readonly credits = new Map<number, number>();
  #creditable: number[] = [];
  lapsed = 0;
  credited = 0;
  issued = 0;
  heldSince: EpochMs | undefined;
  serving = 0;
  readonly violations: string[] = [];
  #live: Entry[] = [];
  #runs: NumberRange[] = [];
  #unissued: NumberRange[] = [];
  #demand: NumberRange[] = [];
  readonly #random: () => number;
  readonly #plan: Planner;
  readonly #noShow: number;
  readonly #claimWindowMs: number;

  constructor(options: {
    policy: DripPolicy;
    seed?: number;
    noShow?: number;
    claimWindowMs?: number;
    plan?: Planner;
  }) {
    this.#policy = options.policy;
    this.#random = seeded(options.seed ?? 1);
    this.#noShow = options.noShow ?? 0;
    this.#claimWindowMs = options.claimWindowMs ?? 180_000;
    this.#plan = options.plan ?? planStep;
  }

  get policy(): DripPolicy {
    return this.#policy;
  }

  change(changes: Partial<DripPolicy>): void {
    const after = { ...this.#policy, ...changes };
    this.line = changePolicy(this.line, {
      before: this.#policy,
      after,
      now: epochMs(this.now),
    });
    this.#policy = after;
    this.#earnsSince = this.now;
  }

  join(count: number): void {
    if (count > 0) this.#runs.push(run(this.issued + 1, this.issued + count));
    this.issued += count;
  }

  /** Numbers lost by a crash. `inDoubt`: they were issued after all, and their holders come later. */
  gap(count: number, inDoubt: boolean): void {
    if (count === 0) return;
    const lost = run(this.issued + 1, this.issued + count);
    if (inDoubt) this.#late.push(lost);
    else this.#unissued.push(lost);
    this.issued += count;
  }
  readonly #late: NumberRange[] = [];

  /** Holders of numbers in doubt show their tickets: those that the line has passed get a slot on demand. */
  showUp(): void {
    const passed = this.#late.filter(({ last }) => last < this.line.nextNumber);
    this.#demand.push(...passed);
    for (const range of passed) this.#late.splice(this.#late.indexOf(range), 1);
  }

  /** Purchases of `share` of those whose claimed slots are settled have failed, and they show their credits. */
  credit(share: number): void {
    if (this.heldSince !== undefined) return;
    const credited = this.#creditable.filter(() => this.#random() < share);
    // A clock stepped back can have a hold cut what had lapsed: then there are fewer granted than claimed.
    if (this.line.granted < credited.length) return;
    const taken = new Set(credited);
    this.#creditable = this.#creditable.filter((number) => !taken.has(number));
    for (const number of credited) {
      this.credits.set(number, (this.credits.get(number) ?? 0) + 1);
      this.#demand.push(run(number, number));
    }
    this.line = creditSlots(this.line, credited.length);
    this.credited += credited.length;
  }

  creditsOf = (n: number): number => this.credits.get(n) ?? 0;

  hold(): void {
    this.heldSince ??= epochMs(this.now);
  }

  resume(): void {
    if (this.heldSince === undefined) return;
    this.now = Math.max(this.now, earliestResume(this.heldSince));
    const result = resumeLine({
      line: this.line,
      segments: this.history.map(({ segment }, row) => ({ ...segment, row })),
      heldSince: this.heldSince,
      now: epochMs(this.now),
    });
    if (!result.ok) throw new Error(result.refusal.tag);
    for (const { row, ...segment } of result.value.cutSegments) {
      const entry = this.history[row];
      if (entry !== undefined) entry.segment = segment;
    }
    this.#demand.unshift(...result.value.cut);
    // A clock stepped back can have a hold cut what was settled: those are owed a slot already.
    this.#creditable = this.#creditable.filter(
      (number) => !result.value.cut.some(({ first, last }) => number >= first && number <= last),
    );
    this.line = result.value.line;
    this.heldSince = undefined;
    this.#earnsSince = this.now;
    this.step();
  }

  /** `crash`: the step is planned, and lost before it is stored. */
  step({ crash = false } = {}): Step | undefined {
    this.#settle();
    if (this.heldSince !== undefined) return undefined;
    const held = this.#runs
      .filter(({ last }) => last >= this.line.nextNumber)
      .map(({ first, last }) => run(Math.max(first, this.line.nextNumber), last));
    const { line, policy } = this;
    const step = this.#plan({ line, policy, now: epochMs(this.now), held, demand: this.#demand });
    if (crash) {
      this.line = JSON.parse(JSON.stringify(this.line)) as LineState;
      return undefined;
    }
    this.line = step.line;
    for (const segment of step.segments) {
      if (opensAt(segment, segment.base + segment.count - 1) >= this.now + policy.horizonMs) {
        this.violations.push(`segment at ${segment.base} opens beyond the horizon`);
      }
      const entry: Entry = {
        segment,
        committedAt: this.now,
        rates: policy,
        overdrivePercent: policy.overdrivePercent,
        approximationBudget: policy.approximationBudget,
        earnsSince: this.#earnsSince,
        lapsedSoFar: this.lapsed,
        settled: false,
      };
      this.history.push(entry);
      this.#live.push(entry);
    }
    this.#demand = withoutServed(this.#demand, step.demandServed);
    this.#check();
    return step;
  }

  tick(ms = 1_000): Step | undefined {
    this.now += ms;
    // A clock that steps back behind a change lives through time that comes after it.
    this.#earnsSince = Math.min(this.#earnsSince, this.now);
    return this.step();
  }

  isHeld = (n: number): boolean =>
    n <= this.issued && !this.#unissued.some(({ first, last }) => n >= first && n <= last);

  /** The list as a statement has it: what can still be claimed, and what lies ahead. */
  segments(): Segment[] {
    return this.#live.map(({ segment }) => segment);
  }

  openings(): number[] {
    return this.history.flatMap(({ segment }) =>
      Array.from({ length: liveCount(segment) }, (_, k) => opensAt(segment, segment.base + k)),
    );
  }

  #settle(): void {
    const when = {
      claimWindowMs: this.#claimWindowMs,
      now: epochMs(this.now),
      heldSince: this.heldSince,
    };
    for (const entry of this.#live) {
      if (!maySettle(entry.segment, when)) continue;
      let claimed = 0;
      for (let k = 0; k < liveCount(entry.segment); k += 1) {
        if (this.#random() < this.#noShow) continue;
        claimed += 1;
        const number = entry.segment.base + k;
        this.claims.push({ at: opensAt(entry.segment, number), number });
        this.#creditable.push(number);
      }
      const { lapsed, line } = settleSegment({ line: this.line, segment: entry.segment, claimed });
      this.lapsed += lapsed;
      this.line = line;
      entry.settled = true;
    }
    this.#live = this.#live.filter(({ settled }) => !settled);
  }

  #check(): void {
    const max = this.policy.maxAdmissions;
    const granted = this.history.reduce((sum, { segment }) => sum + liveCount(segment), 0);
    if (this.line.granted !== granted - this.lapsed - this.credited)
      this.violations.push("granted is miscounted");
    if (max !== null && this.line.granted > max) this.violations.push("beyond maxAdmissions");
    if (this.line.giveBackMicro < 0) this.violations.push("more given back than lapsed");
    const serving = servingNumber(this.segments(), this.now, {
      heldSince: this.heldSince,
      atLeast: this.serving,
    });
    if (serving < this.serving) this.violations.push("the serving number fell");
    if (serving > this.issued) this.violations.push("the serving number ran ahead");
    this.serving = serving;
  }
}

function withoutServed(
  demand: readonly NumberRange[],
  served: readonly NumberRange[],
): NumberRange[] {
  const rest = [...demand];
  for (const { first, last } of served) {
    for (let n: number = first; n <= last;) {
      const front = rest.shift();
      if (front?.first !== n) throw new Error("demand is not served in order");
      if (front.last > last) rest.unshift(run(last + 1, front.last));
      n = front.last + 1;
    }
  }
  return rest;
}
