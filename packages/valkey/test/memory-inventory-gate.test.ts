import { FakeClock } from "@vestibule/testkit/fake-clock";
import { expect, inject, test } from "vitest";

import { GATE_KEEP_MS, GATE_LEASE_MS } from "../src/inventory-gate.ts";
import { createMemoryInventoryGate } from "../src/memory-inventory-gate.ts";
import { describeInventoryGate } from "./support/gate-conformance.ts";

describeInventoryGate("in the process", {
  leaseMs: GATE_LEASE_MS,
  runs: inject("runs"),
  open: async () => {
    const clock = new FakeClock();
    return { gate: createMemoryInventoryGate(clock), pass: async (ms) => void clock.advance(ms) };
  },
});

test("a counter that nobody used for a day is forgotten, and its versions never come back", async () => {
  const clock = new FakeClock();
  const gate = createMemoryInventoryGate(clock);
  const of = { event: "summer-tour", sku: "floor" };
  const { version } = await gate.inspect(of);
  await gate.repair({ ...of, version, left: 5, drop: [], sold: [], sure: true });
  clock.advance(GATE_KEEP_MS - 1);
  expect((await gate.inspect(of)).left).toBe(5);
  clock.advance(GATE_KEEP_MS);
  const later = await gate.inspect(of);
  expect(later.left).toBeUndefined();
  const repair = { ...of, left: 5, drop: [], sold: [], sure: true };
  expect(await gate.repair({ ...repair, version })).toBe(false);
  expect(await gate.repair({ ...repair, version: later.version })).toBe(true);
});
