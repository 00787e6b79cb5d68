import { expect, test } from "vitest";

import { Checks } from "../src/checks.ts";

/** Number 2 was told 20 s at 8 s, and got 30 s. */
const MOVED = { number: 2, announced: 20_000, announcedAt: 8_000, opensAt: 30_000 };
/** The sale was held from 10 s to 25 s. */
const CUT = { since: 10_000, until: 25_000 };

/** A sale in which everything is right: nothing may be said against it. */
function honest(): Checks {
  const checks = new Checks();
  checks.joined(1);
  checks.joined(2);
  checks.claimed({ number: 1, announced: 1_000, announcedAt: 0, opensAt: 1_000, cuts: [] });
  checks.triedEarly({ number: 2, letIn: false });
  checks.entered({ number: 1, opensAt: 1_000, at: 1_000 });
  checks.boughtSeats({ number: 1, orderId: "a", quantity: 2 });
  checks.repeated({ number: 1, orderId: "a" });
  checks.triedTwice({ number: 1, sold: false });
  checks.serving(1);
  checks.stock({ total: 10, sold: 5, bought: checks.bought });
  return checks;
}

test("an honest sale passes, and every look counts", () => {
  const checks = honest();
  expect(checks.violations).toEqual([]);
  expect(checks.count).toBe(14);
  expect(checks.bought).toBe(2);
});

test.each<[string, (checks: Checks) => void]>([
  ["a number given twice", (checks) => checks.joined(2)],
  ["a number that is none", (checks) => checks.joined(0)],
  ["another slot than announced", (c) => c.claimed({ ...MOVED, opensAt: 19_999, cuts: [] })],
  ["a slot that moves without a hold", (c) => c.claimed({ ...MOVED, cuts: [] })],
  [
    "a slot that moves although it opened before the hold",
    (c) => c.claimed({ ...MOVED, announced: 10_000, cuts: [CUT] }),
  ],
  [
    "a slot that moves although it was announced after the hold",
    (c) => c.claimed({ ...MOVED, announced: 26_000, announcedAt: 25_000, cuts: [CUT] }),
  ],
  ["a new slot within the hold", (c) => c.claimed({ ...MOVED, opensAt: 24_999, cuts: [CUT] })],
  ["entry before the slot", (c) => c.entered({ number: 2, opensAt: 2_000, at: 1_999 })],
  ["an early try that is let in", (checks) => checks.triedEarly({ number: 2, letIn: true })],
  ["two orders of one number", (c) => c.boughtSeats({ number: 1, orderId: "b", quantity: 1 })],
  ["one order of two numbers", (c) => c.boughtSeats({ number: 2, orderId: "a", quantity: 1 })],
  ["another order for the same key", (checks) => checks.repeated({ number: 1, orderId: "b" })],
  ["no order for the same key", (checks) => checks.repeated({ number: 1, orderId: undefined })],
  ["an admission spent twice", (checks) => checks.triedTwice({ number: 1, sold: true })],
  ["a serving number that falls", (checks) => checks.serving(0)],
  ["more sold than there is", (checks) => checks.stock({ total: 10, sold: 11, bought: 2 })],
  ["an order that was not counted", (checks) => checks.stock({ total: 10, sold: 1, bought: 2 })],
])("canary: %s is caught, and told", (_, breakIt) => {
  const told: string[] = [];
  const checks = honest();
  breakIt(checks);
  expect(checks.violationCount).toBe(1);
  const loud = new Checks({ onViolation: (text) => told.push(text) });
  loud.triedTwice({ number: 7, sold: true });
  expect(told).toEqual(["number 7 spent one admission twice"]);
});

test("a slot that a hold cut may be another one after it, and after each further hold", () => {
  const checks = new Checks();
  checks.claimed({ ...MOVED, cuts: [CUT] });
  checks.claimed({
    ...MOVED,
    announced: 10_001,
    announcedAt: 24_999,
    opensAt: 25_000,
    cuts: [CUT],
  });
  const again = { since: 26_000, until: 29_000 };
  checks.claimed({ ...MOVED, cuts: [CUT, again] });
  checks.claimed({ ...MOVED, announced: 27_000, announcedAt: 25_500, cuts: [CUT, again] });
  expect([checks.count, checks.violations]).toEqual([4, []]);
});

test("endless violations are counted, and only the first are kept", () => {
  const checks = new Checks();
  for (let time = 0; time < 1_000; time += 1) checks.triedTwice({ number: 1, sold: true });
  expect(checks.violationCount).toBe(1_000);
  expect(checks.violations.length).toBeLessThan(100);
});
