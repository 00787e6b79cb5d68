import * as fc from "fast-check";
import { epochMs, type EpochMs } from "@vestibule/kernel/units";
import { expect, test, vi } from "vitest";
import { planStep, SEGMENTS_PER_STEP_MAX } from "../src/controller.ts";
import type { DripPolicy } from "../src/line-state.ts";
import { opensAt } from "../src/segment.ts";
import { lawThreeViolations } from "./law-three.ts";
import { freshLine, type Planner, policyOf, run, START, World } from "./world.ts";

// Long histories on busy machines; VESTIBULE_RUNS makes them longer still.
vi.setConfig({ testTimeout: 120_000 });

const policy = policyOf;
const now = epochMs(START);
const step = (waiting: number, changes: Partial<DripPolicy> = {}, line = freshLine) =>
  planStep({
    line,
    policy: policy(changes),
    now,
    held: [run(line.nextNumber, line.nextNumber + waiting - 1)],
    demand: [],
  });

test("a full line is committed up to the horizon, in pieces of a quantum, and not beyond", () => {
  const { segments, line } = step(10_000);
  expect(segments.length).toBe(11);
  const last = segments.at(-1)!;
  expect(last.from).toBeLessThan(START + 60_000);
  expect(line.frontier).toBeGreaterThanOrEqual(START + 60_000);
  expect(line.nextNumber).toBe(501);
  expect(line.granted).toBe(500);
});

test("a step costs the same for a hundred thousand who wait as for ten million", () => {
  const few = step(100_000);
  const many = step(10_000_000);
  expect(many).toEqual(few);
});

test("no step commits more segments than its bound, whatever the gaps", () => {
  const held = Array.from({ length: 5_000 }, (_, index) => run(2 * index + 1, 2 * index + 1));
  const input = {
    line: freshLine,
    policy: policy({ ratePerMinute: 1_000_000 }),
    now,
    held,
    demand: [],
  };
  expect(planStep(input).segments.length).toBe(SEGMENTS_PER_STEP_MAX);
  expect(planStep({ ...input, segmentsMax: 7 }).segments.length).toBe(7);
});

test("the slowest rate commits under the shortest horizon", () => {
  const world = new World({ policy: policy({ ratePerMinute: 1, horizonMs: 10_000 }) });
  world.join(100);
  for (let second = 0; second < 600; second += 1) world.tick();
  expect(world.openings().length).toBeGreaterThanOrEqual(10);
  expect(world.openings().length).toBeLessThanOrEqual(11);
});

test("law 3: rounding costs less than half a per cent of any rate, and never adds", () => {
  for (const horizonMs of [10_000, 60_000, 600_000]) {
    for (const ratePerMinute of [1, 7, 59, 500, 7_000, 50_001, 999_983, 1_000_000]) {
      let line = { ...freshLine, frontier: now };
      const held = [run(1, 1_000_000_000)];
      let segments = 0;
      for (let second = 0; second < 1_200; second += 1) {
        const at = (now + second * 1_000) as EpochMs;
        const planned = planStep({
          line,
          policy: policy({ ratePerMinute, horizonMs }),
          now: at,
          held,
          demand: [],
        });
        held[0] = run(planned.line.nextNumber, 1_000_000_000);
        line = planned.line;
        segments += planned.segments.length;
      }
      const exact = ((line.frontier - now) * ratePerMinute) / 60_000;
      expect(line.granted).toBeLessThanOrEqual(exact);
      expect(line.granted).toBeGreaterThan(exact * 0.998);
      expect(segments).toBeLessThan((1_200_000 + horizonMs) / Math.min(horizonMs / 10, 5_000) + 2);
    }
  }
});

test("a full line lists about (claim window + horizon) / quantum segments", () => {
  const world = new World({ policy: policy(), noShow: 0.3, seed: 3 });
  world.join(1_000_000);
  let most = 0;
  for (let second = 0; second < 1_800; second += 1) {
    world.tick();
    most = Math.max(most, world.segments().length);
  }
  expect(most).toBeLessThanOrEqual(Math.ceil((180 + 60 + 5) / 5) + 4);
});

