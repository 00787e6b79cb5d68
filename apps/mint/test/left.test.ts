/** How much is left: kept as reported, told as a band, and of no effect on the line. */
import type { SupplyReport } from "@vestibule/contracts/supply-api";
import { bandOf } from "@vestibule/drip/band";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeSettings } from "../src/line/organizer.ts";
import { hearSupply } from "../src/line/supply.ts";
import { codeOf, memoryWorld, type World } from "./support/world.ts";
import type { MemoryStore } from "./support/memory-store.ts";

const deed = { actor: "test" };
const says = (seq: number, more: Partial<SupplyReport> = {}): SupplyReport => ({
  soldOut: false,
  seq,
  ...more,
});
const told = async (world: World<MemoryStore>) => (await world.drip()).left;

describe("how much is left", () => {
  it("is told as a band, and not before anybody said it", async () => {
    const world = await memoryWorld();
    expect(await told(world)).toBeUndefined();
    const bands: unknown[] = [];
    for (const [index, left] of [4_321, 51, 50, 10, 9, 1, 0].entries()) {
      await hearSupply(world.line, says(index + 1, { left }));
      bands.push(await told(world));
    }
    expect(bands).toEqual([5_000, 100, 50, 10, 9, 9, 0].map((atMost) => ({ atMost })));
  });

  it("is told only where the organizer wants it, from one statement to the next", async () => {
    const world = await memoryWorld({ tellLeft: false, maxAdmissions: 10 });
    await hearSupply(world.line, says(1, { left: 60 }));
    expect(await told(world)).toBeUndefined();
    await changeSettings(world.line, { tellLeft: true, maxAdmissions: null }, deed);
    expect(await told(world)).toEqual({ atMost: 100 });
  });

  it("is turns, where fewer of them are allowed than pieces are left: nobody beyond those gets a slot", async () => {
    const world = await memoryWorld({ maxAdmissions: 30, ratePerMinute: 60, horizonSeconds: 10 });
    expect(await told(world)).toEqual({ atMost: 50, turns: true });
    const fans = await world.joinMany(200);
    await hearSupply(world.line, says(1, { left: 1_000 }));
    await world.pass(15_000);
    expect(await told(world)).toEqual({ atMost: 20, turns: true });
    await hearSupply(world.line, says(2, { left: 5 }));
    expect(await told(world)).toEqual({ atMost: 9 });
    await world.pass(30_000);
    expect(await told(world)).toEqual({ atMost: 0, turns: true });
    expect(await codeOf(world.claim(fans[29]!))).toBe("ok");
    expect(await codeOf(world.claim(fans[30]!))).not.toBe("ok");
  });

  it("survives a crash and a restart, and an older sender's report leaves it as it is", async () => {
    const world = await memoryWorld();
    await hearSupply(world.line, says(5, { left: 80 }));
    await hearSupply(world.line, says(6));
    for (const end of [() => world.crash(), () => world.restart()]) {
      await end();
      expect(await told(world)).toEqual({ atMost: 100 });
    }
    await hearSupply(world.line, says(6, { left: 7 }));
    expect(await told(world)).toEqual({ atMost: 9 });
  });

  it("leaves no line in the audit log and no new version", async () => {
    const world = await memoryWorld();
    const [{ length }, { version }] = [world.store.audit, world.line.record];
    for (const seq of [1, 2, 3]) await hearSupply(world.line, says(seq, { left: 100 * seq }));
    expect([world.store.audit.length, world.line.record.version]).toEqual([length, version]);
  });
});

describe("the laws of reports", () => {
  it("in whatever order they arrive, what is left is what the highest number that spoke of it says", async () => {
    const report = fc.record({ seq: fc.integer({ min: 1, max: 8 }), isOld: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 12 }), async (reports) => {
        const world = await memoryWorld();
        for (const { seq, isOld } of reports)
          await hearSupply(world.line, says(seq, isOld ? {} : { left: seq * 37 }));
        const highest = Math.max(0, ...reports.map(({ seq, isOld }) => (isOld ? 0 : seq)));
        expect(await told(world)).toEqual(
          highest === 0 ? undefined : { atMost: bandOf(highest * 37) },
        );
      }),
      { numRuns: 30 },
    );
  });

  it("whatever is said of what is left, the same numbers get the same slots at the same moments", async () => {
    const said = fc.array(fc.integer({ min: 0, max: 1_000_000_000_000 }), { maxLength: 20 });
    const play = async (reports: readonly number[]) => {
      const world = await memoryWorld({ ratePerMinute: 120, claimWindowSeconds: 10 });
      const fans = await world.joinMany(100);
      for (let second = 0; second < 40; second += 1) {
        const left = reports[second];
        if (left !== undefined) await hearSupply(world.line, says(second + 1, { left }));
        await world.pass(1_000);
        const fan = fans[second * 2];
        if (fan !== undefined) await codeOf(world.claim(fan));
      }
      const { progress } = world.line.record;
      return { progress, committed: world.store.committed("spring") };
    };
    const silent = await play([]);
    expect(silent.committed.length).toBeGreaterThan(5);
    await fc.assert(
      fc.asyncProperty(said, async (reports) => {
        expect(await play(reports)).toEqual(silent);
      }),
      { numRuns: 8 },
    );
  });
});
