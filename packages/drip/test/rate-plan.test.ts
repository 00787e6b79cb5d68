import * as fc from "fast-check";
import { expect, test } from "vitest";
import { opensAt } from "../src/segment.ts";
import { peakRate, rateAt, type RateEntry } from "../src/rate-plan.ts";
import { lawThreeViolations } from "./law-three.ts";
import { policyOf, START, World } from "./world.ts";

const MINUTE = 60_000;
const at = (minutes: number): number => START + minutes * MINUTE;

test("a rate holds from its moment until the next, and what was set before the first", () => {
  const rates = {
    ratePerMinute: 60,
    ratePlan: [
      { at: at(1), ratePerMinute: 500 },
      { at: at(2), ratePerMinute: 30 },
    ],
  };
  expect(rateAt(rates, START)).toEqual({ ratePerMinute: 60, until: at(1) });
  expect(rateAt(rates, at(1) - 1)).toEqual({ ratePerMinute: 60, until: at(1) });
  expect(rateAt(rates, at(1))).toEqual({ ratePerMinute: 500, until: at(2) });
  expect(rateAt(rates, at(2))).toEqual({ ratePerMinute: 30, until: Infinity });
  expect(rateAt({ ...rates, ratePlan: [] }, START)).toEqual({ ratePerMinute: 60, until: Infinity });
  expect(peakRate(rates, START, at(1))).toBe(60);
  expect(peakRate(rates, START, at(1) + 1)).toBe(500);
});

test("a ramp is a staircase of at most 60 steps, none shorter than 10 s, which gives as many slots as the straight line", () => {
  fc.assert(
    fc.property(
      fc.record({
        lengthMs: fc.oneof(
          fc.integer({ min: 1, max: 30_000 }),
          fc.integer({ min: 1, max: 90_000_000 }),
          fc.integer({ min: 1, max: 200_000_000_000_000 }),
        ),
        from: fc.integer({ min: 1, max: 1_000_000 }),
        to: fc.integer({ min: 1, max: 1_000_000 }),
      }),
      ({ lengthMs, from, to }) => {
        const ratePlan: RateEntry[] = [
          { at: START, ratePerMinute: from, ramp: true },
          { at: START + lengthMs, ratePerMinute: to },
        ];
        const rates = { ratePerMinute: 1, ratePlan };
        let work = 0;
        let steps = 0;
        let before = from;
        for (let moment = START; moment < START + lengthMs;) {
          const { ratePerMinute, until } = rateAt(rates, moment);
          expect(until).toBeGreaterThan(moment);
          expect(rateAt(rates, until - 1)).toEqual({ ratePerMinute, until });
          expect(Math.sign(ratePerMinute - before) * Math.sign(to - from)).toBeGreaterThanOrEqual(
            0,
          );
          if (lengthMs >= 10_000) expect(until - moment).toBeGreaterThanOrEqual(10_000);
          work += (until - moment) * ratePerMinute;
          before = ratePerMinute;
          moment = until;
          steps += 1;
        }
        expect(steps).toBeLessThanOrEqual(60);
        // Each step's rate is a whole number, and the last step is up to 59 ms longer than the others.
        const line = (lengthMs * (from + to)) / 2;
        expect(Math.abs(work - line)).toBeLessThanOrEqual(lengthMs / 2 + 60 * Math.abs(to - from));
      },
    ),
  );
});

test("a planned step holds for the time at which slots open, to the slot, from a full line", () => {
  const ratePlan = [
    { at: at(2) + 1_234, ratePerMinute: 60 },
    { at: at(4), ratePerMinute: 3_000 },
    { at: at(5), ratePerMinute: 1 },
    { at: at(9), ratePerMinute: 600 },
  ];
  const policy = policyOf({ ratePlan });
  const world = new World({ policy });
  world.join(100_000);
  world.step();
  for (let second = 0; second < 720; second += 1) world.tick();
  expect(lawThreeViolations(world.history)).toEqual([]);
  const opened = (from: number, until: number): number =>
    world.openings().filter((moment) => moment >= from && moment < until).length;
  const moments = [START, at(2) + 1_234, at(4), at(5), at(9), at(11)];
  for (const [index, from] of moments.slice(0, -1).entries()) {
    const until = moments[index + 1] ?? from;
    const exact = ((until - from) * rateAt(policy, from).ratePerMinute) / MINUTE;
    // The drip is slower than the rate by a millisecond a segment at most.
    expect(opened(from, until)).toBeLessThanOrEqual(Math.ceil(exact) + 1);
    expect(opened(from, until)).toBeGreaterThanOrEqual(exact * 0.999 - 1);
  }
});

test("no segment but one of a single slot reaches over a change of the rate, and none leaves time unused at one", () => {
  const ratePlan = [
    { at: at(1), ratePerMinute: 7, ramp: true },
    { at: at(11), ratePerMinute: 900, ramp: true },
    { at: at(13), ratePerMinute: 40 },
  ];
  const policy = policyOf({ ratePerMinute: 3, ratePlan });
  const world = new World({ policy });
  world.join(100_000);
  world.step();
  for (let second = 0; second < 960; second += 1) world.tick();
  let frontier = START;
  for (const { segment } of world.history) {
    expect(segment.from).toBe(frontier);
    frontier = segment.until;
    if (segment.count === 1) continue;
    const { until } = rateAt(policy, segment.from);
    expect(segment.until).toBeLessThanOrEqual(until);
    expect(opensAt(segment, segment.base + segment.count - 1)).toBeLessThan(until);
  }
});
