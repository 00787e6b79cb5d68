import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type PollInput, pollDelayMs as pollDelayFor } from "../src/poll.ts";
import { seeded } from "./world.ts";

/** A window so long that nothing is due for its sake. */
const pollDelayMs = (input: Omit<PollInput, "claimWindowMs">) =>
  pollDelayFor({ claimWindowMs: 3_600_000, ...input });

const inputs = fc.record({
  random: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
  untilTurnMs: fc.option(fc.integer({ min: 0, max: 600_000 }), { nil: undefined }),
  soonestMs: fc.option(fc.integer({ min: 0, max: 86_400_000 }), { nil: undefined }),
  hidden: fc.boolean(),
  failures: fc.integer({ min: 0, max: 10_000 }),
  advisedMs: fc.option(fc.integer({ min: 0, max: 3_600_000 }), { nil: undefined }),
});

test("HP-07: a delay is whole, at least 2.5 s, bounded, and never shorter than the server's advice", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const delay = pollDelayMs(input);
      expect(Number.isSafeInteger(delay)).toBe(true);
      expect(delay).toBeGreaterThanOrEqual(Math.max(2_500, input.advisedMs ?? 0));
      expect(delay).toBeLessThanOrEqual(Math.max(900_001, 1.5 * (input.advisedMs ?? 0) + 1));
    }),
  );
});

test("HP-07: failures grow the delay up to a bound, and are spread", () => {
  const delays = [0, 1, 2, 3, 4, 5, 6, 7].map((failures) =>
    pollDelayMs({ random: 0.5, soonestMs: 0, failures }),
  );
  expect(delays).toEqual([5_000, 8_000, 16_000, 32_000, 64_000, 128_000, 240_000, 240_000]);
  expect(pollDelayMs({ random: 0, failures: 3 })).toBeLessThan(
    pollDelayMs({ random: 0.9, failures: 3 }) / 2,
  );
});

test("HP-07: the same advice to everyone does not bring everyone back in step", () => {
  const at = (random: number) => pollDelayMs({ random, soonestMs: 0, advisedMs: 60_000 });
  expect([at(0), at(0.5), at(0.9)]).toEqual([60_000, 75_000, 87_000]);
});

test("HP-06: a hidden page asks rarely, yet not after the earliest moment its turn can come", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      const { soonestMs = 0, random } = input;
      const delay = pollDelayMs({ random, hidden: true, soonestMs });
      expect(delay).toBeLessThanOrEqual(Math.max(soonestMs, 7_500) + 1);
      // Twice and a half the rate, all at once, and it still comes in time.
      expect(delay).toBeLessThanOrEqual(
        Math.min(900_001, Math.max(135_001, soonestMs * 0.375 + 1)),
      );
      expect(delay).toBeGreaterThanOrEqual(Math.min(45_000, soonestMs / 5));
    }),
  );
});

test("near a turn whose time is known there is no poll", () => {
  fc.assert(
    fc.property(inputs, fc.integer({ min: 0, max: 200_000 }), ({ random }, untilTurnMs) => {
      const delay = pollDelayMs({ random, untilTurnMs });
      expect(delay < untilTurnMs && delay > untilTurnMs - 10_000).toBe(false);
      expect(delay).toBeGreaterThanOrEqual(15_000);
    }),
  );
});

test("H3, HP-06: whoever may get a slot before the next look looks within half of the claim window, hidden or not", () => {
  const windows = fc.integer({ min: 5_000, max: 86_400_000 });
  fc.assert(
    fc.property(inputs, windows, ({ untilTurnMs: _known, ...input }, claimWindowMs) => {
      const { soonestMs = 0, advisedMs = 0, failures } = input;
      const delay = pollDelayFor({ ...input, soonestMs, claimWindowMs });
      const floor = Math.max(failures > 0 ? 10_000 : 2_000, 1.5 * advisedMs);
      if (delay > soonestMs)
        expect(delay).toBeLessThanOrEqual(Math.max(floor, claimWindowMs / 2) + 1);
      // And nobody asks without end for it.
      expect(delay).toBeGreaterThanOrEqual(660);
    }),
  );
});

test("H3: far behind it is looked for rarely, however short the claim window; near the front often, and out of step", () => {
  const delays = (soonestMs: number, hidden = false) =>
    Array.from({ length: 100 }, (_, i) =>
      pollDelayFor({ random: i / 100, claimWindowMs: 20_000, soonestMs, hidden }),
    );
  expect(Math.min(...delays(900_000))).toBeGreaterThanOrEqual(30_000);
  expect(Math.max(...delays(0))).toBeLessThanOrEqual(7_500);
  expect(Math.max(...delays(0, true))).toBeLessThanOrEqual(10_000);
  expect(new Set(delays(0)).size).toBeGreaterThan(90);
});

/** The greatest number of polls in a tenth of a second, over the mean, between two moments. */
function peakOverMean(times: readonly number[], from: number, until: number): number {
  const slices = new Map<number, number>();
  let inside = 0;
  for (const at of times) {
    if (at < from || at >= until) continue;
    const slice = Math.floor(at / 100);
    slices.set(slice, (slices.get(slice) ?? 0) + 1);
    inside += 1;
  }
  return Math.max(...slices.values()) / (inside / ((until - from) / 100));
}

test("HP-07: ten thousand who came in one second spread out, also when a minute of 503 is over", () => {
  const random = seeded(77);
  const times: number[] = [];
  for (let client = 0; client < 10_000; client += 1) {
    let at = random() * 1_000;
    let failures = 0;
    while (at < 600_000) {
      times.push(at);
      failures = at >= 240_000 && at < 300_000 ? failures + 1 : 0;
      at += pollDelayMs({
        random: random(),
        soonestMs: 3_600_000 - at,
        failures,
        advisedMs: failures > 0 ? 10_000 : undefined,
      });
    }
  }
  expect(peakOverMean(times, 90_000, 600_000)).toBeLessThan(3);
  expect(peakOverMean(times, 300_000, 420_000)).toBeLessThan(3);
});
