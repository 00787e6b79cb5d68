import { CLAIM_WINDOW_SECONDS_MAX } from "@vestibule/contracts/limits";
import { describe, expect, it } from "vitest";
import { SEGMENTS_QUICK_MAX } from "../src/limits.ts";
import { changeSettings, hold, resume } from "../src/line/organizer.ts";
import { openings, tooFast, twice } from "./support/exactness.ts";
import { codeOf, GAP, memoryWorld, type World } from "./support/world.ts";
import type { MemoryStore } from "./support/memory-store.ts";

const slots = (world: World<MemoryStore>) => openings(world.store.committed("spring"));
const deed = { actor: "test" };

describe("a quiet sale", () => {
  it("has a newcomer's slot open within 250 ms, also after an idle hour", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    await world.pass(3_600_000);
    const came = world.clock.now();
    const fan = await world.join();
    const waitMs = world.timers.nextIn();
    expect(waitMs).toBeLessThanOrEqual(250);
    world.clock.advance(waitMs!);
    world.timers.fire();
    await world.line.write(async () => {});
    expect((await world.claim(fan)).opensAt).toBeLessThanOrEqual(came + 250);
  });

  it("stays small enough to be told: with many turns open for claims newcomers come in by the second", async () => {
    const world = await memoryWorld({
      ...{ ratePerMinute: 60_000, horizonSeconds: 10 },
      ...{ claimWindowSeconds: CLAIM_WINDOW_SECONDS_MAX, lifetimeSeconds: 86_400 },
    });
    const seconds = 200;
    for (let tenth = 0; tenth < seconds * 10; tenth += 1) {
      await world.join();
      world.clock.advance(100);
      world.timers.fire();
      await world.line.write(async () => {});
      if (tenth % 10 === 9) await world.tick();
    }
    const { segments } = world.line.record;
    expect(segments.length).toBeGreaterThan(SEGMENTS_QUICK_MAX);
    expect(segments.length).toBeLessThanOrEqual(SEGMENTS_QUICK_MAX + seconds);
    expect(world.line.waitingCount()).toBeLessThanOrEqual(10);
  });

  it("earns no credit while it is idle: after an hour a crowd gets the rate, and no more", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    await world.joinMany(3);
    await world.pass(3_600_000);
    await world.joinMany(200);
    await world.pass(120_000);
    expect(tooFast(slots(world), { ratePerMinute: 60, extra: 3 })).toBeUndefined();
    expect(tooFast(slots(world).slice(3), { ratePerMinute: 60 })).toBeUndefined();
  });

  it("never lets the serving number run ahead of the numbers given", async () => {
    const world = await memoryWorld({ ratePerMinute: 6_000 });
    for (let index = 0; index < 60; index += 1) {
      if (index % 3 === 0) await world.joinMany(index % 7);
      await world.pass(1_000);
      const { serving, committed } = await world.drip();
      expect(serving).toBeLessThanOrEqual(world.line.highestIssued());
      expect(committed).toBeLessThanOrEqual(world.line.highestIssued());
    }
  });

  it("writes nothing while nothing happens", async () => {
    const world = await memoryWorld();
    await world.tick();
    const before = world.store.calls;
    await world.pass(60_000);
    expect(world.store.calls).toBe(before);
  });
});

