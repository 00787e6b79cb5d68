import { epochMs } from "@vestibule/kernel/units";
import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { aheadOf, etaRange, soonestTurnMs, type EstimateView } from "../src/estimate.ts";
import { slotOf } from "../src/line.ts";
import { changesAfter, rateAt, type RateEntry } from "../src/rate-plan.ts";
import { containsNumber } from "../src/segment.ts";
import { policyOf, START, World, seeded } from "./world.ts";

// Long histories on busy machines; VESTIBULE_RUNS makes them longer still.
vi.setConfig({ testTimeout: 120_000 });

const view = (changes: Partial<EstimateView> = {}): EstimateView => ({
  segments: [],
  committed: 0,
  skips: [],
  rate: 500,
  state: "open",
  ...changes,
});

test("QP-06: unknown rather than infinite, absurd or NaN", () => {
  for (const changes of [
    { rate: 0 },
    { rate: Number.NaN },
    { state: "paused" },
    { state: "ended" },
    { state: "prequeue" },
    { heldSince: START },
  ]) {
    expect(etaRange(1_000, view(changes), START)).toBeUndefined();
  }
  expect(etaRange(1_000_000, view({ rate: 1 }), START)).toBeUndefined();
});

test("QP-06: a million ahead, one person left, the first minute: a finite range that contains the truth", () => {
  const far = etaRange(1_000_000, view(), START)!;
  expect(far.fromMs).toBeLessThan(2_000 * 60_000);
  expect(far.untilMs).toBeGreaterThan(2_000 * 60_000);
  expect(etaRange(1, view(), START)).toEqual({ fromMs: 0, untilMs: 5_000 });
  const waiting = etaRange(1, view({ state: "scheduled", startsAt: START + 60_000 }), START)!;
  expect(waiting.fromMs).toBe(60_000);
});

test("QP-06: halving and doubling the drip doubles and halves the wait, no more", () => {
  const [half, full, double] = [250, 500, 1_000].map(
    (rate) => etaRange(10_001, view({ rate }), START)!.fromMs,
  );
  expect(half! / full!).toBeCloseTo(2, 2);
  expect(full! / double!).toBeCloseTo(2, 2);
});

test("the estimate never grows with time while the drip is unchanged, and grows with the place", () => {
  fc.assert(
    fc.property(
      fc.record({
        n: fc.integer({ min: 101, max: 200_000 }),
        rate: fc.integer({ min: 150, max: 1_000_000 }),
        until: fc.integer({ min: 0, max: 600_000 }),
        now: fc.integer({ min: 0, max: 900_000 }),
        later: fc.integer({ min: 0, max: 900_000 }),
      }),
      ({ n, rate, until, now, later }) => {
        const segments = [{ base: 1, count: 100, from: START, until: START + until + 1 }];
        const seen = view({ segments, committed: 100, rate });
        const first = etaRange(n, seen, START + now)!;
        const second = etaRange(n, seen, START + now + later)!;
        const behind = etaRange(n + 1, seen, START + now)!;
        expect(Number.isSafeInteger(first.fromMs) && Number.isSafeInteger(first.untilMs)).toBe(
          true,
        );
        expect(first.fromMs).toBeGreaterThanOrEqual(0);
        expect(first.untilMs).toBeGreaterThanOrEqual(first.fromMs);
        expect(second.fromMs).toBeLessThanOrEqual(first.fromMs);
        expect(second.untilMs).toBeLessThanOrEqual(first.untilMs);
        expect(behind.fromMs).toBeGreaterThanOrEqual(first.fromMs);
        expect(behind.untilMs).toBeGreaterThanOrEqual(first.untilMs);
        expect(aheadOf(n + 1, seen, START + now) - aheadOf(n, seen, START + now)).toBe(1);
      },
    ),
  );
});

test("MH-03: ahead counts people, not numbers: gaps in the numbering do not count", () => {
  const skips: [number, number][] = [
    [11, 20],
    [101, 1_100],
    [2_001, 2_500],
  ];
  expect(aheadOf(1_201, view({ committed: 100, skips }), START)).toBe(100);
  expect(aheadOf(1_201, view({ committed: 600, skips }), START)).toBe(100);
  expect(aheadOf(101 + 1_000, view({ committed: 100, skips }), START)).toBe(0);
});

