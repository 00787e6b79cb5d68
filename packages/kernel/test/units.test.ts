import fc from "fast-check";
import { expect, test } from "vitest";
import { AssertionError } from "../src/assert.ts";
import { addMs, epochMs, epochSeconds, ticketNumber, toMs, toSeconds } from "../src/units.ts";

const NOT_WHOLE = [-1, 1.5, NaN, Infinity, -Infinity, 2 ** 53];

test.each(NOT_WHOLE)("%d is no moment and no place in line", (value) => {
  expect(() => epochMs(value)).toThrow(AssertionError);
  expect(() => epochSeconds(value)).toThrow(AssertionError);
  expect(() => ticketNumber(value)).toThrow(AssertionError);
});

test("places are counted from 1, moments from 0", () => {
  expect(() => ticketNumber(0)).toThrow(AssertionError);
  expect(epochMs(0)).toBe(0);
  expect(epochSeconds(0)).toBe(0);
});

test("a moment never moves to before the epoch", () => {
  expect(() => addMs(epochMs(5), -6)).toThrow(AssertionError);
});

test("a second contains exactly its thousand milliseconds", () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 45 }), (ms) => {
      const start = toMs(toSeconds(epochMs(ms)));
      expect(start).toBeLessThanOrEqual(ms);
      expect(ms - start).toBeLessThan(1000);
    }),
  );
});

test("for whole claims and a whole skew, the fraction of now changes no verdict", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1_000, max: 10_000_000 }),
      fc.integer({ min: -70, max: 70 }),
      fc.integer({ min: 0, max: 60 }),
      (nowMs, distance, skew) => {
        const whole = toSeconds(epochMs(nowMs));
        const claim = whole + distance;
        expect(claim > whole + skew).toBe(claim > nowMs / 1000 + skew);
        expect(whole >= claim + skew).toBe(nowMs / 1000 >= claim + skew);
      },
    ),
  );
});