describe("law 3, in what is stored", () => {
  it("opens no more slots in any window than the rate allows, while everybody claims", async () => {
    const world = await memoryWorld({ ratePerMinute: 137 });
    const fans = await world.joinMany(400);
    const claimed = new Set<number>();
    for (let second = 0; second < 180; second += 1) {
      await world.pass(1_000);
      for (const fan of fans) {
        const { number } = fan.place;
        if (claimed.has(number) || number >= world.line.record.progress.line.nextNumber) continue;
        await world.claim(fan);
        claimed.add(number);
      }
    }
    expect(slots(world).length).toBeGreaterThan(390);
    expect(tooFast(slots(world), { ratePerMinute: 137 })).toBeUndefined();
    expect(twice(slots(world))).toEqual([]);
  });

  it("gives lapsed slots back smoothly: within rate × overdrive, and never more than lapsed", async () => {
    const world = await memoryWorld({
      ratePerMinute: 120,
      claimWindowSeconds: 10,
      overdrivePercent: 150,
    });
    await world.joinMany(700);
    await world.pass(180_000);
    const lapsed = world.line.record.progress.lapsed;
    expect(lapsed).toBeGreaterThan(200);
    expect(tooFast(slots(world), { ratePerMinute: 180 })).toBeUndefined();
    expect(tooFast(slots(world), { ratePerMinute: 120, extra: lapsed })).toBeUndefined();
    const late = slots(world).filter(({ at }) => at < world.clock.now()).length;
    expect(late).toBeGreaterThan(120 * 3 * 1.2);
  });

  it("stops at maxAdmissions, lapsed slots not counted", async () => {
    const world = await memoryWorld({
      ratePerMinute: 600,
      claimWindowSeconds: 5,
      maxAdmissions: 10,
    });
    const fans = await world.joinMany(400);
    await world.pass(2_000);
    for (const fan of fans.slice(0, 4)) await world.claim(fan);
    for (let second = 0; second < 60; second += 1) {
      await world.pass(1_000);
      const { lapsed } = world.line.record.progress;
      expect(slots(world).length - lapsed).toBeLessThanOrEqual(10);
    }
    expect(world.line.record.progress.lapsed).toBeGreaterThan(30);
    expect((await world.store.tally("spring")).claimed).toBe(4);
  });

  it("takes a change of the rate within one horizon, and takes nothing back (QP-05)", async () => {
    const world = await memoryWorld({ ratePerMinute: 60, horizonSeconds: 10 });
    await world.joinMany(2_000);
    await world.pass(10_000);
    const before = slots(world);
    await changeSettings(world.line, { ratePerMinute: 600 }, deed);
    const changedAt = world.clock.now();
    await world.pass(30_000);
    expect(slots(world).slice(0, before.length)).toEqual(before);
    const fast = slots(world).filter(
      ({ at }) => at > changedAt + 11_000 && at <= changedAt + 26_000,
    );
    expect(fast.length).toBeGreaterThan(145);
    expect(fast.length).toBeLessThan(155);
    await changeSettings(world.line, { ratePerMinute: 60 }, deed);
    await world.pass(10_000);
    await world.drip();
  });
});

