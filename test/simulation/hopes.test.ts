/** Whoever is told that they are unlikely to get one hardly ever has the chance; and it does not come and go. */
import { runRandomness } from "@vestibule/testkit/run-seed";
import { expect, it } from "vitest";
import { BASKETS, type Hope, hopesOf, truthOf } from "./estimates/hopes.ts";

const SALES = 20;
const MINUTES_2 = 120_000;

/** Who comes buys one at least, on the average: what the page reckons with. */
const asReckoned = BASKETS.filter(
  ({ basket }) => basket.reduce((sum, pieces) => sum + pieces, 0) >= basket.length,
);

it.for(asReckoned.map((one, salt) => ({ ...one, salt })))(
  "most of those who are told get none, and nearly all who get none are told, where $name",
  { timeout: MINUTES_2 },
  async ({ basket, salt }) => {
    const random = runRandomness(200 + salt);
    const hopes: Hope[] = [];
    for (let sale = 0; sale < SALES; sale += 1)
      hopes.push(...(await hopesOf(basket, random.integer({ min: 1, max: 2 ** 31 }))));
    const { told, right, warned, changes } = truthOf(hopes);
    expect(told).toBeGreaterThan(50);
    expect(right).toBeGreaterThan(85);
    expect(warned).toBeGreaterThan(85);
    expect(changes).toBeLessThanOrEqual(4);
  },
);
