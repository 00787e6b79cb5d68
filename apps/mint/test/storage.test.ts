/** A whole sale, fast-forwarded through the real line on a store that counts: rows are bounded as docs/operating.md says. */
import { describe, expect, it } from "vitest";
import { hold, resume } from "../src/line/organizer.ts";
import { memoryWorld } from "./support/world.ts";

const HOUR_S = 3_600;
const SECONDS = 8 * HOUR_S;
const FANS = 1_000_000;
/** As `packages/drip` commits a busy line. */
const QUANTUM_S = 5;
const HORIZON_S = 60;
/** The claim window, as it is when nobody sets it. */
const CLAIM_S = 180;

describe("a sale of 1,000,000 fans over 8 hours", () => {
  it("has one row for each turn that was taken up, and for the drip one every five seconds", async () => {
    const rate = Math.ceil((FANS * 60) / SECONDS);
    const world = await memoryWorld({ ratePerMinute: rate, horizonSeconds: HORIZON_S });
    const { store } = world;
    let [joined, claimed, claims, starts] = [0, 0, 0, 1];
    for (let second = 0; second < SECONDS + 120 && claimed < FANS; second += 1) {
      // They come in the first six hours; nine of ten claim.
      for (; joined < Math.min(FANS, ((second + 1) * FANS) / (6 * HOUR_S)); joined += 1)
        while (world.line.sequencer.take() === undefined) await world.line.sequencer.refilled();
      if (second === 2 * HOUR_S) {
        await hold(world.line, {}, { actor: "test" });
        world.clock.advance(30_000);
        await resume(world.line, { actor: "test" });
        starts += 1;
      }
      world.clock.advance(1_000);
      await world.tick();
      const open = world.line.record.progress.line.nextNumber - 1;
      const fresh = [];
      for (; claimed < open; claimed += 1) if (claimed % 10 !== 0) fresh.push(claimed + 1);
      claims += fresh.length;
      await Promise.all(fresh.map((n) => world.mint.entry("spring").desk.claim(n)));
    }
    expect([joined, claimed]).toEqual([FANS, FANS]);
    // The hold cut a horizon of turns, whose claims count for nothing.
    const rows = (await store.tally("spring")).claimed;
    expect(claims - rows).toBeLessThanOrEqual((rate * (HORIZON_S + 30)) / 60);
    expect(rows).toBeLessThanOrEqual(claims);
    const { record } = world.line;
    const atOnce = HORIZON_S / QUANTUM_S + 1;
    expect(store.committed("spring").length).toBeLessThanOrEqual(
      SECONDS / QUANTUM_S + atOnce * starts,
    );
    // What the mint has in memory, and statements list.
    expect(record.segments.length).toBeLessThanOrEqual((HORIZON_S + CLAIM_S) / QUANTUM_S + 2);
    expect([record.blocks.length, record.demand.length, record.cuts.length]).toEqual([1, 0, 1]);
  }, 120_000);
});
