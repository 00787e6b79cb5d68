/** What the purchase API reports: nothing left, and something left again. */
import type { SupplyReport } from "@vestibule/contracts/supply-api";
import { describe, expect, it } from "vitest";
import { eventView } from "../src/http/event-view.ts";
import { declareSoldout, end, hold, resume } from "../src/line/organizer.ts";
import { hearSupply } from "../src/line/supply.ts";
import { openings, tooFast } from "./support/exactness.ts";
import { codeOf, memoryWorld, type World } from "./support/world.ts";
import type { MemoryStore } from "./support/memory-store.ts";

const deed = { actor: "test" };
const out = (seq: number): SupplyReport => ({ soldOut: true, seq });
const back = (seq: number): SupplyReport => ({ soldOut: false, seq });
const viewOf = (world: World<MemoryStore>) =>
  eventView(world.mint.entry("spring"), world.clock.now());

describe("while nothing is left", () => {
  it("the statement says so at once, and no slot is committed; committed ones stay and can be claimed", async () => {
    const world = await memoryWorld();
    const fans = await world.joinMany(200);
    await world.pass(3_000);
    const before = await world.drip();
    expect(before.state).toBe("open");
    const committed = world.store.committed("spring").length;
    expect(await hearSupply(world.line, out(1))).toBe(true);
    const told = await world.drip();
    expect(told.state).toBe("soldout");
    expect(told.segments).toEqual(before.segments);
    await world.pass(30_000);
    expect(world.store.committed("spring")).toHaveLength(committed);
    const last = before.committed;
    expect(await codeOf(world.claim(fans[last - 1]!))).toBe("ok");
    expect(await codeOf(world.claim(fans[last]!))).toBe("sold-out");
  });

  it("whoever waits keeps their place, nobody new joins, and both go on when something comes back", async () => {
    const world = await memoryWorld();
    const fans = await world.joinMany(100);
    await world.tick();
    await hearSupply(world.line, out(1));
    expect(await codeOf(world.join())).toBe("sold-out");
    for (const fan of fans) {
      const { fresh, answer } = await world.mint.join("spring", {
        visitor: fan.visitor,
        ticket: fan.place.ticket,
      });
      expect([fresh, answer.number]).toEqual([false, fan.place.number]);
    }
    await hearSupply(world.line, back(2));
    expect((await world.drip()).state).toBe("open");
    expect((await world.join()).place.number).toBe(101);
  });

  it("the time of the outage earns nothing: the drip goes on without a burst", async () => {
    const world = await memoryWorld({ ratePerMinute: 600, horizonSeconds: 10 });
    await world.joinMany(3_000);
    await world.pass(20_000);
    await hearSupply(world.line, out(1));
    await world.pass(300_000);
    await hearSupply(world.line, back(2));
    const from = world.clock.now();
    await world.pass(30_000);
    const slots = openings(world.store.committed("spring"));
    const { lapsed } = world.line.record.progress;
    expect(tooFast(slots, { ratePerMinute: 600, extra: lapsed })).toBeUndefined();
    expect(tooFast(slots, { ratePerMinute: 900 })).toBeUndefined();
    const first = slots.find(({ at }) => at >= from);
    expect(first?.at).toBe(from + 1_000);
  });

  it("whoever has a slot and lost its admission gets it again, also when its counts are final", async () => {
    const world = await memoryWorld({ claimWindowSeconds: 10, lifetimeSeconds: 60 });
    const fan = await world.join();
    await world.tick();
    const { opensAt } = await world.claim(fan);
    await world.pass(20_000);
    await hearSupply(world.line, out(1));
    expect(await world.claim(fan)).toMatchObject({ opensAt });
  });
});