describe("a hold", () => {
  it("acts at once, and while it lasts nobody whose slot comes after it gets an admission", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    const fans = await world.joinMany(20);
    await world.tick();
    await world.pass(5_000);
    await hold(world.line, { scope: "entries", reason: "the till is slow" }, deed);
    expect(await codeOf(world.claim(fans[5]!))).toBe("ok");
    expect(await codeOf(world.claim(fans[6]!))).toBe("held");
    const held = await world.drip();
    expect(held).toMatchObject({ state: "paused", heldSince: world.clock.now(), serving: 6 });
    expect(held.heldReason).toBe("the till is slow");
    await world.pass(60_000);
    expect((await world.drip()).serving).toBe(6);
    expect(await codeOf(world.claim(fans[5]!))).toBe("ok");
    expect(await codeOf(world.claim(fans[6]!))).toBe("held");
  });

  it("QP-11: keeps the order over pause, crash and resume; joiners go behind; no burst", async () => {
    const world = await memoryWorld({ ratePerMinute: 600, claimWindowSeconds: 30 });
    const fans = await world.joinMany(1_000);
    await world.pass(10_000);
    for (const fan of fans.slice(0, 60)) await world.claim(fan);
    await hold(world.line, { scope: "all", reason: "" }, deed);
    expect(await world.drip()).not.toHaveProperty("heldReason");
    const heldSince = world.clock.now();
    const before = slots(world).filter(({ at }) => at <= heldSince);
    const late = await world.joinMany(200);
    await world.pass(20_000);
    await world.crash();
    await world.pass(20_000);
    const resumedAt = world.clock.now();
    await resume(world.line, deed);
    for (let second = 0; second < 150; second += 1) await world.pass(1_000);
    const all = slots(world);
    expect(twice(all)).toEqual([]);
    expect(all.slice(0, before.length)).toEqual(before);
    expect(all.filter(({ at }) => at > heldSince && at < resumedAt)).toEqual([]);
    const order = all.map(({ n }) => n);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(order).toHaveLength(1_200);
    expect(Math.min(...late.map(({ place }) => place.number))).toBeGreaterThan(1_000);
    const lapsed = world.line.record.progress.lapsed;
    expect(tooFast(all, { ratePerMinute: 900 })).toBeUndefined();
    expect(tooFast(all, { ratePerMinute: 600, extra: lapsed })).toBeUndefined();
  });

  it("gives cut numbers a new slot first in line, and the same admission id in it", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    const fans = await world.joinMany(100);
    await world.tick();
    const early = await world.claim(fans[30]!);
    await hold(world.line, { scope: "entries", reason: "" }, deed);
    await world.pass(5_000);
    await resume(world.line, deed);
    const anew = await world.claim(fans[30]!);
    expect(anew.opensAt).toBeGreaterThan(early.opensAt);
    const claims = (text: string) =>
      JSON.parse(Buffer.from(text.split(".")[1]!, "base64url").toString()) as { jti: string };
    expect(claims(anew.admission).jti).toBe(claims(early.admission).jti);
    const { cuts, segments } = await world.drip();
    expect(cuts).toHaveLength(1);
    expect(segments.some(({ cutAfter }) => cutAfter === cuts[0]?.since)).toBe(true);
    await world.pass(200_000);
    const order = slots(world).map(({ n }) => n);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(tooFast(slots(world), { ratePerMinute: 90 })).toBeUndefined();
  });

  it("is loosened by nothing but words: a second press without any changes nothing", async () => {
    const world = await memoryWorld();
    await hold(world.line, { scope: "all", reason: "the till" }, deed);
    const { hold: first } = world.line.record.facts;
    await world.pass(2_000);
    await hold(world.line, {}, deed);
    expect(world.line.record.facts.hold).toEqual(first);
    await hold(world.line, { scope: "entries" }, deed);
    expect(world.line.record.facts.hold).toEqual({ ...first, scope: "entries" });
  });

  it("goes on after a resume also when everybody had claimed ahead", async () => {
    const world = await memoryWorld({ ratePerMinute: 60, claimWindowSeconds: 20 });
    const fans = await world.joinMany(40);
    await world.tick();
    for (const fan of fans.slice(0, 10)) await world.claim(fan);
    await hold(world.line, { scope: "entries", reason: "" }, deed);
    await world.pass(5_000);
    await resume(world.line, deed);
    const late = await world.join();
    await world.pass(90_000);
    expect(slots(world).map(({ n }) => n)).toEqual([
      ...fans.map(({ place }) => place.number),
      late.place.number,
    ]);
    // The first slot had opened. Whoever claimed one that was cut, and not the new one, has not come.
    const { claimed, lapsed } = await world.store.tally("spring");
    expect({ claimed, lapsed }).toEqual({ claimed: 1, lapsed: 40 });
  });

  it("cannot end within its own second", async () => {
    const world = await memoryWorld();
    await hold(world.line, { scope: "entries", reason: "" }, deed);
    expect(await codeOf(resume(world.line, deed))).toBe("conflict");
    world.clock.advance(1_000);
    expect(await codeOf(resume(world.line, deed))).toBe("ok");
    expect(await codeOf(resume(world.line, deed))).toBe("conflict");
  });

  it("counts no slot twice when holds follow each other", async () => {
    const world = await memoryWorld({ ratePerMinute: 300, claimWindowSeconds: 20 });
    await world.joinMany(500);
    for (let round = 0; round < 6; round += 1) {
      await world.pass(7_000);
      await hold(world.line, { scope: "entries", reason: "" }, deed);
      await world.pass(3_000);
      await resume(world.line, deed);
      await world.drip();
    }
    await world.pass(120_000);
    const all = slots(world);
    expect(twice(all)).toEqual([]);
    expect(all).toHaveLength(500);
    const { claimed, lapsed } = await world.store.tally("spring");
    expect(claimed + lapsed).toBe(500);
    expect(tooFast(all, { ratePerMinute: 450 })).toBeUndefined();
  });
});

