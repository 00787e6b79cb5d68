import { expect, it } from "vitest";
import { changeSettings, end } from "../src/line/organizer.ts";
import { codeOf, memoryWorld } from "./support/world.ts";

const START = 1_767_225_600_000;
const SOON = START + 60_000;
const deed = { actor: "test" };

it("a rehearsal that is over by its time goes on when its end is moved, in the same line", async () => {
  const world = await memoryWorld({ endsAt: SOON, rehearsal: true, ratePerMinute: 600 });
  const before = await world.join();
  world.clock.set(SOON);
  expect(await codeOf(world.join())).toBe("event-ended");
  expect(await codeOf(world.claim(before))).toBe("event-ended");
  await changeSettings(world.line, { endsAt: SOON + 600_000 }, deed);
  const after = await world.join();
  expect(after.place.number).toBeGreaterThan(before.place.number);
  await world.pass(3_000);
  expect((await world.claim(after)).admission).toEqual(expect.any(String));
});

it("a sale that is over stays over, and so does a rehearsal that somebody ended or whose end is not moved", async () => {
  const later = { endsAt: SOON + 600_000 };
  const sale = await memoryWorld({ endsAt: SOON });
  sale.clock.set(SOON);
  expect(await codeOf(changeSettings(sale.line, later, deed))).toBe("event-ended");

  const rehearsal = await memoryWorld({ endsAt: SOON, rehearsal: true });
  rehearsal.clock.set(SOON);
  expect(await codeOf(changeSettings(rehearsal.line, { title: "x" }, deed))).toBe("event-ended");
  expect(await codeOf(changeSettings(rehearsal.line, { endsAt: SOON }, deed))).toBe(
    "invalid-settings",
  );

  const ended = await memoryWorld({ endsAt: SOON, rehearsal: true });
  await end(ended.line, deed);
  expect(await codeOf(changeSettings(ended.line, later, deed))).toBe("event-ended");
});