describe("reports", () => {
  it("out of order and repeated change nothing", async () => {
    const world = await memoryWorld();
    expect(await hearSupply(world.line, out(5))).toBe(true);
    const first = await viewOf(world);
    world.clock.advance(5_000);
    const calls = world.store.calls;
    for (const report of [out(5), back(5), back(4), back(1), out(3)]) {
      expect(await hearSupply(world.line, report)).toBe(false);
    }
    expect(world.store.calls).toBe(calls);
    expect(await viewOf(world)).toEqual(first);
    expect(await hearSupply(world.line, out(9))).toBe(false);
    expect((await viewOf(world)).supplySoldOutAt).toBe(first.supplySoldOutAt);
    expect(await hearSupply(world.line, back(8))).toBe(false);
    expect(await hearSupply(world.line, back(10))).toBe(true);
    expect((await viewOf(world)).supplySoldOutAt).toBeUndefined();
  });

  it("from two instances at once, in any order: the highest number holds", async () => {
    for (let round = 0; round < 20; round += 1) {
      const world = await memoryWorld();
      const reports = [out(1), back(2), out(3), out(1), back(2), out(3)];
      const shuffled = reports.toSorted(() => Math.random() - 0.5);
      await Promise.all(shuffled.map((report) => hearSupply(world.line, report)));
      expect((await world.drip()).state).toBe("soldout");
      expect(world.line.record.facts.supply.seq).toBe(3);
    }
  });

  it("survive a crash, and a lost answer is repeated without harm", async () => {
    const world = await memoryWorld();
    await hearSupply(world.line, out(1));
    await world.crash();
    expect((await world.drip()).state).toBe("soldout");
    expect(await hearSupply(world.line, out(1))).toBe(false);
    expect(await hearSupply(world.line, back(2))).toBe(true);
    await world.restart();
    expect((await world.drip()).state).toBe("open");
  });

  it("by a leader that was replaced are not taken", async () => {
    const world = await memoryWorld();
    const old = world.line;
    await world.crash();
    expect(await codeOf(hearSupply(old, out(1)))).toBe("unavailable");
    expect((await world.store.loadEvent("spring"))?.facts.supply.seq).toBe(0);
  });

  it("of an ended sale are acknowledged and forgotten", async () => {
    const world = await memoryWorld();
    await end(world.line, deed);
    expect(await hearSupply(world.line, out(1))).toBe(false);
    expect((await viewOf(world)).supplySoldOutAt).toBeUndefined();
  });

  it("leave a line in the audit log for every change, and no organizer's way is barred", async () => {
    const world = await memoryWorld();
    const { version } = world.line.record;
    for (const report of [out(1), out(2), back(3), back(3)]) await hearSupply(world.line, report);
    expect(world.store.audit.slice(1)).toMatchObject([
      { actor: "supply", action: "supply-out", detail: { seq: 1 }, version },
      { actor: "supply", action: "supply-back", detail: { seq: 3 }, version },
    ]);
    expect(world.line.record.version).toBe(version);
    await hold(world.line, { scope: "all", reason: "" }, { ...deed, version });
  });
});

describe("beside what the organizer says", () => {
  it("the organizer's word is final, whatever is reported", async () => {
    const world = await memoryWorld();
    await declareSoldout(world.line, deed);
    await hearSupply(world.line, out(1));
    await hearSupply(world.line, back(2));
    expect((await world.drip()).state).toBe("soldout");
    expect(await codeOf(world.join())).toBe("sold-out");
    const view = await viewOf(world);
    expect(view.soldoutAt).toBeDefined();
    expect(view.supplySoldOutAt).toBeUndefined();
  });

  it("a hold that lasts through an outage goes on as a hold, and its cut numbers come first", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    const fans = await world.joinMany(60);
    await world.pass(2_000);
    await hold(world.line, { scope: "entries", reason: "" }, deed);
    await hearSupply(world.line, out(1));
    expect((await world.drip()).state).toBe("soldout");
    await world.pass(10_000);
    await resume(world.line, deed);
    expect(world.line.record.demand.length).toBeGreaterThan(0);
    await world.pass(10_000);
    await hearSupply(world.line, back(2));
    await world.pass(90_000);
    const slots = openings(world.store.committed("spring"));
    expect(slots.map(({ n }) => n)).toEqual(fans.map(({ place }) => place.number));
    expect(tooFast(slots, { ratePerMinute: 60 })).toBeUndefined();
  });

  it("a line that is not open yet stays so: nothing in stock yet is no sold-out sale", async () => {
    const world = await memoryWorld({
      joinableAt: 1_767_225_600_000 + 10_000,
      startsAt: 1_767_225_600_000 + 20_000,
    });
    await hearSupply(world.line, out(1));
    expect((await world.drip()).state).toBe("scheduled");
    await world.pass(10_000);
    expect((await world.drip()).state).toBe("soldout");
    await hearSupply(world.line, back(2));
    expect((await world.drip()).state).toBe("prequeue");
  });
});
