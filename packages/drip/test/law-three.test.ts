import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { planStep, type Step, type StepInput } from "../src/controller.ts";
import { rateAt } from "../src/rate-plan.ts";
import type { EpochMs } from "@vestibule/kernel/units";
import { lawThreeViolations, numberViolations } from "./law-three.ts";
import { policyOf, run, START, World, type Planner } from "./world.ts";

// Long histories on busy machines; VESTIBULE_RUNS makes them longer still.
vi.setConfig({ testTimeout: 120_000 });

const RATES = [1, 3, 60, 500, 3_000, 7_001];

/** Steps and ramps around the beginning, denser and sparser than a horizon. */
const plans = fc
  .array(
    fc.record({
      afterMs: fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 90_000 })),
      ratePerMinute: fc.constantFrom(...RATES),
      ramp: fc.boolean(),
    }),
    { maxLength: 8 },
  )
  .map((steps) => {
    let at = START - 20_000;
    return steps.map(({ afterMs, ratePerMinute, ramp }, index) => ({
      at: (at += afterMs),
      ratePerMinute,
      ...(ramp && index < steps.length - 1 ? { ramp } : {}),
    }));
  });

/** What can happen to a mint, one step of the world each. */
const events = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant("tick" as const),
      ms: fc.integer({ min: 1, max: 2_500 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("join" as const),
      count: fc.integer({ min: 0, max: 400 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("stall" as const),
      ms: fc.integer({ min: 0, max: 300_000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("clock" as const),
      ms: fc.integer({ min: -90_000, max: 90_000 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("rate" as const), rate: fc.constantFrom(...RATES) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("plan" as const), ratePlan: plans }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("speed" as const),
      approximationBudget: fc.constantFrom(0, 0, 5, 200),
      overdrivePercent: fc.constantFrom(100, 150, 300),
      horizonMs: fc.constantFrom(17_777, 60_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("max" as const),
      max: fc.option(fc.integer({ min: 1, max: 900 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("gap" as const),
      count: fc.integer({ min: 0, max: 30 }),
      inDoubt: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("credit" as const),
      share: fc.constantFrom(0.02, 0.3, 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        "hold" as const,
        "resume" as const,
        "crash" as const,
        "show up" as const,
      ),
    }),
  },
);
type WorldEvent = typeof events extends fc.Arbitrary<infer T> ? T : never;

function apply(world: World, event: WorldEvent): void {
  if (event.kind === "tick") world.tick(event.ms);
  else if (event.kind === "join") world.join(event.count);
  else if (event.kind === "stall") world.tick(event.ms);
  else if (event.kind === "clock") {
    // A hold names a moment: the world, like the mint, takes no clock back behind it.
    if (world.heldSince === undefined) world.tick(event.ms);
  } else if (event.kind === "rate") world.change({ ratePerMinute: event.rate, ratePlan: [] });
  else if (event.kind === "plan") world.change({ ratePlan: event.ratePlan });
  else if (event.kind === "speed") {
    const { kind: _kind, ...speed } = event;
    world.change(speed);
  } else if (event.kind === "max") {
    const { granted } = world.line; // lowered, but not below what was granted already
    const maxAdmissions = event.max === null ? null : Math.max(event.max, granted);
    world.change({ maxAdmissions });
  } else if (event.kind === "gap") world.gap(event.count, event.inDoubt);
  else if (event.kind === "credit") world.credit(event.share);
  else if (event.kind === "hold") world.hold();
  else if (event.kind === "resume") world.resume();
  else if (event.kind === "crash") world.step({ crash: true });
  else world.showUp();
}

const setups = fc.record({
  seed: fc.integer(),
  noShow: fc.constantFrom(0, 0.1, 0.3, 0.6, 1),
  claimWindowMs: fc.constantFrom(5_000, 20_000, 180_000),
  policy: fc.record({
    ratePerMinute: fc.constantFrom(...RATES),
    horizonMs: fc.constantFrom(10_000, 17_777, 60_000),
    overdrivePercent: fc.constantFrom(100, 137, 150, 300),
    maxAdmissions: fc.constantFrom(null, 40),
    ratePlan: fc.oneof(fc.constant([]), plans),
    approximationBudget: fc.constantFrom(0, 0, 3, 150),
  }),
});

function play(setup: ConstructorParameters<typeof World>[0], story: readonly WorldEvent[]): World {
  const world = new World(setup);
  world.tick();
  for (const event of story) apply(world, event);
  world.resume();
  for (let second = 0; second < 30; second += 1) world.tick();
  return world;
}

const wrongWith = (world: World): string[] => [
  ...world.violations,
  ...lawThreeViolations(world.history),
  ...numberViolations(world.history, world.isHeld, world.creditsOf),
];

test("law 3: no window holds more than its rate, what lapsed, and one slot, whatever happens", () => {
  fc.assert(
    fc.property(setups, fc.array(events, { maxLength: 300, size: "max" }), (setup, story) => {
      expect(wrongWith(play(setup, story))).toEqual([]);
    }),
  );
});

test("law 3: a line that begins after its clock stepped back behind a change earns of its budget as any other", () => {
  const policy = policyOf({ approximationBudget: 200, overdrivePercent: 300, horizonMs: 17_777 });
  const world = new World({ policy });
  world.tick();
  world.change({ ratePlan: [{ at: START - 19_999, ratePerMinute: 500 }], ratePerMinute: 1 });
  world.join(2);
  world.tick(-38_692);
  world.join(150);
  world.tick(17_739);
  world.join(149);
  for (let second = 0; second < 30; second += 1) world.tick();
  expect(wrongWith(world)).toEqual([]);
});

test("law 2: the serving number never falls and never passes the numbers issued, without any memory of it", () => {
  fc.assert(
    fc.property(setups, fc.array(events, { maxLength: 120, size: "max" }), (setup, story) => {
      const world = new World(setup);
      for (const event of story) {
        if (event.kind === "clock") continue;
        world.serving = 0; // recomputed from the list alone
        const before = world.history.length === 0 ? 0 : highestOpen(world);
        apply(world, event);
        const after = highestOpen(world);
        expect(after).toBeGreaterThanOrEqual(before);
        expect(after).toBeLessThanOrEqual(world.issued);
      }
    }),
  );
});

function highestOpen(world: World): number {
  let highest = 0;
  const at = Math.min(world.now, world.heldSince ?? Infinity);
  for (const { segment } of world.history) {
    for (let k = 0; k < segment.count; k += 1) {
      const opens = segment.from + Math.floor((k * (segment.until - segment.from)) / segment.count);
      if (opens <= at && opens <= (segment.cutAfter ?? Infinity))
        highest = Math.max(highest, segment.base + k);
    }
  }
  return highest;
}

test("everybody who holds a number gets a slot in the end, in order, whatever happened before", () => {
  fc.assert(
    fc.property(setups, fc.array(events, { maxLength: 60, size: "max" }), (setup, story) => {
      const world = play(setup, story);
      world.change({ ratePerMinute: 7_001, ratePlan: [], maxAdmissions: null });
      world.tick(600_000);
      world.showUp();
      for (let round = 0; round < 40; round += 1) {
        world.tick(10_000);
        world.showUp();
      }
      const live = world.openings().length;
      let holders = world.credited;
      for (let n = 1; n <= world.issued; n += 1) if (world.isHeld(n)) holders += 1;
      expect(live).toBeGreaterThanOrEqual(holders - inDoubtAtTheEnd(world));
      expect(wrongWith(world)).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

/** Numbers in doubt behind the last committed number are not passed yet, so nobody asks for them. */
const inDoubtAtTheEnd = (world: World): number => world.issued + 1 - world.line.nextNumber;

// Canaries: controllers that are wrong in the ways that matter. The checkers must find each.
const busy = { policy: policyOf() };

function violationsOf(plan: Planner, story: (world: World) => void): string[] {
  const world = new World({ ...busy, plan, noShow: 0.3 });
  world.join(50_000);
  for (let second = 0; second < 300; second += 1) world.tick();
  story(world);
  for (let second = 0; second < 300; second += 1) world.tick();
  return wrongWith(world);
}
const afterAStall = (world: World): void => void world.tick(120_000);

test("canary: the controller itself passes what the canaries fail", () => {
  expect(violationsOf(planStep, afterAStall)).toEqual([]);
});

test("canary: a controller that catches up after a stall is caught", () => {
  const catchUp: Planner = (input) => {
    if (input.line.frontier === 0 || input.line.frontier >= input.now) return planStep(input);
    const missed = input.now - input.line.frontier;
    const step = planStep({
      ...input,
      now: input.line.frontier,
      policy: { ...input.policy, horizonMs: missed + input.policy.horizonMs },
    });
    return step;
  };
  expect(violationsOf(catchUp, afterAStall).join()).toContain("beyond the rate");
});

test("canary: a controller that runs ahead of the numbers issued is caught", () => {
  const ahead: Planner = (input) =>
    planStep({ ...input, held: [run(input.line.nextNumber, input.line.nextNumber + 100_000)] });
  const world = new World({ ...busy, plan: ahead });
  world.join(10);
  for (let second = 0; second < 60; second += 1) world.tick();
  expect(wrongWith(world).join()).toContain("nobody holds");
  expect(wrongWith(world).join()).toContain("ran ahead");
});

const changed =
  (change: (step: Step, input: StepInput) => Step): Planner =>
  (input) =>
    change(planStep(input), input);

test("canary: a controller one slot in five hundred too fast is caught", () => {
  const fast: Planner = (input) =>
    planStep({
      ...input,
      policy: { ...input.policy, ratePerMinute: input.policy.ratePerMinute + 1 },
    });
  const world = new World({ ...busy, plan: fast });
  world.join(50_000);
  for (let second = 0; second < 600; second += 1) world.tick();
  expect(wrongWith(world).join()).toContain("beyond the rate");
});

test("canary: a controller that goes on at the rate of before a planned step is caught", () => {
  const late: Planner = (input) => {
    const { policy, line, now } = input;
    const { ratePerMinute } = rateAt(policy, Math.max(line.frontier, now));
    return planStep({ ...input, policy: { ...policy, ratePerMinute, ratePlan: [] } });
  };
  const ratePlan = [{ at: START + 200_000, ratePerMinute: 30 }];
  for (const [plan, caught] of [
    [planStep, false],
    [late, true],
  ] as const) {
    const world = new World({ policy: policyOf({ ratePlan }), plan });
    world.join(10_000);
    for (let second = 0; second < 400; second += 1) world.tick();
    expect(wrongWith(world).join().includes("beyond the rate")).toBe(caught);
  }
});

test("canary: a controller that takes a stall for more budget than there is is caught", () => {
  const generous: Planner = (input) =>
    planStep({ ...input, policy: { ...input.policy, approximationBudget: 40 } });
  for (const [plan, caught] of [
    [planStep, false],
    [generous, true],
  ] as const) {
    const world = new World({ policy: policyOf({ approximationBudget: 20 }), plan });
    world.join(50_000);
    for (let second = 0; second < 300; second += 1) world.tick();
    world.tick(120_000);
    for (let second = 0; second < 300; second += 1) world.tick();
    expect(wrongWith(world).join().includes("beyond the rate")).toBe(caught);
  }
});

test("canary: a controller that gives a lapse back twice is caught", () => {
  const twice = changed((step, input) => ({
    ...step,
    line: {
      ...step.line,
      giveBackMicro: Math.max(step.line.giveBackMicro, input.line.giveBackMicro),
    },
  }));
  expect(violationsOf(twice, () => undefined).join()).toMatch(/beyond the rate|given back/);
});

test("canary: a controller that moves its frontier back with the clock is caught", () => {
  const follows: Planner = (input) =>
    planStep({
      ...input,
      line: { ...input.line, frontier: Math.min(input.line.frontier, input.now) as EpochMs },
    });
  expect(violationsOf(follows, (world) => void world.tick(-30_000)).join()).toContain("overlaps");
});

test("canary: a fresh slot that nobody has a credit for is caught", () => {
  const world = new World({ ...busy, noShow: 0.1 });
  world.join(2_000);
  for (let second = 0; second < 300; second += 1) world.tick();
  world.credit(0.2);
  for (let second = 0; second < 120; second += 1) world.tick();
  expect(world.credited).toBeGreaterThan(10);
  expect(wrongWith(world)).toEqual([]);
  expect(numberViolations(world.history, world.isHeld).join()).toContain("two slots");
});

test("people with a credit get the next slots within the rate, and maxAdmissions counts people", () => {
  const policy = { ...busy.policy, maxAdmissions: 500 };
  const world = new World({ policy, claimWindowMs: 20_000 });
  world.join(2_000);
  for (let second = 0; second < 180; second += 1) world.tick();
  expect(world.line.granted).toBe(500);
  expect(world.openings()).toHaveLength(500);
  world.credit(1);
  expect(world.line.granted).toBe(0);
  for (let second = 0; second < 180; second += 1) world.tick();
  expect(world.line.granted).toBe(500);
  expect(world.openings()).toHaveLength(1_000);
  expect(wrongWith(world)).toEqual([]);
});
