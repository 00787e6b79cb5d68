/** A thousand sales, each with troubles of its own; and what they would say if something were wrong with us. */
import { runRandomness } from "@vestibule/testkit/run-seed";
import { describe, expect, it } from "vitest";
import { CANARIES } from "./canaries.ts";
import { planSale } from "./plan.ts";
import { describeFailure, runSales } from "./run-sales.ts";
import { Sale } from "./sale.ts";
import { simulatedKeys } from "./world/signatures.ts";

const SALES = 1_000;
const MINUTES_15 = 900_000;

describe("laws 1 to 5 and 9", () => {
  it(
    "hold after every event of a thousand sales with crashes, cuts, stalls, bad weather, wrong clocks and a database that fails and forgets; and when it is calm everybody is let in or told why not",
    { timeout: MINUTES_15 },
    async () => {
      const { failures, sales, figures } = await runSales({ first: 1, count: SALES });
      expect(failures.map((failure) => describeFailure(failure)).join("\n\n")).toBe("");
      expect(sales).toBe(SALES);
      for (const name of ["admitted", "missed", "left", "soldOut", "slots"]) {
        expect(figures).toHaveProperty(name);
        expect(figures[name]).toBeGreaterThan(SALES / 20);
      }
    },
  );

  it("one seed is one run: everything happens again, at the same moment and in the same order", async () => {
    const keys = await simulatedKeys();
    const seed = runRandomness().integer({ min: 1, max: 100_000 });
    for (const each of [1, 50, seed]) {
      const runs = [];
      for (let round = 0; round < 2; round += 1)
        runs.push(await new Sale(planSale(each), keys).run());
      const [first, second] = runs.map(({ digest, events, broken }) => ({
        digest,
        events,
        broken,
      }));
      expect(second, `seed ${each}`).toEqual(first);
    }
  });
});

describe("the canaries", () => {
  it.for(CANARIES)(
    "$name: a law says so within $salesMax sales",
    { timeout: MINUTES_15 },
    async ({ sabotage, faults, salesMax, caughtBy }) => {
      const keys = await simulatedKeys();
      let broken: string | undefined;
      for (let seed = 1; seed <= salesMax && !caughtBy.test(broken ?? ""); seed += 1) {
        ({ broken } = await new Sale(planSale(seed, faults), keys, sabotage).run());
      }
      expect(broken).toMatch(caughtBy);
    },
  );
});
