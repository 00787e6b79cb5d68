import { expect, test } from "vitest";
import { changePolicy } from "../src/change-policy.ts";
import { lawThreeViolations } from "./law-three.ts";
import { policyOf, START, World } from "./world.ts";

const MINUTE = 60_000;
const tick = (world: World, seconds: number): void => {
  for (let second = 0; second < seconds; second += 1) world.tick();
};
const opened = (world: World, from: number, until: number): number =>
  world.openings().filter((at) => at >= from && at < until).length;

/** A full line that has been open for two minutes, and the moment. */
function running(approximationBudget: number, noShow = 0): World {
  const world = new World({ policy: policyOf({ approximationBudget }), noShow });
  world.join(100_000);
  world.step();
  tick(world, 120);
  return world;
}

test("without a budget nothing is ever made up for", () => {
  const world = running(0);
  world.tick(100_000);
  const back = world.now;
  tick(world, 300);
  expect(opened(world, back, back + 4 * MINUTE)).toBeLessThanOrEqual(2_000 + 1);
});

test("a sale begins with its budget, at no more than rate × overdrive", () => {
  const world = running(100);
  expect(opened(world, START, START + 10_000)).toBeLessThanOrEqual(125 + 1);
  expect(opened(world, START, START + MINUTE)).toBeGreaterThanOrEqual(598);
  expect(opened(world, START, START + MINUTE)).toBeLessThanOrEqual(600 + 1);
  expect(world.line.giveBackMicro).toBe(0);
});

test("a stall is made up for: what it cost when the budget is more, else the budget", () => {
  for (const [stallMs, owed] of [
    [67_000, 50],
    [120_000, 100],
    [3_600_000, 100],
  ] as const) {
    const world = running(100);
    const { frontier } = world.line;
    world.now = frontier - 60_000;
    world.tick(stallMs);
    const back = world.now;
    const missed = ((back - frontier) * 500) / MINUTE;
    tick(world, 300);
    const more = opened(world, back, back + 4 * MINUTE) - 2_000;
    expect(more).toBeGreaterThanOrEqual(Math.min(missed, owed) - 3);
    expect(more).toBeLessThanOrEqual(Math.min(missed, 100) + 1);
    expect(lawThreeViolations(world.history)).toEqual([]);
  }
});

test("a quiet time earns up to the budget, however long it is, and a tick of it writes nothing", () => {
  const world = new World({ policy: policyOf({ approximationBudget: 40 }) });
  world.join(60);
  world.step();
  tick(world, 600);
  const { line } = world;
  tick(world, 600);
  expect(world.line).toBe(line);
  world.join(100_000);
  const from = world.now + 1_000; // the next tick
  tick(world, 120);
  expect(opened(world, from, from + MINUTE)).toBeGreaterThanOrEqual(538);
  expect(opened(world, from, from + MINUTE)).toBeLessThanOrEqual(540 + 2);
  expect(lawThreeViolations(world.history)).toEqual([]);
});

test("a hold earns nothing: after it the rate goes on, whatever the budget", () => {
  const world = running(100);
  world.hold();
  tick(world, 600);
  world.resume();
  const back = world.now;
  tick(world, 120);
  expect(opened(world, back, back + MINUTE)).toBeLessThanOrEqual(500 + 1);
});

test("what lapsed is given back beside the budget, and never counts against it", () => {
  const world = running(50, 0.3);
  tick(world, 1_200);
  const now = world.now;
  const arrivals = world.claims.filter(
    ({ at }) => at >= now - 15 * MINUTE && at < now - 5 * MINUTE,
  );
  expect(arrivals.length / 10).toBeGreaterThan(485);
  expect(arrivals.length / 10).toBeLessThan(515);
  expect(lawThreeViolations(world.history)).toEqual([]);
});

test("a lower budget takes back what it has not spent, a change of the rate what its time would earn", () => {
  const before = policyOf({ approximationBudget: 100 });
  const line = { ...running(0).line, giveBackMicro: 70_000_000 };
  const now = running(0).now;
  const after = (changes: object, at: number) =>
    changePolicy(line, { before, after: { ...before, ...changes }, now: at as never });
  expect(after({ approximationBudget: 60 }, now)).toEqual({ ...line, giveBackMicro: 30_000_000 });
  expect(after({ approximationBudget: 0 }, now)).toEqual({ ...line, giveBackMicro: 0 });
  expect(after({ ratePerMinute: 9 }, now + 600_000)).toEqual({ ...line, frontier: now + 600_000 });
  const none = policyOf();
  const same = { before: none, after: policyOf({ ratePerMinute: 1 }), now: now as never };
  expect(changePolicy(line, same)).toBe(line);
});
