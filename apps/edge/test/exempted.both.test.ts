import fc from "fast-check";
import { PASSES_PER_REPORT_MAX, ROUTES_PER_EVENT_MAX } from "@vestibule/contracts/limits";
import { expect, test } from "vitest";
import { createExempted } from "../src/exempted.ts";

test("whatever is reported, heard or lost on the way: each pass is told until it is heard, and none twice", () => {
  const step = fc.oneof(
    fc.record({ event: fc.constantFrom("a", "b"), rule: fc.nat(40) }),
    fc.constantFrom("lost" as const, "heard" as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const exempted = createExempted({ exempted: 0 });
      let counted = 0;
      let heard = 0;
      for (const next of steps) {
        if (typeof next === "object") {
          exempted.count({ ...next, isForMethod: false });
          counted += 1;
          continue;
        }
        const passes = exempted.pending();
        expect(passes.length).toBeLessThanOrEqual(PASSES_PER_REPORT_MAX);
        if (next === "lost") continue;
        exempted.heard(passes);
        heard += passes.reduce((sum, { count }) => sum + count, 0);
      }
      const left = Object.values(exempted.all()).flat();
      expect(left.reduce((sum, count) => sum + count, 0)).toBe(counted);
      for (let passes = exempted.pending(); passes.length > 0; passes = exempted.pending()) {
        exempted.heard(passes);
        // Heard again, as from a question that was given up: nothing that comes later is swallowed.
        exempted.heard(passes);
        heard += passes.reduce((sum, { count }) => sum + count, 0);
      }
      expect(heard).toBe(counted);
    }),
  );
});

test("whatever a statement calls a rule, what is kept is bounded; the location's own figure has all", () => {
  const seen = { exempted: 0 };
  const exempted = createExempted(seen);
  exempted.count({ event: "a", rule: ROUTES_PER_EVENT_MAX - 1, isForMethod: false });
  exempted.count({ event: "a", rule: Number.MAX_SAFE_INTEGER, isForMethod: false });
  expect(exempted.all()["a"]).toHaveLength(ROUTES_PER_EVENT_MAX);
  expect(exempted.pending()).toEqual([{ event: "a", rule: ROUTES_PER_EVENT_MAX - 1, count: 1 }]);
  expect(seen.exempted).toBe(2);
});
