import { expect, test } from "vitest";

import { FakeClock } from "../src/fake-clock.ts";

test("time stands still until it is moved", () => {
  const clock = new FakeClock(1_000);
  expect(clock.now()).toBe(1_000);
  clock.advance(250);
  expect(clock.now()).toBe(1_250);
});

test("a twin keeps its offset and gains with its drift", () => {
  const clock = new FakeClock(0);
  const twin = clock.twin({ offsetMs: 10, partsPerMillion: 100 });
  expect(twin.now()).toBe(10);
  clock.advance(1_000_000);
  expect(twin.now()).toBe(1_000_110);
});
