import fc from "fast-check";
import { expect, test } from "vitest";

import { retryDelayMs } from "../src/retry-delay.ts";

test("the first attempt comes at once, and however many failed the next is half a second away", () => {
  expect(retryDelayMs(0, 0)).toBe(25);
  expect(retryDelayMs(3, 0)).toBe(200);
  const property = fc.property(
    fc.nat(),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (attempts, random) => {
      const delayMs = retryDelayMs(attempts, random);
      expect(delayMs).toBeLessThanOrEqual(500);
      expect(delayMs).toBeGreaterThanOrEqual(12);
      if (attempts > 5) expect(delayMs).toBeGreaterThanOrEqual(250);
    },
  );
  fc.assert(property);
});