test("whoever comes when nobody waits is in within 2 s, also after an idle hour, and the hour earns nothing", () => {
  const world = new World({ policy: policy() });
  world.join(3);
  for (let second = 0; second < 3_600; second += 1) world.tick();
  world.join(1);
  const joinedAt = world.now;
  world.tick();
  expect(world.openings().at(-1)).toBeLessThanOrEqual(joinedAt + 2_000);
  expect(world.serving).toBe(4);
  world.join(1_000);
  const rushAt = world.now;
  for (let second = 0; second < 60; second += 1) world.tick();
  const opened = world.openings().filter((at) => at > rushAt && at <= rushAt + 10_000);
  expect(opened.length).toBeLessThanOrEqual(500 / 6 + 1);
  expect(world.violations).toEqual([]);
});

test("lapses of a quiet time are no credit: whoever stays away while nobody waits speeds up no rush later", () => {
  const world = new World({ policy: policy(), noShow: 1 });
  for (let second = 0; second < 1_800; second += 1) {
    world.join(second % 10 === 0 ? 1 : 0);
    world.tick();
  }
  expect(world.lapsed).toBeGreaterThan(100);
  world.join(10_000);
  const rushAt = world.now;
  for (let second = 0; second < 60; second += 1) world.tick();
  const opened = world.openings().filter((at) => at > rushAt && at <= rushAt + 60_000);
  expect(opened.length).toBeLessThanOrEqual(500 + 1);
});

test("people who come at once to a quiet line open at the rate, from now on, one after the other", () => {
  const { segments } = step(5);
  expect(segments).toEqual([{ base: 1, count: 5, from: START, until: START + 600 }]);
});

test("law 3: a stall, and a clock stepped back, move and earn nothing", () => {
  const first = step(100_000);
  const back = planStep({
    line: first.line,
    policy: policy(),
    now: epochMs(START - 3_600_000),
    held: [run(first.line.nextNumber, 100_000)],
    demand: [],
  });
  expect(back.segments).toEqual([]);
  expect(back.line).toBe(first.line);
  const late = planStep({
    line: first.line,
    policy: policy(),
    now: epochMs(START + 3_600_000),
    held: [run(first.line.nextNumber, 100_000)],
    demand: [],
  });
  expect(late.segments[0]!.from).toBe(START + 3_600_000);
  expect(late.line.granted - first.line.granted).toBe(500);
});

test("a rate change takes hold where the committed drip ends", () => {
  const first = step(100_000);
  const line = first.line;
  const at = epochMs(START + 5_000);
  const held = [run(line.nextNumber, 100_000)];
  const next = planStep({ line, policy: policy({ ratePerMinute: 60 }), now: at, held, demand: [] });
  expect(next.segments).toHaveLength(1);
  expect(next.segments[0]!.from).toBe(line.frontier);
  expect(next.segments[0]!.count).toBe(5);
});

test("no slot opens at the end or after it, all that fits before it does, and a later end goes on", () => {
  const endsAt = START + 100_000;
  const plan: Planner = (input) => planStep({ ...input, endsAt });
  const world = new World({ policy: policy(), plan });
  world.join(10_000);
  world.step();
  for (let second = 0; second < 99; second += 1) world.tick();
  const openings = world.openings();
  expect(Math.max(...openings)).toBeLessThan(endsAt);
  expect(openings.length).toBeGreaterThanOrEqual(832);
  expect(openings.length).toBeLessThanOrEqual(834);
  const { line } = world;
  const held = [run(line.nextNumber, 10_000)];
  const input = { line, policy: policy(), now: epochMs(START + 99_000), held, demand: [] };
  expect(planStep({ ...input, endsAt: START }).line).toBe(line);
  expect(planStep({ ...input, endsAt: endsAt + 60_000 }).segments[0]!.from).toBe(line.frontier);
});