test("ahead counts committed slots until they open, and nobody once the own slot is open", () => {
  const segments = [
    { base: 1, count: 4, from: START, until: START + 400 },
    { base: 7, count: 2, from: START + 400, until: START + 600 },
  ];
  const seen = view({ segments, committed: 8, skips: [[5, 6]] });
  expect([1, 4, 7, 8, 9].map((n) => aheadOf(n, seen, START + 100))).toEqual([0, 1, 2, 3, 4]);
  expect(aheadOf(8, seen, START + 500)).toBe(0);
  expect(aheadOf(9, { ...seen, heldSince: START + 100 }, START + 9_000)).toBe(4);
  expect(aheadOf(8, { ...seen, heldSince: START + 100 }, START + 9_000)).toBe(3);
  expect(etaRange(8, seen, START + 100)).toEqual({ fromMs: 400, untilMs: 400 });
  expect(etaRange(8, seen, START + 900)).toEqual({ fromMs: 0, untilMs: 0 });
});

test("the range is honest: over a whole sale with no-shows every slot opens inside every range announced before", () => {
  const at = (seconds: number): number => START + seconds * 1_000;
  const ratePlan = [
    { at: at(0), ratePerMinute: 500 },
    { at: at(100), ratePerMinute: 900, ramp: true },
    { at: at(300), ratePerMinute: 200 },
    { at: at(500), ratePerMinute: 700 },
  ];
  for (const [noShow, policy] of [
    [0, policyOf()],
    [0.3, policyOf()],
    [0.6, policyOf()],
    [0, policyOf({ ratePlan })],
    [0.3, policyOf({ ratePlan, overdrivePercent: 300, approximationBudget: 50 })],
  ] as const) {
    const world = new World({ policy, noShow, seed: 5 });
    const speed = () => ({
      rate: rateAt(policy, world.now).ratePerMinute,
      rates: changesAfter(policy, world.now, 64),
      overdrive: policy.overdrivePercent,
    });
    world.join(6_000);
    const fans = [1, 400, 600, 3_000, 6_000];
    const announced = fans.map((n) => ({ n, from: 0, until: Infinity, ahead: Infinity }));
    for (let second = 0; second < 900; second += 1) {
      world.tick();
      const segments = world.segments();
      const seen = view({ segments, committed: world.line.nextNumber - 1, ...speed() });
      for (const fan of announced) {
        if (world.line.nextNumber > fan.n) continue;
        const ahead = aheadOf(fan.n, seen, world.now);
        expect(ahead).toBeLessThanOrEqual(fan.ahead);
        fan.ahead = ahead;
        const range = etaRange(fan.n, seen, world.now)!;
        // Tighter with every look: a tick of the controller and rounding are all the give there is.
        expect(world.now + range.untilMs).toBeLessThanOrEqual(fan.until + 1_000);
        fan.from = Math.max(fan.from, world.now + range.fromMs);
        fan.until = Math.min(fan.until, world.now + range.untilMs);
      }
    }
    for (const fan of announced) {
      const own = world.history.find(({ segment }) => containsNumber(segment, fan.n))!;
      const opens =
        own.segment.from +
        Math.floor(
          ((fan.n - own.segment.base) * (own.segment.until - own.segment.from)) / own.segment.count,
        );
      expect(opens).toBeGreaterThanOrEqual(fan.from);
      expect(opens).toBeLessThanOrEqual(fan.until);
    }
    expect(world.violations).toEqual([]);
  }
});

test("the pace that is known makes the range narrower, within what it is without", () => {
  const wide = etaRange(10_001, view(), START)!;
  const known = etaRange(10_001, view({ pace: [110, 125] }), START)!;
  expect(known.fromMs).toBeCloseTo(wide.fromMs * (150 / 125), -1);
  expect(known.untilMs - 5_000).toBeCloseTo((wide.untilMs - 5_000) / 1.1, -1);
});

test("whoever is owed a slot comes before all who wait, and may be the first or the last of those who are owed one", () => {
  const waiting = { committed: 100, rate: 60 };
  expect(etaRange(101, view({ ...waiting, owed: 30, pace: [100, 100] }), START)!.fromMs).toBe(
    30_000,
  );
  expect(etaRange(50, view({ ...waiting, owed: 30, pace: [100, 100] }), START)).toEqual({
    fromMs: 0,
    untilMs: 36_500,
  });
});

