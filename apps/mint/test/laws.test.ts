/** Laws 1 to 3 against random histories: whatever fans, organizers, crashes and lost answers do. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resume } from "../src/line/organizer.ts";
import { CreditWorld } from "./support/credits.ts";
import { openings } from "./support/exactness.ts";
import { command, History, RATE } from "./support/history.ts";
import { codeOf } from "./support/world.ts";

describe("laws 1, 2 and 3", () => {
  it("hold in every history of joins, claims, credits, holds, outages of supply, crashes, restarts, sleeps and lost answers", async () => {
    let madeGood = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 60 }), async (commands) => {
        const credits = await CreditWorld.start({
          ratePerMinute: RATE,
          claimWindowSeconds: 10,
          lifetimeSeconds: 15,
          horizonSeconds: 20,
        });
        const { world } = credits;
        const history = new History(credits);
        for (const step of commands) {
          await history.run(step);
          await world.drip();
        }
        await world.pass(15_000); // every claim window of what was open is over
        history.check();
        madeGood += world.store.creditsUsed("spring");
      }),
    );
    expect(madeGood, "slots were made good in some of them").toBeGreaterThan(0);
  }, 120_000);

  it("and everybody who holds a number and asks for it gets a slot in the end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
        const credits = await CreditWorld.start({
          ratePerMinute: RATE,
          claimWindowSeconds: 10,
          lifetimeSeconds: 600,
          horizonSeconds: 20,
        });
        const { world } = credits;
        const history = new History(credits);
        for (const step of commands) await history.run(step);
        world.clock.advance(1_000);
        await codeOf(resume(world.line, { actor: "test" }));
        await history.run({ do: "supply-back" });
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
