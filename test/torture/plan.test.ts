import { runRandomness } from "@vestibule/testkit/run-seed";
import { expect, it } from "vitest";

import { FAULT_KINDS, planFaults } from "./plan.ts";

const TERMS = { mints: 3, purchases: 2, hasStore: true, pace: { min: 500, max: 4_500 } };

it("one seed is one order of faults", () => {
  const { seed } = runRandomness();
  const [first, second] = [1, 2].map(() => planFaults({ ...TERMS, seed, faults: 100 }));
  expect(first).toEqual(second);
  expect(planFaults({ ...TERMS, seed: seed + 1, faults: 100 })).not.toEqual(first);
});

it("few faults have the ones that the laws need, many have every kind, and none is of a store that is not there", () => {
  const { seed } = runRandomness();
  const kinds = (faults: number, hasStore = true): ReadonlySet<string> =>
    new Set(planFaults({ ...TERMS, seed, faults, hasStore }).map(({ kind }) => kind));
  expect([...kinds(10)]).toEqual(
    expect.arrayContaining(["all mints: stopped", "mint: killed", "database: restarted"]),
  );
  expect(kinds(2_000).size).toBe(Object.keys(FAULT_KINDS).length);
  expect([...kinds(2_000, false)].filter((kind) => kind.startsWith("store"))).toEqual([]);
});
