/** Law 9: an outage of the mint that is shorter than the horizon is invisible to the fans at the front. */
import { describe, expect, it } from "vitest";
import { type Fault, type Plan, planSale } from "./plan.ts";
import { Sale, type SaleResult } from "./sale.ts";
import { simulatedKeys } from "./world/signatures.ts";
import { START_MS } from "./world/virtual-time.ts";

const RATE_PER_MINUTE = 600;
const SPACING_MS = 60_000 / RATE_PER_MINUTE;
const HORIZON_SECONDS = 20;
const KILLED_AT = 15_000;
/** The line is busy from soon after its opening until these have had their slots. */
const CROWD = 430;
const BUSY = { from: START_MS + 5_000, until: START_MS + 40_000 };

/** A busy line of two mints in which nothing goes wrong but `faults`. */
function busy(seed: number, faults: readonly Fault[]): Plan {
  return {
    ...planSale(seed),
    ...{ mints: 2, locations: 2, ratePerMinute: RATE_PER_MINUTE, horizonSeconds: HORIZON_SECONDS },
    ...{ ratePlan: [], approximationBudget: 0 },
    ...{ overdrivePercent: 100, startsAt: 0, stock: 10_000, fans: 15, calmAt: 60_000 },
    crowds: [{ at: 600, count: CROWD }],
    ...{ faults, deeds: [], presence: "auto" },
  };
}

/** Kills of every process, each started again `lastsMs` later. */
function outage(lastsMs: number): Fault[] {
  const kill = { kind: "kill", at: KILLED_AT, lastsMs, amount: 100 } as const;
  return [
    { ...kill, which: 0 },
    { ...kill, which: 1 },
  ];
}

async function slotsOf(
  plan: Plan,
  until = BUSY.until,
): Promise<{ result: SaleResult; longestGapMs: number }> {
  const sale = new Sale(plan, await simulatedKeys());
  const result = await sale.run();
  const openings = sale.openings().filter((at) => at >= BUSY.from && at < until);
  const gaps = openings.slice(1).map((at, index) => at - (openings[index] ?? 0));
  return { result, longestGapMs: Math.max(...gaps) };
}

describe("law 9: at the front of a busy line a slot opens every tenth of a second", () => {
  const first: Fault = { kind: "kill", at: KILLED_AT, lastsMs: 20_000, which: 0, amount: 1 };
  it.for([
    ["while the leader is killed and a standby takes over", [first]],
    ["while every mint is away for less than the horizon", outage(12_000)],
  ] as const)("%s", async ([, faults]) => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const { result, longestGapMs } = await slotsOf(busy(seed, faults));
      expect(result.broken).toBeUndefined();
      // A piece of the line is rounded up to a whole millisecond.
      expect(longestGapMs).toBeLessThanOrEqual(SPACING_MS + 1);
    }
  });

  it("a longer outage admits nobody new, and then the line goes on from there, without a burst", async () => {
    const { result, longestGapMs } = await slotsOf(busy(1, outage(35_000)), START_MS + 56_000);
    expect(result.broken).toBeUndefined();
    expect(longestGapMs).toBeGreaterThan(35_000 - HORIZON_SECONDS * 1_000);
  });
});
