import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeClock } from "../src/judge-clock.ts";

test.each([
  [0, 0, 5, "good"],
  [2_500, 0, 5, "good"],
  [2_501, 0, 5, "warn"],
  [5_000, 0, 5, "warn"],
  [5_001, 0, 5, "wrong"],
  [5_100, 100, 5, "warn"],
  [5_101, 100, 5, "wrong"],
  [2_600, 100, 5, "good"],
  [2_601, 100, 5, "warn"],
  [600_000, 200, 60, "wrong"],
  [4_000, 2_000, 5, "unknown"],
  [0, 5_000, 5, "good"],
  [0, 5_001, 5, "unknown"],
  [500, 0, 0, "good"],
  [1_000, 0, 0, "warn"],
  [1_001, 0, 0, "wrong"],
] as const)(
  "%d ms off, give or take %d ms, is for a tolerance of %d s: %s, in both directions",
  (offsetMs, uncertaintyMs, skewSeconds, state) => {
    expect(judgeClock({ offsetMs, uncertaintyMs }, skewSeconds)).toBe(state);
    expect(judgeClock({ offsetMs: -offsetMs, uncertaintyMs }, skewSeconds)).toBe(state);
  },
);

test("no estimate says nothing", () => {
  expect(judgeClock(undefined, 5)).toBe("unknown");
});

test("a clock within the tolerance is never called wrong, and one beyond it never good, however rough the estimate", () => {
  const drawn = fc.record({
    trueMs: fc.integer({ min: -600_000, max: 600_000 }),
    uncertaintyMs: fc.integer({ min: 0, max: 100_000 }),
    error: fc.double({ min: -1, max: 1, noNaN: true }),
    skewSeconds: fc.integer({ min: 0, max: 60 }),
  });
  fc.assert(
    fc.property(drawn, ({ trueMs, uncertaintyMs, error, skewSeconds }) => {
      const offsetMs = trueMs + Math.trunc(error * uncertaintyMs);
      const state = judgeClock({ offsetMs, uncertaintyMs }, skewSeconds);
      const toleranceMs = Math.max(1, skewSeconds) * 1_000;
      const beyond = Math.abs(trueMs) > toleranceMs;
      expect(state).not.toBe(beyond ? "good" : "wrong");
      if (Math.abs(trueMs) <= toleranceMs / 2) expect(state).not.toBe("warn");
    }),
  );
});
