import * as fc from "fast-check";
import { expect, test } from "vitest";
import { bandOf } from "../src/band.ts";

test("a band is never below the figure, at most two and a half times it, exact for nobody who has ten or fewer left", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000_000_000 }), (count) => {
      const band = bandOf(count);
      expect(band).toBeGreaterThanOrEqual(count);
      if (count >= 10) expect(band).toBeLessThanOrEqual(2.5 * count);
      expect(bandOf(band)).toBe(band);
      expect(bandOf(count + 1)).toBeGreaterThanOrEqual(band);
      expect(String(band)).toMatch(/^(?:9|[125]0+)$/);
    }),
  );
});

test("fewer than ten is one band; nothing is nothing; the series is 10, 20, 50", () => {
  expect([1, 2, 8, 9].map(bandOf)).toEqual([9, 9, 9, 9]);
  expect([0, -3].map(bandOf)).toEqual([0, 0]);
  expect([10, 11, 20, 21, 50, 51, 100, 101, 999, 1_000].map(bandOf)).toEqual([
    10, 20, 20, 50, 50, 100, 100, 200, 1_000, 1_000,
  ]);
});
