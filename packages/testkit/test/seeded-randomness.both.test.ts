import { expect, test } from "vitest";

import { SeededRandomness } from "../src/seeded-randomness.ts";

test("a seed repeats its bytes, and its neighbour does not", () => {
  const bytes = new SeededRandomness(7).bytes(32);
  expect(new SeededRandomness(7).bytes(32)).toEqual(bytes);
  expect(new SeededRandomness(8).bytes(32)).not.toEqual(bytes);
});

test("integers reach both ends of their range and stay inside", () => {
  const randomness = new SeededRandomness(1);
  const seen = new Set(Array.from({ length: 200 }, () => randomness.integer({ min: -1, max: 1 })));
  expect([...seen].toSorted((a, b) => a - b)).toEqual([-1, 0, 1]);
});