describe("after a crash", () => {
  it("MH-03: repeats no number, spends no drip on gaps, and counts people", async () => {
    const world = await memoryWorld({ ratePerMinute: 600 });
    const numbers = new Set<number>();
    let joined = 0;
    for (let crash = 0; crash < 10; crash += 1) {
      for (const { place } of await world.joinMany(25)) {
        expect(numbers.has(place.number)).toBe(false);
        numbers.add(place.number);
        joined += 1;
      }
      await world.tick();
      await world.crash();
    }
    const last = await world.join();
    await world.pass(60_000);
    // Everybody who was given a number had a slot, and nobody else.
    expect(slots(world)).toHaveLength(joined + 1);
    expect(new Set(slots(world).map(({ n }) => n))).toEqual(numbers.add(last.place.number));
    expect(last.place.number).toBeGreaterThan(10 * GAP);
    expect(world.line.issuedCount()).toBe(joined + 1);
    const taken = slots(world).at(-1)!.at - slots(world)[0]!.at;
    expect(taken).toBeLessThan(((joined + 1) / 600) * 60_000 * 1.2 + 10 * 3_001);
  });

  it("shows the gap to those behind it: people ahead, not numbers", async () => {
    const { aheadOf } = await import("@vestibule/drip/estimate");
    const world = await memoryWorld({ ratePerMinute: 1 });
    await world.joinMany(100);
    await world.tick();
    await world.crash();
    const fan = await world.join();
    const view = await world.drip();
    expect(view.skips.length).toBeGreaterThan(0);
    expect(aheadOf(fan.place.number, view, world.clock.now())).toBeLessThanOrEqual(100);
    expect(aheadOf(fan.place.number, view, world.clock.now())).toBeGreaterThanOrEqual(98);
  });

  it("gives a number in doubt its slot when its holder shows up, also when nobody else comes", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    await world.joinMany(5);
    await world.tick();
    const doubtful = await world.joinMany(3); // given, and not yet written down
    await world.crash();
    await world.pass(60_000);
    const { committed, segments } = await world.drip();
    expect(committed).toBeGreaterThanOrEqual(doubtful[2]!.place.number);
    expect(segments.reduce((sum, { count }) => sum + count, 0)).toBe(5);
    expect(await codeOf(world.claim(doubtful[1]!))).toBe("too-early");
    expect(await codeOf(world.claim(doubtful[1]!))).toBe("too-early");
    await world.tick();
    expect((await world.claim(doubtful[1]!)).opensAt).toBeLessThanOrEqual(
      world.clock.now() + 1_000,
    );
    expect(twice(slots(world))).toEqual([]);
    expect(slots(world)).toHaveLength(6);
  });

  it("gives whoever shows a ticket in doubt their place back", async () => {
    const world = await memoryWorld({ ratePerMinute: 1 });
    await world.joinMany(5);
    await world.tick();
    const [fan] = await world.joinMany(1);
    await world.crash();
    const back = await world.mint.join("spring", {
      visitor: fan!.visitor,
      ticket: fan!.place.ticket,
    });
    expect(back).toMatchObject({ fresh: false, answer: { number: 6 } });
  });

  it("loses no number at a clean stop, and leaves no gap", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    const numbers: number[] = [];
    for (let restart = 0; restart < 10; restart += 1) {
      numbers.push(...(await world.joinMany(7)).map(({ place }) => place.number));
      await world.restart();
    }
    expect(numbers).toEqual(Array.from({ length: 70 }, (_, index) => index + 1));
    expect((await world.drip()).skips).toEqual([]);
  });

  it("commits from now on after a long sleep, and never what it missed", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    await world.joinMany(1_000);
    await world.pass(30_000);
    const before = slots(world).length;
    world.clock.advance(600_000);
    const woke = world.clock.now();
    await world.tick();
    const after = slots(world).slice(before);
    expect(Math.min(...after.map(({ at }) => at))).toBeGreaterThanOrEqual(woke);
    expect(after.filter(({ at }) => at < woke + 10_000).length).toBeLessThanOrEqual(15);
  });
});
