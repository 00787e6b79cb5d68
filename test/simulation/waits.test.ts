/** What a page shows of a wait never grows without a reason beside it, and is as often right as what it rests on. */
import { type Growth, type Told, waitOf } from "@vestibule/client/honesty";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { expect, it } from "vitest";
import { accuracyOf, type Announcement, announcementsOf } from "./estimates/measure.ts";
import { CONFIDENCE_PERCENT, type Scenario, SCENARIOS } from "./estimates/scenarios.ts";

const SALES = 4;
const MINUTES_2 = 120_000;

interface Shown {
  readonly announcements: readonly Announcement[];
  readonly looks: number;
  /** How often each reason was given. */
  readonly reasons: Readonly<Partial<Record<Growth, number>>>;
}

/** Every fan has a page of their own, which keeps what it said. */
async function shownIn(scenario: Scenario, salt: number): Promise<Shown> {
  const random = runRandomness(salt);
  const announcements: Announcement[] = [];
  const reasons: Partial<Record<Growth, number>> = {};
  let looks = 0;
  for (let sale = 0; sale < SALES; sale += 1) {
    const seed = random.integer({ min: 1, max: 2 ** 31 });
    const told = new Map<number, Told | undefined>();
    const latest = new Map<number, number>();
    const shown = await announcementsOf(scenario, seed, (n, { aud, ...claims }, now) => {
      const wait = waitOf(n, { ...claims, event: aud }, now, told.get(n));
      told.set(n, wait.told);
      looks += 1;
      if (wait.eta === undefined) return undefined;
      const by = now + wait.eta.untilMs;
      const grew = wait.told?.grew;
      if (grew !== undefined) reasons[grew] = (reasons[grew] ?? 0) + 1;
      else {
        // A page shows whole minutes, and says nothing: not even a millisecond more.
        const before = latest.get(n) ?? Infinity;
        expect(by, `seed ${seed}, number ${n}`).toBeLessThanOrEqual(before);
        latest.set(n, Math.min(by, before));
      }
      return wait.eta;
    });
    announcements.push(...shown);
  }
  return { announcements, looks, reasons };
}

it.for(SCENARIOS.map((scenario, salt) => ({ ...scenario, salt })))(
  "no wait grows without a reason, and the stated confidence holds of what is shown, where $name",
  { timeout: MINUTES_2 },
  async (scenario) => {
    const { announcements, looks, reasons } = await shownIn(scenario, 100 + scenario.salt);
    const { within, withinCalm } = accuracyOf(announcements);
    expect(scenario.isCalm ? within : withinCalm).toBeGreaterThanOrEqual(CONFIDENCE_PERCENT);
    const given = Object.values(reasons).reduce((sum, count) => sum + count, 0);
    const { expected } = scenario;
    if (expected === undefined) expect(given).toBeLessThan(looks / 10);
    else {
      const fitting = expected.reduce((sum, reason) => sum + (reasons[reason] ?? 0), 0);
      expect(fitting).toBeGreaterThan(0.75 * given);
    }
  },
);
