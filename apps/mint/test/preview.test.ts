import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { EventChange } from "@vestibule/contracts/event-settings";
import { changeSettings, hold } from "../src/line/organizer.ts";
import { previewChange } from "../src/line/preview.ts";
import { openings } from "./support/exactness.ts";
import { codeOf, memoryWorld, type World } from "./support/world.ts";
import type { MemoryStore } from "./support/memory-store.ts";

const MINUTE = 60_000;
const deed = { actor: "test" };
type AnyWorld = World<MemoryStore>;

const slots = (world: AnyWorld) => openings(world.store.committed("spring"));
const preview = (world: AnyWorld, change: EventChange) =>
  previewChange(world.line, change, { version: world.line.record.version, now: world.clock.now() });
const sum = (counts: readonly number[]): number => counts.reduce((all, each) => all + each, 0);

/** Nobody's slot lapses while these worlds go on. */
const patient = { claimWindowSeconds: 3_600, lifetimeSeconds: 3_600 };

describe("a preview", () => {
  it("says what then happens: the moment, the minutes, the last turn", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          ratePerMinute: fc.constantFrom(60, 240, 600),
          waiting: fc.integer({ min: 50, max: 700 }),
          seconds: fc.integer({ min: 0, max: 40 }),
          change: fc.record(
            {
              ratePerMinute: fc.constantFrom(90, 300),
              approximationBudget: fc.constantFrom(0, 30),
              overdrivePercent: fc.constantFrom(100, 200),
              ratePlan: fc.integer({ min: 1, max: 150_000 }),
            },
            { requiredKeys: [] },
          ),
        }),
        async ({ ratePerMinute, waiting, seconds, change: { ratePlan, ...change } }) => {
          const world = await memoryWorld({ ...patient, ratePerMinute, horizonSeconds: 20 });
          await world.joinMany(waiting);
          await world.tick();
          await world.pass(seconds * 1_000);
          const now = world.clock.now();
          const plan = ratePlan === undefined ? [] : [{ at: now + ratePlan, ratePerMinute: 400 }];
          const whole = { ...change, ...(plan.length === 0 ? {} : { ratePlan: plan }) };
          const calls = world.store.calls;
          const said = preview(world, whole);
          expect(world.store.calls).toBe(calls);
          const frontier = world.line.record.progress.line.frontier;
          expect(said.takesHoldAt).toBe(Math.max(frontier, now));

          await changeSettings(world.line, whole, deed);
          await world.pass(15 * MINUTE);
          const last = slots(world).at(-1)!.at;
          expect(slots(world)).toHaveLength(waiting);
          if (last <= now) expect(said.after.lastTurnAt).toBeUndefined();
          else expect(Math.abs(last - said.after.lastTurnAt!)).toBeLessThan(5_500);
          for (const minutes of [1, 2, 3, 5]) {
            const until = now + minutes * MINUTE;
            if (until > last) break; // a line that is not full any more
            const came = slots(world).filter(({ at }) => at >= now && at < until).length;
            const promised = sum(said.after.perMinute.slice(0, minutes));
            expect(Math.abs(promised - came)).toBeLessThanOrEqual(6);
          }
        },
      ),
      { numRuns: 15 },
    );
  });

  it("names what would be other, a plan that a new rate ends among it", async () => {
    const world = await memoryWorld({ ratePerMinute: 60, maxAdmissions: 50 });
    await world.joinMany(80);
    await world.tick();
    const plan = [{ at: world.clock.now() + MINUTE, ratePerMinute: 600 }];
    await changeSettings(world.line, { ratePlan: plan }, deed);
    const said = preview(world, { ratePerMinute: 90, notice: "soon" });
    expect(said.changes).toEqual([
      { field: "ratePerMinute", before: 60, after: 90 },
      { field: "ratePlan", before: plan, after: [] },
      { field: "notice", before: "", after: "soon" },
    ]);
    expect(said).toMatchObject({ event: "spring", state: "open", version: 2, waiting: 30 });
    expect([said.before.leftOut, said.after.leftOut]).toEqual([30, 30]);
    expect([said.before.shoppersAtOnce, said.after.shoppersAtOnce]).toEqual([6_000, 900]);
    expect(preview(world, {}).changes).toEqual([]);
  });

  it("while it is held: as if it went on now, and whoever's slot is cut waits again", async () => {
    const world = await memoryWorld({ ...patient, ratePerMinute: 60 });
    await world.joinMany(200);
    await world.tick();
    await world.pass(10_000);
    await hold(world.line, {}, deed);
    await world.pass(90_000);
    const said = preview(world, { ratePerMinute: 120 });
    expect(said).toMatchObject({ state: "paused", waiting: 189, takesHoldAt: world.clock.now() });
    expect(said.before.perMinute.slice(0, 2)).toEqual([60, 60]);
    expect(said.after.perMinute.slice(0, 2)).toEqual([120, 120]);
  });

  it("before the opening: nothing opens until then", async () => {
    const start = Date.UTC(2099, 0, 1);
    const world = await memoryWorld({ startsAt: start, joinableAt: 0, approximationBudget: 20 });
    await world.joinMany(100);
    const said = preview(world, { ratePerMinute: 600 });
    expect(said).toMatchObject({ state: "prequeue", takesHoldAt: start, waiting: 100 });
    expect(sum(said.after.perMinute)).toBe(0);
  });

  it("refuses what the change would be refused for, and writes nothing", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    const { record } = world.line;
    const now = world.clock.now();
    const ask = (change: EventChange, version = record.version) =>
      codeOf(Promise.resolve().then(() => previewChange(world.line, change, { version, now })));
    expect(await ask({ ratePerMinute: 5 }, 7)).toBe("version-mismatch");
    expect(await ask({ endsAt: 1 })).toBe("invalid-settings");
    expect(await ask({ horizonSeconds: 10 })).toBe("invalid-settings");
    expect(await ask({ ratePerMinute: 5 })).toBe("ok");
    expect(world.line.record).toBe(record);
  });
});