test("demand is served first, in its order, contiguous runs in one segment", () => {
  const line = { ...freshLine, nextNumber: run(100, 100).first };
  const { segments, demandServed } = planStep({
    line,
    policy: policy(),
    now,
    held: [run(105, 106)],
    demand: [run(7, 8), run(9, 9), run(3, 3)],
  });
  expect(segments.map(({ base, count }) => [base, count])).toEqual([
    [7, 3],
    [3, 1],
    [105, 2],
  ]);
  expect(demandServed).toEqual([run(7, 9), run(3, 3)]);
});

test("maxAdmissions bounds what is granted, and lapsed slots make room", () => {
  const world = new World({ policy: policy({ maxAdmissions: 100 }), noShow: 0.5, seed: 11 });
  world.join(10_000);
  for (let second = 0; second < 3_600; second += 1) world.tick();
  expect(world.violations).toEqual([]);
  expect(world.claims.length).toBe(100);
});

test("input that breaks the contract is refused, never served twice", () => {
  const base = { policy: policy(), now, demand: [] };
  const line = { ...freshLine, nextNumber: run(10, 10).first };
  expect(() => planStep({ ...base, line, held: [run(9, 12)] })).toThrow("ascend");
  expect(() => planStep({ ...base, line, held: [run(12, 14), run(10, 11)] })).toThrow("ascend");
  expect(() => planStep({ ...base, line, held: [run(14, 12)] })).toThrow("ascend");
  expect(() => planStep({ ...base, line, held: [], demand: [run(9, 10)] })).toThrow("has passed");
});

test("with three in ten not showing up, a rate of 500 settles at 500 claims a minute, smoothly", () => {
  const world = new World({ policy: policy(), noShow: 0.3, seed: 20_261_103 });
  world.join(100_000);
  for (let second = 0; second < 5_400; second += 1) world.tick();
  for (const minute of [30, 45, 60, 70]) {
    const from = START + minute * 60_000;
    const claimed = world.claims.filter(({ at }) => at >= from && at < from + 600_000).length / 10;
    expect(claimed).toBeGreaterThan(485);
    expect(claimed).toBeLessThan(515);
  }
  expect(world.violations).toEqual([]);
  expect(lawThreeViolations(world.history)).toEqual([]);
  const openings = world.openings();
  let most = 0;
  for (let i = 0, j = 0; j < openings.length; j += 1) {
    while (openings[i]! <= openings[j]! - 10_000) i += 1;
    most = Math.max(most, j - i + 1);
  }
  expect(most).toBeLessThanOrEqual((500 * 1.5) / 6 + 1);
});

test("every slot of a step opens inside the window it was committed for", () => {
  const policies = fc.record({
    ratePerMinute: fc.oneof(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: 1, max: 1_000_000 }),
    ),
    horizonMs: fc.integer({ min: 10_000, max: 600_000 }),
    overdrivePercent: fc.oneof(fc.constant(150), fc.integer({ min: 100, max: 1_000 })),
    maxAdmissions: fc.constant(null),
    ratePlan: fc.constant([]),
    approximationBudget: fc.constant(0),
  });
  fc.assert(
    fc.property(
      policies,
      fc.integer({ min: 0, max: 1_000_000_000 }),
      fc.integer({ min: -700_000, max: 700_000 }),
      fc.integer({ min: 1, max: 20_000_000 }),
      (policy, giveBackMicro, ahead, waiting) => {
        const line = { ...freshLine, frontier: epochMs(START + ahead), giveBackMicro };
        const planned = planStep({ line, policy, now, held: [run(1, waiting)], demand: [] });
        let frontier = Math.max(line.frontier, now);
        for (const segment of planned.segments) {
          expect(segment.from).toBe(frontier);
          expect(opensAt(segment, segment.base + segment.count - 1)).toBeLessThan(
            now + policy.horizonMs,
          );
          frontier = segment.until;
        }
        expect(planned.line.giveBackMicro).toBeGreaterThanOrEqual(0);
        expect(planned.line.granted).toBeLessThanOrEqual(waiting);
      },
    ),
  );
});
