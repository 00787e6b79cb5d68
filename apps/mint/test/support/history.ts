/** Random histories of one line, and what must hold in all of them. */
import { AppError } from "@vestibule/kernel/app-error";
import { assert } from "@vestibule/kernel/assert";
import * as fc from "fast-check";
import { hearSupply } from "../../src/line/supply.ts";
import { hold, resume } from "../../src/line/organizer.ts";
import { openings, tooFast, twice } from "./exactness.ts";
import type { MemoryStore } from "./memory-store.ts";
import type { CreditWorld } from "./credits.ts";
import { codeOf, type Fan, payload, type World } from "./world.ts";

export type Command =
  | { readonly do: "join"; readonly count: number }
  | { readonly do: "claim" | "rejoin" | "claim-again" | "credit"; readonly who: number }
  | { readonly do: "credit-all" | "all-fail" | "supply-out" | "supply-back" }
  | { readonly do: "pass"; readonly ms: number }
  | { readonly do: "claim-all" | "hold" | "resume" | "crash" | "restart" | "sleep" }
  | {
      readonly do: "lose";
      readonly what: "step" | "reserveNumbers" | "recordClaims";
    };

export const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("join" as const),
      count: fc.integer({ min: 1, max: 40 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom("claim" as const, "claim-again" as const, "rejoin" as const),
      who: fc.nat(1_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("credit" as const), who: fc.nat(1_000) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constantFrom("credit-all" as const, "supply-out" as const, "supply-back" as const),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("all-fail" as const) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("pass" as const),
      ms: fc.integer({ min: 1, max: 9_000 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constantFrom("claim-all" as const, "hold" as const, "resume" as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom("crash" as const, "restart" as const, "sleep" as const),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("lose" as const),
      what: fc.constantFrom("step" as const, "reserveNumbers" as const, "recordClaims" as const),
    }),
  },
);

export const RATE = 300;

/** What a lost answer looks like, then and at the next write. */
const EXPECTED_TROUBLE: ReadonlySet<string> = new Set([
  "the answer was lost",
  "the line moved: an earlier write was stored after all",
]);

/** Runs commands against a world, and keeps what a fan would remember. */
export class History {
  readonly world: World<MemoryStore>;
  readonly fans: (Fan & { place: { number: number; ticket: string } })[] = [];
  readonly #given = new Set<number>();
  /** The latest admission of each number. */
  readonly #claimed = new Map<number, string>();
  readonly #credit: CreditWorld;
  #supplySeq = 0;

  constructor(credit: CreditWorld) {
    this.#credit = credit;
    this.world = credit.world;
  }

  async run(step: Command): Promise<void> {
    const { world } = this;
    const deed = { actor: "test" };
    switch (step.do) {
      case "join":
        return this.#join(step.count);
      case "claim":
      case "claim-again":
        return this.#claim(step.who);
      case "claim-all":
        for (const index of this.fans.keys()) await this.#claim(index);
        return;
      case "rejoin":
        return this.#rejoin(step.who);
      case "pass":
        return world.pass(step.ms);
      case "credit":
        return this.#showCredit(step.who);
      case "all-fail":
        await this.run({ do: "claim-all" });
        await world.pass(25_000);
        return this.run({ do: "credit-all" });
      case "credit-all":
        for (const index of this.fans.keys()) await this.#showCredit(index);
        return;
      case "supply-out":
      case "supply-back":
        this.#supplySeq += 1;
        await codeOf(
          hearSupply(world.line, { soldOut: step.do === "supply-out", seq: this.#supplySeq }),
        );
        return;
      case "hold":
        await codeOf(hold(world.line, { scope: "entries", reason: "" }, deed));
        return;
      case "resume":
        await codeOf(resume(world.line, deed));
        return;
      case "crash":
        return world.crash();
      case "restart":
        return world.restart();
      case "sleep":
        world.clock.advance(100_000);
        return;
      case "lose":
        this.#loseNext(step.what);
    }
  }

  async #join(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      const fan = this.world.fan();
      if ((await codeOf(this.world.join(fan))) !== "ok" || fan.place === undefined) continue;
      assert(!this.#given.has(fan.place.number), "law 1: a number is given once");
      this.#given.add(fan.place.number);
      this.fans.push({ ...fan, place: fan.place });
    }
  }

  async #claim(who: number): Promise<void> {
    const fan = this.fans[who % Math.max(this.fans.length, 1)];
    if (fan === undefined) return;
    const answer = await this.world.claim(fan as Fan).catch(() => undefined);
    if (answer === undefined) return;
    this.#remember(fan.place.number, answer.admission);
  }

  #remember(number: number, admission: string): void {
    const [before, now] = [this.#claimed.get(number) ?? admission, admission].map(payload);
    assert(before?.["jti"] === now?.["jti"], "law 4: a number's admissions are one");
    this.#claimed.set(number, admission);
  }

  /** The purchase with the latest admission of this fan has failed: twice the same claim with its credit. */
  async #showCredit(who: number): Promise<void> {
    const fan = this.fans[who % Math.max(this.fans.length, 1)];
    const admission = fan === undefined ? undefined : this.#claimed.get(fan.place.number);
    if (fan === undefined || admission === undefined) return;
    const slot = payload(admission)["nbf"] as number;
    const credit = await this.#credit.credit(fan, { opensAt: slot * 1_000 });
    const claims = [fan, fan].map((each) => this.world.claim(each, credit).catch(() => undefined));
    for (const answer of await Promise.all(claims)) {
      if (answer !== undefined) this.#remember(fan.place.number, answer.admission);
    }
  }

  async #rejoin(who: number): Promise<void> {
    const fan = this.fans[who % Math.max(this.fans.length, 1)];
    if (fan === undefined) return;
    const request = { visitor: fan.visitor, ticket: fan.place.ticket };
    const back = await this.world.mint.join("spring", request).catch(() => undefined);
    if (back === undefined) return;
    if (!back.fresh) {
      assert(back.answer.number === fan.place.number, "law 2: a number never changes");
      return;
    }
    assert(!this.#given.has(back.answer.number), "law 1: a number is given once");
    this.#given.add(back.answer.number);
    fan.place = back.answer;
  }

  #loseNext(what: "step" | "reserveNumbers" | "recordClaims"): void {
    const store = this.world.store as unknown as Record<
      string,
      (...args: unknown[]) => Promise<unknown>
    >;
    const real = store[what];
    if (real === undefined || Object.hasOwn(store, what)) return;
    store[what] = async (...args) => {
      delete store[what];
      await real.apply(store, args);
      throw new AppError("unavailable", { internal: "the answer was lost" });
    };
  }

  check(): void {
    const odd = this.world.failures.filter((reason) => !EXPECTED_TROUBLE.has(reason));
    assert(odd.length === 0, `ticks fail only when the store does: ${odd[0]}`);
    const slots = openings(this.world.store.committed("spring"));
    const { store } = this.world;
    assert(
      twice(slots).length <= store.creditsUsed("spring"),
      "a place is served once, and once more for each of its credits",
    );
    this.#checkCounts(slots.length);
    for (const { n } of slots) assert(this.#given.has(n), `somebody holds ${n}`);
    const { lapsed } = this.world.line.record.progress;
    assert(tooFast(slots, { ratePerMinute: RATE, extra: lapsed }) === undefined, "law 3");
    assert(tooFast(slots, { ratePerMinute: RATE * 1.5 }) === undefined, "law 3, overdrive");
  }

  /** Every slot is granted, lapsed, or was made good: nothing is counted twice, nothing is lost. */
  #checkCounts(slots: number): void {
    const { line, lapsed } = this.world.line.record.progress;
    const credits = this.world.store.creditsUsed("spring");
    assert(line.granted + lapsed + credits === slots, "settling is exact");
  }
}
