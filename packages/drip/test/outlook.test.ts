import { epochMs } from "@vestibule/kernel/units";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { outlookOf, type OutlookInput } from "../src/outlook.ts";
import { policyOf, START, World } from "./world.ts";

vi.setConfig({ testTimeout: 120_000 });

const MINUTE = 60_000;
const MINUTES = 10;
const FAR = START + 30 * 86_400_000;

const outlook = (world: World, waiting: number, changes: Partial<OutlookInput> = {}) =>
  outlookOf({
    line: world.line,
    policy: world.policy,
    segments: world.segments(),
    now: epochMs(world.now),
    startsAt: 0,
    endsAt: FAR,
    waiting,
    lifetimeSeconds: 600,
    minutes: MINUTES,
    ...changes,
  });

/** Slots of the world that open in each minute from `from` on. */
function minutesOf(world: World, from: number): number[] {
  const counts = Array.from({ length: MINUTES }, () => 0);
  for (const at of world.openings()) {
    const minute = Math.floor((at - from) / MINUTE);
    if (minute in counts) counts[minute] = (counts[minute] ?? 0) + 1;
  }
  return counts;
}

const stories = fc.record({
  ratePerMinute: fc.constantFrom(1, 7, 60, 500, 3_000),
  overdrivePercent: fc.constantFrom(100, 150, 300),
  horizonMs: fc.constantFrom(10_000, 60_000),
  approximationBudget: fc.constantFrom(0, 0, 100),
  before: fc.integer({ min: 0, max: 90 }),
  creditSlots: fc.constantFrom(0, 0, 30),
  change: fc.record(
    {
      ratePerMinute: fc.constantFrom(2, 60, 900, 6_000),
      overdrivePercent: fc.constantFrom(100, 200),
      approximationBudget: fc.constantFrom(0, 40),
      ratePlan: fc
        .array(fc.tuple(fc.integer({ min: 1, max: 200_000 }), fc.constantFrom(5, 300, 4_000)), {
          maxLength: 3,
        })
        .map((steps) => {
          let at = START;
          return steps.map(([afterMs, ratePerMinute], index) => ({
            at: (at += afterMs),
            ratePerMinute,
            ...(index < steps.length - 1 ? { ramp: index % 2 === 0 } : {}),
          }));
        }),
    },
    { requiredKeys: [] },
  ),
});

test("what is said to open in each minute is what then opens, whatever is changed", () => {
  fc.assert(
    fc.property(stories, ({ before, creditSlots, change, ...policy }) => {
      const world = new World({ policy: policyOf(policy), claimWindowMs: 3_600_000 });
      world.join(1_000_000);
      world.step();
      for (let second = 0; second < before; second += 1) world.tick();
      world.line = { ...world.line, giveBackMicro: creditSlots * 1_000_000 };
      world.change(change);
      const now = world.now;
      const said = outlook(world, 1_000_000);
      const slots = world.history.length;
      world.step();
      for (let second = 0; second < MINUTES * 60; second += 1) world.tick();
      const first = world.history[slots]?.segment.from;
      if (first !== undefined) expect(said.takesHoldAt).toBe(first);
      let [promised, came] = [0, 0];
      for (const [minute, count] of minutesOf(world, now).entries()) {
        promised += said.perMinute[minute] ?? 0;
        came += count;
        // Credit is spread over its last piece of 5 s at most; a segment is rounded up to a millisecond.
        const quantum = (6_000 * 3 * 5) / 60;
        const spread = creditSlots + policy.approximationBudget > 0 ? quantum / 4 : 0;
        expect(Math.abs(promised - came)).toBeLessThanOrEqual(2 + promised * 0.002 + spread);
      }
    }),
  );
});

