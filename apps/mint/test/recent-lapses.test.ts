import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { runRandomness } from "@vestibule/testkit/run-seed";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LAPSE_SLOTS_MAX, LAPSE_SLOTS_MIN } from "../src/limits.ts";
import { RecentLapses } from "../src/line/recent-lapses.ts";
import { memoryWorld } from "./support/world.ts";

const NOBODY = { claimed: 0, lapsed: 0 };
const drawn = (random: SeededRandomness, percent: number) => {
  const lapsed = Array.from({ length: 20 }, () => random.chance(percent)).filter(Boolean).length;
  return { claimed: 20 - lapsed, lapsed };
};

describe("the share that lapses", () => {
  it("is not told from a handful, and is from a hundred", () => {
    const lapses = new RecentLapses(NOBODY);
    for (let slots = 20; slots <= LAPSE_SLOTS_MIN; slots += 20) {
      lapses.note([{ claimed: 15, lapsed: 5 }]);
      expect(lapses.range !== undefined).toBe(slots >= LAPSE_SLOTS_MIN);
    }
    expect(lapses.range!.least).toBeLessThan(0.25);
    expect(lapses.range!.most).toBeGreaterThan(0.25);
  });

  it("is within what is told, give or take a twentieth, and what is told changes rarely while people go on as they did", () => {
    const random = runRandomness(1);
    for (const percent of [0, 5, 20, 40, 80, 100]) {
      const lapses = new RecentLapses(NOBODY);
      let [changes, last] = [0, lapses.range];
      for (let round = 0; round < 500; round += 1) {
        lapses.note([drawn(random, percent)]);
        if (lapses.range === undefined) continue;
        expect(lapses.range.least).toBeLessThanOrEqual(percent / 100 + 0.05);
        expect(lapses.range.most).toBeGreaterThanOrEqual(percent / 100 - 0.05);
        if (last !== lapses.range) changes += 1;
        last = lapses.range;
      }
      // Ten thousand slots, each its own draw.
      expect(changes).toBeLessThan(60);
    }
  });

  it("follows when people change", () => {
    const random = runRandomness(2);
    const lapses = new RecentLapses(NOBODY);
    for (let round = 0; round < 40; round += 1) lapses.note([drawn(random, 10)]);
    for (let round = 0; round < LAPSE_SLOTS_MAX / 20 + 1; round += 1) {
      lapses.note([drawn(random, 50)]);
    }
    expect(lapses.range!.least).toBeGreaterThan(0.2);
    expect(lapses.range!.most).toBeGreaterThan(0.45);
  });

  it("of a leader that takes over is that of the whole sale", () => {
    const lapses = new RecentLapses({ claimed: 70_000, lapsed: 30_000 });
    expect(lapses.range!.least).toBeGreaterThan(0.1);
    expect(lapses.range!.most).toBeLessThan(0.5);
    expect(new RecentLapses({ claimed: -3, lapsed: 0 }).range).toBeUndefined();
  });

  it("is a range of shares whatever is counted", () => {
    const counts = fc.record({ claimed: fc.nat({ max: 500 }), lapsed: fc.nat({ max: 500 }) });
    fc.assert(
      fc.property(fc.array(counts, { maxLength: 30 }), (all) => {
        const lapses = new RecentLapses(NOBODY);
        for (const one of all) lapses.note([one]);
        const { least, most } = lapses.range ?? { least: 0, most: 1 };
        expect(0 <= least && least <= most && most <= 1).toBe(true);
      }),
    );
  });
});

describe("the pace of the statement", () => {
  it("is there when enough slots are settled, outlasts a crash, and never leaves 100 to the overdrive", async () => {
    const world = await memoryWorld({
      ...{ ratePerMinute: 600, claimWindowSeconds: 10, overdrivePercent: 200 },
    });
    const fans = await world.joinMany(2_000);
    expect((await world.drip()).pace).toBeUndefined();
    for (let [second, asked] = [0, 0]; second < 60; second += 1) {
      await world.pass(1_000);
      const { serving, pace } = await world.drip();
      // Four in five come.
      for (const fan of fans.slice(asked, serving)) {
        if (fan.place.number % 5 > 0) await world.claim(fan);
      }
      asked = serving;
      if (pace === undefined) continue;
      expect(pace[0]).toBeGreaterThanOrEqual(100);
      expect(pace[1]).toBeLessThanOrEqual(200);
    }
    const { pace } = await world.drip();
    expect(pace![0]).toBeGreaterThan(101);
    const { come } = await world.drip();
    expect(come).toBeGreaterThan(50);
    expect(come).toBeLessThanOrEqual(80);
    await world.crash();
    expect((await world.drip()).pace).toBeDefined();
  });
});
