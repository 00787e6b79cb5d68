import { describe, expect, it } from "vitest";

import { quantile, spreadOf } from "../src/statistics.ts";

describe("statistics", () => {
  it("takes the middle of an odd number of values and the mean of the middle two of an even one", () => {
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
    expect(quantile([4, 1, 2, 3], 0.5)).toBe(2.5);
  });

  it("names the quartiles and the number of rounds", () => {
    expect(spreadOf([1, 2, 3, 4, 5])).toEqual({ median: 3, low: 2, high: 4, rounds: 5 });
  });

  it("refuses to speak of nothing", () => {
    expect(() => quantile([], 0.5)).toThrow(RangeError);
  });
});
