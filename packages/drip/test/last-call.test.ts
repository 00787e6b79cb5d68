import * as fc from "fast-check";
import { expect, test } from "vitest";
import { lastCallInMs } from "../src/last-call.ts";
import {
  LAST_CALL_LOOK_MS,
  type PollInput,
  pollDelayMs,
  VISIBLE_DELAY_MS_MAX,
} from "../src/poll.ts";
import { seeded } from "./world.ts";

/** Any situation of a page that is visible and was answered. */
const visible = fc.record({
  random: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
  claimWindowMs: fc.integer({ min: 5_000, max: 86_400_000 }),
  untilTurnMs: fc.option(fc.integer({ min: 0, max: 600_000 }), { nil: undefined }),
  soonestMs: fc.option(fc.integer({ min: 0, max: 86_400_000 }), { nil: undefined }),
});
const advice = fc.integer({ min: 1, max: 3_600_000 });

test("a last call is a function of time: it begins and ends by itself, while nothing has stopped the sale", () => {
  const lastCall = { from: 10_000, until: 20_000 };
  const at = (now: number, state = "open") => lastCallInMs({ state, lastCall }, now);
  expect([at(0), at(9_999), at(10_000), at(19_999)]).toEqual([10_000, 1, 0, 0]);
  expect([at(20_000), at(30_000)]).toEqual([undefined, undefined]);
  // Known before the opening, whatever the statement in hand calls the state until then.
  expect([at(0, "scheduled"), at(10_000, "prequeue")]).toEqual([10_000, 0]);
  for (const state of ["paused", "soldout", "ended"]) expect(at(15_000, state)).toBeUndefined();
  expect(lastCallInMs({ state: "open" }, 0)).toBeUndefined();
  expect(
    lastCallInMs({ state: "open", lastCall: { from: 5, until: 5 } }, 5),
    "a span of nothing",
  ).toBeUndefined();
});

test("in a last call every visible page looks about every second, wherever it stands, its turn known or not", () => {
  fc.assert(
    fc.property(visible, (input) => {
      const delay = pollDelayMs({ ...input, lastCallInMs: 0 });
      expect(delay).toBeGreaterThanOrEqual(LAST_CALL_LOOK_MS.min);
      expect(delay).toBeLessThanOrEqual(LAST_CALL_LOOK_MS.max);
    }),
  );
});

test("one that is to begin is begun with, and until then nothing is different", () => {
  fc.assert(
    fc.property(visible, fc.integer({ min: 1, max: 300_000 }), (input, lastCallInMs) => {
      const before = pollDelayMs(input);
      const delay = pollDelayMs({ ...input, lastCallInMs });
      if (before <= lastCallInMs) expect(delay).toBe(before);
      else expect(delay).toBeGreaterThanOrEqual(lastCallInMs);
      expect(delay).toBeLessThanOrEqual(Math.max(lastCallInMs + LAST_CALL_LOOK_MS.max, 1));
    }),
  );
});

test("a hidden page, and one that is not answered, look as they do without it", () => {
  fc.assert(
    fc.property(
      visible,
      fc.nat(300_000),
      fc.integer({ min: 1, max: 50 }),
      (input, ms, failures) => {
        for (const more of [{ hidden: true }, { failures }, { hidden: true, failures }]) {
          const other: PollInput = { ...input, ...more };
          expect(pollDelayMs({ ...other, lastCallInMs: ms })).toBe(pollDelayMs(other));
        }
      },
    ),
  );
});

test("whoever is told to wait waits, in a last call too, and not in step", () => {
  fc.assert(
    fc.property(visible, advice, (input, advisedMs) => {
      const delay = pollDelayMs({ ...input, advisedMs, lastCallInMs: 0 });
      expect(delay).toBeGreaterThanOrEqual(advisedMs);
    }),
  );
  const at = (random: number) =>
    pollDelayMs({ random, claimWindowMs: 180_000, advisedMs: 30_000, lastCallInMs: 0 });
  expect([at(0), at(0.5), at(0.9)]).toEqual([30_000, 37_500, 43_500]);
});

test("without one, no visible page that is answered goes without a look for longer than is stated", () => {
  fc.assert(
    fc.property(visible, (input) => {
      expect(pollDelayMs(input)).toBeLessThanOrEqual(VISIBLE_DELAY_MS_MAX);
    }),
  );
});

test("HP-07: ten thousand for whom it begins in the same moment do not look in the same moment, then or later", () => {
  const random = seeded(11);
  const slices = new Map<number, number>();
  const from = 30_000;
  for (let client = 0; client < 10_000; client += 1) {
    let at = random() * 1_000;
    while (at < from + 30_000) {
      if (at >= from) {
        const slice = Math.floor((at - from) / 100);
        slices.set(slice, (slices.get(slice) ?? 0) + 1);
      }
      at += pollDelayMs({
        random: random(),
        claimWindowMs: 180_000,
        soonestMs: 3_600_000 - at,
        lastCallInMs: Math.max(0, from - at),
      });
    }
  }
  // A look about every 0.8 s each: 1,250 in a tenth of a second.
  expect(Math.max(...slices.values())).toBeLessThan(2_000);
  expect(slices.size).toBe(300);
});
