/** Writes wait: for each other, for connections, for locks. What they decide is dated when they happen. */
import { AppError } from "@vestibule/kernel/app-error";
import { describe, expect, it } from "vitest";
import { hold, resume } from "../src/line/organizer.ts";
import { LineMovedError } from "../src/store/store.ts";
import { openings, tooFast, twice } from "./support/exactness.ts";
import type { MemoryStore } from "./support/memory-store.ts";
import { codeOf, memoryWorld, type World } from "./support/world.ts";

const RATE = 600;
const STALL_MS = 4_000;
const deed = { actor: "test" };

/** Keeps every other write of the event waiting until it is called. */
function stallQueue(world: World<MemoryStore>): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  void world.line.write(() => promise);
  return resolve;
}

/** Keeps the next steps from beginning until it is called: no connection is free. */
function stallSteps({ store }: World<MemoryStore>): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  const step = store.step.bind(store);
  store.step = async (...args) => {
    await promise;
    return step(...args);
  };
  return resolve;
}

describe.each([
  ["behind a slow write", stallQueue],
  ["in a slow store", stallSteps],
])("a write that waits %s", (_where, stall) => {
  it("law 3: commits no slot in the past, so that nobody enters in a burst", async () => {
    const world = await memoryWorld({ ratePerMinute: RATE });
    await world.joinMany(300);
    const release = stall(world);
    const ticked = world.tick();
    world.clock.advance(STALL_MS);
    release();
    await ticked;
    const slots = openings(world.store.committed("spring"));
    expect(slots).toHaveLength(300);
    expect(slots[0]?.at).toBeGreaterThanOrEqual(world.clock.now());
    expect(tooFast(slots, { ratePerMinute: RATE })).toBeUndefined();
  });

  it("law 2: holds from then on, and voids no slot that has opened", async () => {
    const world = await memoryWorld({ ratePerMinute: RATE });
    await world.joinMany(300);
    await world.tick();
    const release = stall(world);
    const held = hold(world.line, {}, deed);
    world.clock.advance(STALL_MS);
    const before = (await world.drip()).serving;
    release();
    await held;
    expect(world.line.record.facts.hold?.since).toBe(world.clock.now());
    expect((await world.drip()).serving).toBe(before);
    world.clock.advance(1_000);
    await resume(world.line, deed);
    const opened = openings(world.store.committed("spring")).filter(
      ({ at }) => at < world.clock.now() - 1_000,
    );
    expect(opened.at(-1)?.n).toBeGreaterThanOrEqual(before - 1);
  });

  it("resumes after every claim that was signed before: each one for a cut slot is void", async () => {
    const world = await memoryWorld({ ratePerMinute: RATE });
    const fans = await world.joinMany(300);
    await world.tick();
    const release = stall(world);
    const { desk } = world.mint.entry(world.event);
    const ahead = fans[200]!.place.number;
    const claimed = desk.claim(ahead);
    const held = hold(world.line, {}, deed);
    world.clock.advance(2_000);
    const early = codeOf(resume(world.line, deed));
    world.clock.advance(2_000);
    release();
    const { at, times } = await claimed;
    await held;
    await early;
    world.clock.advance(1_000);
    await codeOf(resume(world.line, deed));
    const { cuts } = world.line.record;
    expect(cuts).toHaveLength(1);
    const [cut] = cuts;
    expect(times.opensAt).toBeGreaterThan(cut!.since);
    expect(Math.floor(at / 1_000)).toBeLessThan(Math.floor(cut!.until / 1_000));
  });
});

describe("numbers that wait for a slot on demand", () => {
  it("law 3: get one slot each, also when a write that was given up arrives late", async () => {
    const world = await memoryWorld({ ratePerMinute: RATE });
    await world.joinMany(5);
    await world.tick();
    const doubtful = await world.joinMany(4); // given, and not yet written down
    await world.crash();
    await world.pass(10_000);
    const { store } = world;
    const step = store.step.bind(store);
    let late: () => Promise<unknown> = () => Promise.resolve();
    store.step = async (...args) => {
      store.step = step;
      late = () => step(...args);
      throw new AppError("unavailable", { internal: "the deadline passed" });
    };
    expect(await codeOf(world.claim(doubtful[0]!))).toBe("unavailable");
    for (const fan of doubtful.slice(1)) expect(await codeOf(world.claim(fan))).toBe("too-early");
    await expect(late()).rejects.toThrow(LineMovedError);
    expect(await codeOf(world.claim(doubtful[0]!))).toBe("too-early");
    await world.pass(10_000);
    const slots = openings(store.committed("spring"));
    expect(twice(slots)).toEqual([]);
    expect(slots).toHaveLength(9);
    for (const fan of doubtful) expect(await codeOf(world.claim(fan))).toBe("ok");
  });
});
