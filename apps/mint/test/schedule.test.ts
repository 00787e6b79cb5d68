import { describe, expect, it } from "vitest";
import { changeSettings, declareSoldout, end, hold, resume } from "../src/line/organizer.ts";
import { openings, tooFast, twice } from "./support/exactness.ts";
import { codeOf, memoryWorld, type World } from "./support/world.ts";
import type { MemoryStore } from "./support/memory-store.ts";

const START = 1_767_225_600_000;
const MINUTE = 60_000;
const deed = { actor: "test" };
const slots = (world: World<MemoryStore>) => openings(world.store.committed("spring"));
/** Nobody's slot lapses while these worlds go on. */
const patient = { ratePerMinute: 120, claimWindowSeconds: 3_600, lifetimeSeconds: 3_600 };

describe("a scheduled start", () => {
  it("opens at its moment, in the order of the numbers, and a long wait before it earns nothing", async () => {
    const startsAt = START + 20 * MINUTE;
    const world = await memoryWorld({ ...patient, joinableAt: START, startsAt });
    await world.joinMany(400);
    await world.pass(20 * MINUTE - 1);
    expect(slots(world)).toEqual([]);
    expect((await world.drip()).state).toBe("prequeue");
    await world.pass(2 * MINUTE);
    const all = slots(world);
    expect(all[0]!.at).toBeGreaterThanOrEqual(startsAt);
    expect(all[0]!.at).toBeLessThan(startsAt + 1_000);
    expect(all.map(({ n }) => n)).toEqual(all.map((_, index) => index + 1));
    expect(tooFast(all, { ratePerMinute: 120 })).toBeUndefined();
  });

  it("a hold that is on then lets nobody in; after it the rate goes on from the first number", async () => {
    const startsAt = START + MINUTE;
    const world = await memoryWorld({ ...patient, joinableAt: START, startsAt });
    await world.joinMany(200);
    await hold(world.line, { scope: "all" }, deed);
    await world.pass(5 * MINUTE);
    expect(slots(world)).toEqual([]);
    await resume(world.line, deed);
    const resumed = world.clock.now();
    await world.pass(30_000);
    expect(slots(world)[0]).toEqual({ n: 1, at: resumed });
    expect(tooFast(slots(world), { ratePerMinute: 120 })).toBeUndefined();
  });
});

describe("a scheduled end", () => {
  it("gives no slot from then on, and every one before; an end that is moved later lets the drip go on", async () => {
    const world = await memoryWorld({ ...patient, endsAt: START + 2 * MINUTE });
    await world.joinMany(1_000);
    await world.tick();
    await world.pass(2 * MINUTE - 1_000);
    expect(slots(world).every(({ at }) => at < START + 2 * MINUTE)).toBe(true);
    expect(slots(world)).toHaveLength(240);
    await changeSettings(world.line, { endsAt: START + 3 * MINUTE }, deed);
    await world.pass(30_000);
    expect(slots(world)).toHaveLength(360);
    expect(tooFast(slots(world), { ratePerMinute: 120 })).toBeUndefined();
    expect(twice(slots(world))).toEqual([]);
    await world.pass(31_000);
    expect((await world.drip()).state).toBe("ended");
    const fan = world.fan();
    expect(await codeOf(world.join(fan))).toBe("event-ended");
  });

  it("that is said by word acts at once, for good", async () => {
    const world = await memoryWorld(patient);
    await world.joinMany(500);
    await world.pass(10_000);
    const before = slots(world).length;
    await end(world.line, deed);
    expect((await world.drip()).state).toBe("ended");
    await world.pass(MINUTE);
    expect(slots(world)).toHaveLength(before);
    expect(await codeOf(changeSettings(world.line, { ratePerMinute: 5 }, deed))).toBe(
      "event-ended",
    );
  });
});

describe("sold out by the organizer's word", () => {
  it("stops the drip at once, everybody who looks is told, and who has a slot keeps it", async () => {
    const world = await memoryWorld(patient);
    const fans = await world.joinMany(500);
    await world.pass(10_000);
    const before = slots(world).length;
    await declareSoldout(world.line, deed);
    expect((await world.drip()).state).toBe("soldout");
    await world.pass(5 * MINUTE);
    expect(slots(world)).toHaveLength(before);
    expect((await world.claim(fans[3]!)).opensAt).toBe(slots(world)[3]!.at);
    expect(await codeOf(world.claim(fans[400]!))).toBe("sold-out");
    expect(await codeOf(world.join(world.fan()))).toBe("sold-out");
  });
});

describe("the clock", () => {
  it("of the mint set back or forward, and a process that was stopped: no burst, no number twice, no slot moved", async () => {
    const world = await memoryWorld({ ...patient, horizonSeconds: 30 });
    await world.joinMany(3_000);
    await world.pass(20_000);
    for (const step of [-25_000, 20_000, 90_000, -80_000, 600_000, 5_000]) {
      const before = slots(world);
      const committed = world.store.committed("spring").length;
      world.clock.advance(step);
      await world.tick();
      await world.pass(40_000);
      const after = world.store.committed("spring");
      expect(openings(after.slice(0, committed))).toEqual(before);
      expect(tooFast(slots(world), { ratePerMinute: 120 })).toBeUndefined();
      expect(twice(slots(world))).toEqual([]);
    }
  });
});
