/** Laws 1 to 3 against random histories: whatever fans, organizers, crashes and lost answers do. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resume } from "../src/line/organizer.ts";
import { openings } from "./support/exactness.ts";
import { command, History, RATE } from "./support/history.ts";
import { codeOf, memoryWorld } from "./support/world.ts";

describe("laws 1, 2 and 3", () => {
  it("hold in every history of joins, claims, holds, crashes, restarts, sleeps and lost answers", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 60 }), async (commands) => {
        const world = await memoryWorld({
          ratePerMinute: RATE,
          claimWindowSeconds: 10,
          lifetimeSeconds: 30,
          horizonSeconds: 20,
        });
        const history = new History(world);
        for (const step of commands) {
          await history.run(step);
          await world.drip();
        }
        await world.pass(15_000); // every claim window of what was open is over
        history.check();
      }),
    );
  }, 120_000);

  it("and everybody who holds a number and asks for it gets a slot in the end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
        const world = await memoryWorld({
          ratePerMinute: RATE,
          claimWindowSeconds: 10,
          horizonSeconds: 20,
        });
        const history = new History(world);
        for (const step of commands) await history.run(step);
        world.clock.advance(1_000);
        await codeOf(resume(world.line, { actor: "test" }));
        for (let round = 0; round < 3; round += 1) {
          await world.pass(5_000);
          for (const fan of history.fans) await codeOf(world.claim(fan));
        }
        await world.pass(400_000);
        history.check();
        const served = new Set(openings(world.store.committed("spring")).map(({ n }) => n));
        for (const { place } of history.fans)
          expect(served, `number ${place.number}`).toContain(place.number);
      }),
      { numRuns: 30 },
    );
  }, 120_000);
});
