/** What pages say about the wait comes true as often as docs/estimates.md states, over simulated sales. */
import { etaRange } from "@vestibule/drip/estimate";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { describe, expect, it } from "vitest";
import {
  accuracyOf,
  type Announcement,
  announcementsOf,
  type Estimate,
} from "./estimates/measure.ts";
import { CONFIDENCE_PERCENT, type Scenario, SCENARIOS } from "./estimates/scenarios.ts";

const SALES = 16;
const MINUTES_2 = 120_000;

async function played(
  scenario: Scenario,
  { salt, sales = SALES, estimate }: { salt: number; sales?: number; estimate?: Estimate },
): Promise<readonly Announcement[]> {
  const random = runRandomness(salt);
  const all: Announcement[] = [];
  for (let sale = 0; sale < sales; sale += 1) {
    const seed = random.integer({ min: 1, max: 2 ** 31 });
    all.push(...(await announcementsOf(scenario, seed, estimate)));
  }
  return all;
}

function scenarioOf(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`no scenario is named ${name}`);
  return found;
}

describe("the stated confidence of estimates", () => {
  it.for(SCENARIOS.map((scenario, salt) => ({ ...scenario, salt })))(
    "holds where $name",
    { timeout: MINUTES_2 },
    async (scenario) => {
      const all = await played(scenario, scenario);
      const { announcements, within, withinCalm } = accuracyOf(all);
      expect(announcements).toBeGreaterThan(SALES * 200);
      // What nobody announced is not foreseen: it counts once it is known.
      expect(scenario.isCalm ? within : withinCalm).toBeGreaterThanOrEqual(CONFIDENCE_PERCENT);
    },
  );

  it("is no art of saying anything: where it is known who comes, the range is narrow", async () => {
    const width = async (name: string) =>
      accuracyOf(await played(scenarioOf(name), { salt: 50, sales: 4 })).width;
    expect(await width("everybody comes")).toBeLessThan(20);
    expect(await width("60 % do not come")).toBeLessThan(20);
    expect(await width("20 % do not come")).toBeLessThan(40);
  });
});

describe("the canaries", () => {
  const [narrow, sure]: readonly Estimate[] = [
    (n, view, now) => {
      const range = etaRange(n, view, now);
      return (
        range && {
          fromMs: range.fromMs,
          untilMs: range.fromMs + (range.untilMs - range.fromMs) / 2,
        }
      );
    },
    // As if a share that was seen could never be another.
    (n, view, now) => {
      const [least, most] = view.pace ?? [100, 150];
      const middle = Math.round((least + most) / 2);
      return etaRange(n, { ...view, pace: [middle, middle] }, now);
    },
  ];

  it.for([
    { name: "half as wide", estimate: narrow, scenario: "10 % do not come" },
    {
      name: "sure of who comes",
      estimate: sure,
      scenario: "from 5 % in front to 35 % at the back do not come",
    },
  ])("an estimate that is $name is caught", async ({ estimate, scenario }) => {
    const all = await played(scenarioOf(scenario), { salt: 60, sales: 6, estimate: estimate! });
    expect(accuracyOf(all).within).toBeLessThan(CONFIDENCE_PERCENT - 5);
  });
});
