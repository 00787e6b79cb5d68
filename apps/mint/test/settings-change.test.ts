import { RATE_PLAN_ENTRIES_MAX } from "@vestibule/contracts/limits";
import { describe, expect, it } from "vitest";
import { changeSettings } from "../src/line/organizer.ts";
import { openings, tooFast } from "./support/exactness.ts";
import { codeOf, memoryWorld, type World } from "./support/world.ts";
import type { MemoryStore } from "./support/memory-store.ts";

const MINUTE = 60_000;
const deed = { actor: "test" };
const slots = (world: World<MemoryStore>) => openings(world.store.committed("spring"));
const settingsOf = (world: World<MemoryStore>) => world.line.record.settings;

describe("a plan of rates", () => {
  it("holds at its moments, to the slot, and the statement says the rate of its own moment", async () => {
    const world = await memoryWorld({
      ratePerMinute: 60,
      horizonSeconds: 10,
      claimWindowSeconds: 600,
    });
    const start = world.clock.now();
    const plan = [
      { at: start + 2 * MINUTE, ratePerMinute: 600 },
      { at: start + 3 * MINUTE, ratePerMinute: 30 },
    ];
    await changeSettings(world.line, { ratePlan: plan }, deed);
    await world.joinMany(2_000);
    await world.tick();
    const opened = (from: number, until: number) =>
      slots(world).filter(({ at }) => at >= start + from && at < start + until).length;
    expect(await world.drip()).toMatchObject({
      rate: 60,
      rates: plan.map(({ at, ratePerMinute }) => [at, ratePerMinute]),
    });
    await world.pass(2 * MINUTE + 1_000);
    expect((await world.drip()).rate).toBe(600);
    await world.pass(2 * MINUTE);
    const { rate, rates } = await world.drip();
    expect([rate, rates]).toEqual([30, undefined]);
    expect(opened(0, 2 * MINUTE)).toBe(120);
    expect(opened(2 * MINUTE, 3 * MINUTE)).toBe(600);
    expect(opened(3 * MINUTE, 4 * MINUTE)).toBe(30);
    expect(tooFast(slots(world), { ratePerMinute: 600 })).toBeUndefined();
  });

  it("is told whole, however many steps it has: an estimate for the end of the line knows them all", async () => {
    const world = await memoryWorld();
    const start = world.clock.now();
    const ratePlan = Array.from({ length: RATE_PLAN_ENTRIES_MAX }, (_, index) => ({
      at: start + (index + 1) * MINUTE,
      ratePerMinute: index % 2 === 0 ? 600 : 5,
    }));
    await changeSettings(world.line, { ratePlan }, deed);
    expect((await world.drip()).rates).toHaveLength(RATE_PLAN_ENTRIES_MAX);
  });

  it("a rate that is said alone ends it; a plan that is said alone begins at the rate of now", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    const now = world.clock.now();
    const later = [{ at: now + 10 * MINUTE, ratePerMinute: 900 }];
    await changeSettings(world.line, { ratePlan: [{ at: now, ratePerMinute: 300 }] }, deed);
    expect(settingsOf(world)).toMatchObject({ ratePerMinute: 60 });
    await changeSettings(world.line, { ratePlan: later }, deed);
    expect(settingsOf(world)).toMatchObject({ ratePerMinute: 300, ratePlan: later });
    await changeSettings(world.line, { notice: "soon" }, deed);
    expect(settingsOf(world)).toMatchObject({ ratePerMinute: 300, ratePlan: later });
    await changeSettings(world.line, { ratePerMinute: 120, ratePlan: later }, deed);
    expect(settingsOf(world)).toMatchObject({ ratePerMinute: 120, ratePlan: later });
    await changeSettings(world.line, { ratePerMinute: 200 }, deed);
    expect(settingsOf(world)).toMatchObject({ ratePerMinute: 200, ratePlan: [] });
  });

  it("goes on after a crash and a takeover as if there had been none", async () => {
    const world = await memoryWorld({ ratePerMinute: 60, claimWindowSeconds: 600 });
    const at = world.clock.now() + 2 * MINUTE;
    await changeSettings(world.line, { ratePlan: [{ at, ratePerMinute: 600 }] }, deed);
    await world.joinMany(3_000);
    await world.pass(90_000);
    await world.crash();
    await world.pass(150_000);
    const fast = slots(world).filter((slot) => slot.at >= at + MINUTE && slot.at < at + 2 * MINUTE);
    expect(fast.length).toBeGreaterThanOrEqual(598);
    expect(fast.length).toBeLessThanOrEqual(600);
  });
});

describe("what may change while a sale is open", () => {
  it("horizon, overdrive and budget take hold where the committed drip ends, and move no slot", async () => {
    const world = await memoryWorld({ ratePerMinute: 600, horizonSeconds: 10 });
    await world.joinMany(3_000);
    await world.pass(20_000);
    const before = slots(world);
    const { frontier } = world.line.record.progress.line;
    const change = { horizonSeconds: 60, overdrivePercent: 300, approximationBudget: 50 };
    await changeSettings(world.line, change, deed);
    await world.pass(1_000);
    expect(slots(world).slice(0, before.length)).toEqual(before);
    expect(slots(world)[before.length]!.at).toBe(frontier);
    expect(slots(world).at(-1)!.at).toBeGreaterThan(world.clock.now() + 50_000);
    expect(settingsOf(world)).toMatchObject(change);
    expect((await world.drip()).overdrive).toBe(300);
  });

  it("a horizon is never made shorter: keys and cuts are reckoned by it, and nothing else of the change is taken", async () => {
    const world = await memoryWorld({ horizonSeconds: 60 });
    const change = { horizonSeconds: 59, overdrivePercent: 200 };
    await expect(changeSettings(world.line, change, deed)).rejects.toMatchObject({
      code: "invalid-settings",
      extensions: { errors: [{ field: "horizonSeconds" }] },
    });
    expect(settingsOf(world)).toMatchObject({ horizonSeconds: 60, overdrivePercent: 150 });
    expect(await codeOf(changeSettings(world.line, { horizonSeconds: 60 }, deed))).toBe("ok");
  });

  it("a budget that is taken away opens nothing any more", async () => {
    const world = await memoryWorld({ ratePerMinute: 60, approximationBudget: 100 });
    await world.joinMany(1_000);
    await world.tick();
    await changeSettings(world.line, { approximationBudget: 0 }, deed);
    const { frontier } = world.line.record.progress.line;
    await world.pass(300_000);
    const after = slots(world).filter(({ at }) => at >= frontier);
    expect(tooFast(after, { ratePerMinute: 60, extra: world.line.record.progress.lapsed })).toBe(
      undefined,
    );
    expect(tooFast(slots(world).slice(0, 60), { ratePerMinute: 60 })).toBeDefined();
  });
});

describe("bypass rules", () => {
  it("of before there was a bound stand in no other change's way; set anew, they are held to it", async () => {
    const bypass = [{ paths: ["/spring*"] }];
    const world = await memoryWorld({ bypass, paths: ["/spring", "/spring/*"] });
    await changeSettings(world.line, { title: "Other" }, deed);
    expect(settingsOf(world)).toMatchObject({ title: "Other", bypass });
    expect(await codeOf(changeSettings(world.line, { bypass }, deed))).toBe("invalid-settings");
    const narrower = [{ paths: ["/spring*"], networks: ["192.0.2.0/24"] }];
    await changeSettings(world.line, { bypass: narrower }, deed);
    expect(settingsOf(world).bypass).toEqual(narrower);
  });
});