test("a number that the line passed without a slot comes next", () => {
  const segments = [{ base: 11, count: 10, from: START, until: START + 1_200 }];
  const range = etaRange(5, view({ segments, committed: 20, skips: [] }), epochMs(START))!;
  expect(range).toEqual({ fromMs: 1_200, untilMs: 6_200 });
});

test("no slot ever opens sooner than the soonest turn said, through no-shows, holds, standstills and late statements", () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const random = seeded(seed);
    const policy = policyOf({
      ratePerMinute: 60 + Math.floor(random() * 600),
      horizonMs: 10_000 + Math.floor(random() * 50_000),
      ...(seed % 2 === 0 ? {} : { ratePlan: drawnPlan(random), approximationBudget: 40 }),
    });
    const world = new World({ policy, noShow: random() * 0.7, seed, claimWindowMs: 20_000 });
    world.join(3_000);
    const fans = [1, 20, 90, 300, 700, 1_500].map((n) => ({ n, bound: 0 }));
    let checked = 0;
    for (let second = 0; second < 600; second += 1) {
      if (random() < 0.02) world.hold();
      else if (world.heldSince !== undefined && random() < 0.1) world.resume();
      // Sold out for a while: time goes by, and nothing is committed.
      if (random() < 0.01) world.now += Math.floor(random() * 60_000);
      world.tick();
      const { now, heldSince } = world;
      const seen = view({
        ...{ segments: world.segments(), committed: world.line.nextNumber - 1, heldSince },
        ...{ rate: rateAt(policy, now).ratePerMinute, rates: changesAfter(policy, now, 64) },
        ...{ state: heldSince === undefined ? "open" : "paused" },
      });
      for (const fan of fans) {
        const slot = slotOf(seen.segments, fan.n, seen);
        if (slot !== undefined) {
          // A hold may cut it: what was said of that one says nothing of the next.
          expect(slot).toBeGreaterThanOrEqual(fan.bound);
          checked += 1;
          continue;
        }
        const soonest = now + soonestTurnMs(fan.n, { ...seen, at: now }, now);
        // Asked later of the same statement: the same moment, or now.
        expect(now + 5_000 + soonestTurnMs(fan.n, { ...seen, at: now }, now + 5_000)).toBe(
          Math.max(soonest, now + 5_000),
        );
        fan.bound = soonest;
      }
    }
    expect(checked).toBeGreaterThan(50);
    expect(world.violations).toEqual([]);
  }
});

/** Up and down, with ramps, over the ten minutes of a sale. */
function drawnPlan(random: () => number): RateEntry[] {
  return Array.from({ length: 8 }, (_, index) => ({
    at: START + index * 75_000 + Math.floor(random() * 75_000),
    ratePerMinute: 30 + Math.floor(random() * 2_000),
    ...(index < 7 && random() < 0.5 ? { ramp: true } : {}),
  }));
}

test("the changes of the rate ahead are those that the plan makes, in their order, and no more than asked for", () => {
  const plan = { ratePerMinute: 60, ratePlan: drawnPlan(seeded(3)) };
  const changes = changesAfter(plan, START, 1_000);
  expect(changes.length).toBeGreaterThan(8);
  expect(changesAfter(plan, START, 5)).toEqual(changes.slice(0, 5));
  let rate = 60;
  for (let at = START; at < START + 700_000; at += 250) {
    rate = changes.findLast(([from]) => from <= at)?.[1] ?? rate;
    expect(rateAt(plan, at).ratePerMinute).toBe(rate);
  }
  expect(changesAfter(plan, START + 700_000, 64)).toEqual([]);
});

test("the soonest turn does not ask why the line stands still", () => {
  const stands = { segments: [], committed: 100, rate: 60 };
  for (const state of ["open", "soldout", "paused", "prequeue"]) {
    const at = (n: number) => soonestTurnMs(n, { ...view({ ...stands, state }), at: START }, START);
    expect([state, at(50), at(101), at(191)]).toEqual([state, 0, 0, 60_000]);
  }
});
