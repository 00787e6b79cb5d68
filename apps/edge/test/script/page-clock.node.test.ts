/** What the page does while the location that answers it has a clock that is wrong. */
import { expect, test } from "vitest";
import { NOW } from "../event.ts";
import { ScriptWorld } from "./script-world.ts";

/** Numbers 1 to 100 open over 100 s, the first of them in 20 s. */
const SOON = { segments: [{ base: 1, count: 100, from: NOW + 20_000, until: NOW + 120_000 }] };
const FAULT = { fault: "clock" } as const;
const claimed = () => ({
  status: 201,
  body: { opensAt: NOW + 20_000, closesAt: NOW + 620_000 },
});

test("says so and shows no turn while it lasts; the turn is taken up in time, and gone into when it is over", async () => {
  const world = new ScriptWorld({ number: 1, drip: { ...SOON, ...FAULT } });
  world.grant = claimed;
  await world.pass(60_000);
  expect(world.states).toEqual(["clock"]);
  expect(world.text("headline")).toBe("A technical fault on our side");
  expect([world.isShown("enter"), world.isShown("place")]).toEqual([false, true]);
  expect([world.times("admissions").length, world.reloads]).toEqual([1, 0]);
  // Seen soon, whenever it is mended.
  const polls = world.times("drip");
  for (const [index, at] of polls.slice(1).entries()) {
    expect(at - (polls[index] ?? 0)).toBeLessThanOrEqual(10_100);
  }
  world.say(SOON);
  await world.pass(15_000);
  expect([world.times("admissions").length, world.reloads > 0]).toEqual([1, true]);
});

test("a place that is not taken yet is taken meanwhile", async () => {
  const world = new ScriptWorld({ drip: FAULT, condition: "clock" });
  world.grant = () => ({ status: 201, body: { event: "demo", number: 812, issuedAt: NOW } });
  await world.pass(5_000);
  expect(world.state).toBe("clock");
  expect(world.text("number")).toBe("812");
  expect(world.text("lead")).toContain("Your place is kept");
});

test("whoever was in before goes back within 20 s of its end, and not before", async () => {
  const world = new ScriptWorld({
    ...{ number: 1, drip: FAULT, condition: "clock", returns: true, back: "/events/demo" },
  });
  await world.pass(120_000);
  expect([world.replaced, world.state]).toEqual([[], "clock"]);
  world.say({});
  await world.pass(20_000);
  expect(world.replaced[0]).toBe("/events/demo");
  // Its slot is listed no more: that is not called missed.
  expect(world.states).toEqual(["clock"]);
});

test("a page of one location that is right, and another that is wrong, is not loaded again and again at once", async () => {
  const world = new ScriptWorld({ number: 1, drip: {}, condition: "clock", returns: true });
  await world.pass(4_900);
  expect(world.reloads).toBe(0);
});

test("a page that had its time from that clock, before it was found, goes by the mint's once it hears", async () => {
  const later = { segments: [{ base: 1, count: 100, from: NOW + 90_000, until: NOW + 190_000 }] };
  const data = { number: 1, drip: { ...later, ...FAULT }, now: NOW + 600_000 };
  const world = new ScriptWorld(data);
  world.grant = () => ({ status: 425, retryAfter: 60 });
  await world.pass(30_000);
  world.say(later);
  await world.pass(12_000);
  // Its turn is in 48 s, and not nine minutes ago.
  expect(world.states.filter((state) => state !== "clock")).toEqual(["known"]);
});
