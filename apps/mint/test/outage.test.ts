import { slotOf } from "@vestibule/drip/line";
import { AppError } from "@vestibule/kernel/app-error";
import { describe, expect, it } from "vitest";
import { eventView } from "../src/http/event-view.ts";
import { hold, resume } from "../src/line/organizer.ts";
import { openings, twice } from "./support/exactness.ts";
import { codeOf, memoryWorld } from "./support/world.ts";

const away = () => new AppError("unavailable", { internal: "PostgreSQL: ECONNREFUSED" });

describe("PostgreSQL away", () => {
  it("law 9: for a whole horizon fans enter as announced, then nobody new does, and nothing is made up", async () => {
    const world = await memoryWorld({ ratePerMinute: 600, horizonSeconds: 60 });
    await world.joinMany(3_000);
    await world.pass(10_000);
    const promised = (await world.drip()).segments;
    world.store.trouble = away();
    const since = world.clock.now();
    let serving = 0;
    for (let second = 1; second <= 90; second += 1) {
      await world.pass(1_000);
      const view = await world.drip();
      expect(view.state).toBe("open");
      if (second <= 54) expect(view.serving).toBeGreaterThan(serving);
      serving = view.serving;
      for (const { base, count } of view.segments) {
        const last = base + count - 1;
        expect(slotOf(view.segments, last)).toBe(slotOf(promised, last));
      }
    }
    expect(serving).toBe(Math.max(...promised.map(({ base, count }) => base + count - 1)));
    world.store.trouble = undefined;
    await world.tick();
    const slots = openings(world.store.committed("spring"));
    const missed = slots.filter(({ at }) => at > since + 62_000 && at < world.clock.now());
    expect(missed).toEqual([]);
    expect(twice(slots)).toEqual([]);
    const next = slots.filter(
      ({ at }) => at >= world.clock.now() && at < world.clock.now() + 10_000,
    );
    expect(next.length).toBeLessThanOrEqual(150);
    expect(next.length).toBeGreaterThan(90);
  });

  it("MH-05: joins go on while the block lasts, then 503; claims 503 at once; all of it comes back by itself", async () => {
    const world = await memoryWorld({ ratePerMinute: 600 });
    const fans = await world.joinMany(100);
    await world.tick();
    world.store.trouble = away();
    let more = 0;
    while ((await codeOf(world.join())) === "ok") more += 1;
    expect(more).toBeGreaterThan(20);
    const refusal = await world.join().catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "unavailable" });
    expect(await codeOf(world.claim(fans[0]!))).toBe("unavailable");
    await world.pass(30_000);
    world.store.trouble = undefined;
    expect((await world.join()).place.number).toBe(100 + more + 1);
    await world.tick();
    expect(await codeOf(world.claim(fans[0]!))).toBe("ok");
    await world.pass(60_000);
    const slots = openings(world.store.committed("spring"));
    expect(twice(slots)).toEqual([]);
    expect(slots).toHaveLength(100 + more + 1);
  });

  it("takes up what was stored after all, when the answer to a write was lost", async () => {
    const world = await memoryWorld({ ratePerMinute: 600 });
    const fans = await world.joinMany(50);
    const { store } = world;
    const step = store.step.bind(store);
    store.step = async (...args) => {
      await step(...args);
      throw away();
    };
    await world.tick();
    expect(world.line.record.segments).toEqual([]);
    store.step = step;
    await world.pass(5_000);
    const slots = openings(store.committed("spring"));
    expect(twice(slots)).toEqual([]);
    expect(slots).toHaveLength(50);
    expect(await codeOf(world.claim(fans[0]!))).toBe("ok");
  });

  it("gives no number twice when the answer to a reservation was lost", async () => {
    const world = await memoryWorld();
    const { store } = world;
    const reserve = store.reserveNumbers.bind(store);
    let lost = 0;
    store.reserveNumbers = async (...args) => {
      await reserve(...args);
      if ((lost += 1) % 2 === 1) throw away();
    };
    const numbers: number[] = [];
    while (numbers.length < 500) {
      const { place } = await world.join().catch(() => ({ place: undefined }));
      if (place !== undefined) numbers.push(place.number);
    }
    expect(numbers).toEqual(Array.from({ length: 500 }, (_, index) => index + 1));
  });

  it("law 1: a leader that was replaced and does not know it gives out only numbers of its own", async () => {
    const world = await memoryWorld();
    await world.joinMany(5);
    const old = world.line;
    const oldTerm = world.term;
    world.term = undefined;
    world.clock.advance(3_001);
    await world.lead();
    const fresh = (await world.joinMany(200)).map(({ place }) => place.number);
    const stale: number[] = [];
    for (let n = old.sequencer.take(); n !== undefined; n = old.sequencer.take()) stale.push(n);
    expect(stale.length).toBeGreaterThan(0);
    expect(fresh.filter((n) => stale.includes(n))).toEqual([]);
    expect(oldTerm?.lead.epoch).toBeLessThan(world.term!.lead.epoch);
    await expect(old.sequencer.refilled()).rejects.toMatchObject({ code: "unavailable" });
  });

  it("a leader that reads what its successor stored steps down, and plans nothing on it", async () => {
    const world = await memoryWorld({ ratePerMinute: 600 });
    // Held before they have slots: its own numbers wait, below its successor's.
    await world.joinMany(5);
    const [old, { store }] = [world.line, world];
    const step = store.step.bind(store);
    store.step = async (...args) => {
      await step(...args);
      throw away();
    };
    expect(await codeOf(hold(old, {}, { actor: "test" }))).toBe("unavailable");
    store.step = step;
    world.term = undefined;
    world.clock.advance(3_001);
    const term = await world.lead();
    await world.joinMany(3);
    await world.tick();
    expect(term.events[0]?.line.record.blocks).toHaveLength(2);
    expect(await codeOf(resume(old, { actor: "test" }))).toBe("unavailable");
    expect(world.term).toBeUndefined();
  });
});

