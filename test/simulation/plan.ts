/** One sale, drawn from its seed: how it is set up, who comes, and what goes wrong when. */
import type { RateEntry } from "@vestibule/drip/rate-plan";
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";

export const FAULT_KINDS = [
  "kill",
  "deploy",
  "stall",
  "cut-database",
  "cut-mint",
  "restart-database",
  "slow-database",
  "failing-commits",
  "weather",
  "clock-step",
  /** A replica takes over that lacks the last commits. */
  "fail-over",
  /** The leader is killed, the next one leads, and then a replica takes over that knows nothing of it. */
  "forget-leader",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** Milliseconds after the beginning. */
  readonly at: number;
  readonly lastsMs: number;
  /** Which mint, or which location. */
  readonly which: number;
  /** A percentage, or how far a clock is set. */
  readonly amount: number;
}

export interface Deed {
  readonly kind: "hold" | "hold-all" | "resume" | "rate" | "seat-back" | "steer";
  readonly at: number;
  readonly ratePerMinute: number;
  /** Of `steer`. */
  readonly change?: {
    readonly ratePlan: readonly RateEntry[];
    readonly approximationBudget: number;
  };
}

export interface Crowd {
  readonly at: number;
  readonly count: number;
}

export interface Plan {
  readonly seed: number;
  readonly mints: number;
  readonly locations: number;
  readonly isolates: number;
  readonly ratePerMinute: number;
  readonly horizonSeconds: number;
  readonly claimWindowSeconds: number;
  readonly lifetimeSeconds: number;
  readonly overdrivePercent: number;
  /** `at` in milliseconds after the beginning. */
  readonly ratePlan: readonly RateEntry[];
  readonly approximationBudget: number;
  /** Milliseconds after the beginning; 0: at once. */
  readonly startsAt: number;
  readonly fans: number;
  /** Joins of visitors who never come back. */
  readonly crowds: readonly Crowd[];
  readonly stock: number;
  readonly faults: readonly Fault[];
  readonly deeds: readonly Deed[];
  /** From here on nothing goes wrong any more. */
  readonly calmAt: number;
  readonly hasRealSignatures: boolean;
  readonly presence: "auto" | "confirm";
}

const FAILOVERS: ReadonlySet<FaultKind> = new Set(["fail-over", "forget-leader"]);

/** One in so many sales is signed with real Ed25519. */
const REAL_SIGNATURES_EVERY = 50;

export function planSale(seed: number, kinds: readonly FaultKind[] = FAULT_KINDS): Plan {
  const random = new SeededRandomness(seed);
  const between = (min: number, max: number): number => random.integer({ min, max });
  const calmAt = between(25_000, 70_000);
  const ratePerMinute = random.pick([60, 240, 600, 600, 3_000, 6_000]);
  const mints = random.pick([1, 2, 2, 2, 3]);
  const locations = between(1, 3);
  // A sale has a few kinds of trouble, and much of each; some have none.
  const chosen = random.chance(8) ? [] : kinds.filter(() => random.chance(35));
  const faults = chosen.flatMap((kind) =>
    Array.from({ length: between(1, FAILOVERS.has(kind) ? 2 : 4) }, (): Fault => ({
      kind,
      at: between(500, calmAt - 1_000),
      lastsMs: random.pick([between(50, 1_500), between(1_000, 9_000), between(3_000, 20_000)]),
      which: between(0, 11),
      amount: between(1, 100),
    })),
  );
  const deeds = Array.from({ length: random.chance(50) ? between(1, 5) : 0 }, (): Deed => ({
    kind: random.pick(["hold", "hold", "hold-all", "resume", "resume", "rate", "seat-back"]),
    at: between(1_000, calmAt),
    ratePerMinute: random.pick([60, 300, 1_200, 6_000]),
  }));
  const fans = between(3, 18);
  const rest = {
    seed,
    ...{ mints, locations, isolates: between(1, 2), ratePerMinute, calmAt, fans },
    horizonSeconds: between(10, 20),
    claimWindowSeconds: between(5, 15),
    lifetimeSeconds: between(10, 40),
    overdrivePercent: random.pick([100, 150, 150, 300]),
    startsAt: random.chance(30) ? between(2_000, 15_000) : 0,
    crowds:
      ratePerMinute < 600
        ? []
        : Array.from({ length: between(0, 3) }, () => ({
            at: between(200, calmAt - 500),
            count: between(10, 130),
          })),
    stock: random.chance(30) ? between(1, fans) : 10_000,
    faults: faults.toSorted((one, other) => one.at - other.at),
    hasRealSignatures: seed % REAL_SIGNATURES_EVERY === 0,
  };
  if (random.chance(20)) {
    const at = between(1_000, calmAt);
    deeds.push({ kind: "steer", at, ratePerMinute, change: drawSpeed(random, at) });
  }
  const speed = drawSpeed(random, rest.startsAt);
  const rates = [ratePerMinute, ...speed.ratePlan.map((entry) => entry.ratePerMinute)];
  // A line that is longer than the horizon, so that what lapses is given back and a budget is spent.
  const count = Math.min(300, Math.ceil((Math.min(...rates) * between(30, 90)) / 60));
  const rush = random.chance(15) ? [{ at: between(200, calmAt - 500), count }] : [];
  return {
    ...rest,
    ...speed,
    crowds: [...rest.crowds, ...rush],
    deeds: deeds.toSorted((one, other) => one.at - other.at),
    presence: random.chance(30) ? "confirm" : "auto",
  };
}

/** Half of the sales have no budget, two thirds no plan. */
function drawSpeed(
  random: SeededRandomness,
  from: number,
): { readonly ratePlan: readonly RateEntry[]; readonly approximationBudget: number } {
  let at = from;
  const entries = random.chance(35) ? random.integer({ min: 1, max: 4 }) : 0;
  const ratePlan = Array.from({ length: entries }, (_, index): RateEntry => {
    at += random.integer({ min: 200, max: 25_000 });
    const isRamp = random.chance(40) && index < entries - 1;
    const ratePerMinute = random.pick([60, 300, 600, 6_000]);
    return { at, ratePerMinute, ...(isRamp ? { ramp: true } : {}) };
  });
  return { ratePlan, approximationBudget: random.pick([0, 0, 5, 100]) };
}

/** For people: what this sale is like. */
export function describePlan({ faults, deeds, ...plan }: Plan): string {
  const list = (items: readonly { kind: string; at: number }[]): string =>
    items.map(({ kind, at }) => `${kind}@${at}`).join(" ");
  const { mints, locations, fans, crowds, ratePerMinute, approximationBudget } = plan;
  const ghosts = crowds.reduce((sum, { count }) => sum + count, 0);
  const steps = plan.ratePlan.map((each) => `, ${each.ratePerMinute} from ${each.at}`).join("");
  return (
    `${mints} mints, ${locations} locations, ${fans} fans and ${ghosts} passers-by, ${ratePerMinute} a minute${steps}, budget ${approximationBudget}, presence ${plan.presence}; ` +
    `calm at ${plan.calmAt}; faults: ${list(faults)}; deeds: ${list(deeds)}`
  );
}