test("the last turn of those who wait is said to within 0.2 % of the time until then and a second, or five where something is made up for", () => {
  fc.assert(
    fc.property(stories, fc.integer({ min: 1, max: 500 }), (story, waiting) => {
      const { before: _before, creditSlots, change, ...policy } = story;
      const world = new World({ policy: policyOf(policy), claimWindowMs: 36_000_000 });
      world.join(waiting);
      world.line = { ...world.line, giveBackMicro: creditSlots * 1_000_000 };
      world.change({ ...change, ratePerMinute: Math.max(60, change.ratePerMinute ?? 60) });
      const said = outlook(world, waiting);
      expect(said.leftOut).toBe(0);
      world.step();
      for (let second = 0; second < 7_200 && world.line.nextNumber <= waiting; second += 1) {
        world.tick();
      }
      const last = world.openings().at(-1) ?? 0;
      // The last ones of a line are not sped up any more.
      const hasCredit = creditSlots + policy.approximationBudget > 0;
      const tolerance = (hasCredit ? 5_000 : 1_000) + (last - START) * 0.002;
      expect(Math.abs(last - (said.lastTurnAt ?? 0))).toBeLessThanOrEqual(tolerance);
    }),
  );
});

test("who gets no turn before the end, or beyond the bound, is counted", () => {
  const world = new World({ policy: policyOf({ ratePerMinute: 60, maxAdmissions: 100 }) });
  expect(outlook(world, 250)).toMatchObject({ leftOut: 150, lastTurnAt: START + 99_000 });
  expect(outlook(world, 250, { endsAt: START + 30_000 })).toMatchObject({
    leftOut: 220,
    lastTurnAt: START + 29_000,
    perMinute: [30, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  });
  const nobody = outlook(world, 0);
  expect(nobody.leftOut).toBe(0);
  expect(nobody.lastTurnAt).toBeUndefined();
  expect(nobody.perMinute.slice(0, 3)).toEqual([60, 40, 0]);
});

test("an end moved to before what is committed leaves out those behind it, and their turns are nobody's last", () => {
  const world = new World({ policy: policyOf({ ratePerMinute: 600 }) });
  world.join(1_000);
  world.step();
  // A horizon is committed: 600 turns, a tenth of a second apart.
  expect(outlook(world, 400, { endsAt: START + 15_000 })).toMatchObject({
    perMinute: [150, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    lastTurnAt: START + 14_900,
    leftOut: 850,
    shoppersAtOnce: 6_000,
  });
  expect(outlook(world, 400, { endsAt: START + 60_000 })).toMatchObject({
    lastTurnAt: START + 59_900,
    leftOut: 400,
  });
});

test("before the start nothing opens, and shoppers at once are those of the highest rate ahead", () => {
  const ratePlan = [
    { at: START + 10 * MINUTE, ratePerMinute: 300 },
    { at: START + 20 * MINUTE, ratePerMinute: 120 },
  ];
  const world = new World({ policy: policyOf({ ratePerMinute: 60, ratePlan }) });
  const startsAt = START + 5 * MINUTE;
  expect(outlook(world, 600, { startsAt })).toEqual({
    takesHoldAt: startsAt,
    perMinute: [0, 0, 0, 0, 0, 60, 60, 60, 60, 60],
    lastTurnAt: START + 11 * MINUTE - 200,
    leftOut: 0,
    shoppersAtOnce: 3_000,
  });
  const later = outlook(world, 600, { startsAt: START + 25 * MINUTE, lifetimeSeconds: 90 });
  expect(later.shoppersAtOnce).toBe(180);
});

test("a thousand million who wait under a plan of a hundred ramps have a last turn, and its time is exact to the slot", () => {
  const ratePlan = Array.from({ length: 100 }, (_, index) => ({
    at: START + index * 60 * MINUTE,
    ratePerMinute: 1_000 * (index + 1),
    ...(index < 99 ? { ramp: true } : {}),
  }));
  const world = new World({ policy: policyOf({ ratePlan }) });
  // A ramp gives what the straight line gives: 60 minutes at the mean of its ends.
  const ramps = Array.from({ length: 99 }, (_, index) => 60 * 1_000 * (index + 1.5));
  const until = ramps.reduce((sum, slots) => sum + slots, 0);
  const said = outlook(world, 1e9, { endsAt: FAR * 2 });
  const minutes = 99 * 60 + (1e9 - 1 - until) / 100_000;
  expect(said.leftOut).toBe(0);
  expect(Math.abs((said.lastTurnAt ?? 0) - START - minutes * MINUTE)).toBeLessThan(2);
});