describe("law 11: waiting is free", () => {
  it("signs one statement a second however many ask, and asks the store for none", async () => {
    const world = await memoryWorld();
    await world.joinMany(50);
    await world.tick();
    await world.drip();
    const [signed, calls] = [world.signed, world.store.calls];
    for (let tenth = 0; tenth < 30; tenth += 1) {
      world.clock.advance(100);
      await Promise.all(Array.from({ length: 200 }, () => world.drip()));
    }
    expect(world.signed - signed).toBeLessThanOrEqual(3);
    expect(world.store.calls).toBe(calls);
  });

  it("signs nothing when nobody asks", async () => {
    const world = await memoryWorld();
    await world.joinMany(100);
    await world.pass(60_000);
    expect(world.signed).toBe(0);
  });

  it("keeps nothing per waiting fan: what is stored and remembered is the same for ten and for ten thousand", async () => {
    const sizeOf = async (fans: number) => {
      const world = await memoryWorld({ ratePerMinute: 1 });
      await world.joinMany(fans);
      await world.tick();
      const { segments, demand, blocks, cuts } = world.line.record;
      const view = await world.drip();
      return {
        parts: [segments.length, demand.length, blocks.length, cuts.length],
        skips: view.skips.length,
        listed: view.segments.length,
      };
    };
    expect(await sizeOf(10_000)).toEqual(await sizeOf(10));
  });

  it("shows a change at once, not after a second", async () => {
    const world = await memoryWorld();
    const before = await world.drip();
    await world.join();
    await world.tick();
    const after = await world.drip();
    expect(after.at).toBe(before.at);
    expect(after.segments).toHaveLength(1);
    expect(after.seq).toBeGreaterThan(before.seq);
  });

  it("numbers statements upwards over crashes and clean restarts", async () => {
    const world = await memoryWorld();
    let last = 0;
    for (let round = 0; round < 5; round += 1) {
      const { seq } = await world.drip();
      expect(seq).toBeGreaterThan(last);
      last = seq;
      await (round % 2 === 0 ? world.crash() : world.restart());
      world.clock.advance(1_000);
    }
  });
});

describe("a tick that fails for a reason of ours", () => {
  it("shows in the organizer's view for as long as it lasts; trouble of the store does not", async () => {
    const world = await memoryWorld();
    const entry = world.mint.entry(world.event);
    const since = async () => (await eventView(entry, world.clock.now())).failingSince;
    const { store } = world;
    const step = store.step.bind(store);
    await world.join();
    store.step = () => Promise.reject(away());
    await world.tick();
    expect(await since()).toBeUndefined();
    store.step = () => Promise.reject(new Error("a bug"));
    const began = world.clock.now();
    await world.tick();
    await world.pass(3_000);
    expect(await since()).toBe(began);
    expect((await world.join()).place.number).toBe(2);
    store.step = step;
    await world.tick();
    expect(await since()).toBeUndefined();
  });
});
