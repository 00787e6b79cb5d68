import { dripClaimsSchema } from "@vestibule/contracts/statements";
import { AppError } from "@vestibule/kernel/app-error";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { changeSettings } from "../src/line/organizer.ts";
import type { MintStore } from "../src/store/store.ts";
import { codeOf, memoryWorld, payload, type World } from "./support/world.ts";

const CONFIRM = { presence: "confirm", claimWindowSeconds: 60, lifetimeSeconds: 120 } as const;

/** "I'm here". */
const press = (world: World<MintStore>, fan: Parameters<World<MintStore>["claim"]>[0]) =>
  world.claim(fan, undefined, true);

describe("presence: confirm", () => {
  it("counts no claim that does not say that somebody is there, and says what to do until when", async () => {
    const world = await memoryWorld(CONFIRM);
    const fan = await world.join();
    await world.tick();
    const opensAt = world.clock.now();
    for (const confirmed of [undefined, false]) {
      const refusal = await world.claim(fan, undefined, confirmed).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(AppError);
      expect(refusal).toMatchObject({
        code: "confirm-presence",
        detail: expect.stringContaining("confirmed: true"),
        extensions: { opensAt, closesAt: opensAt + 120_000, claimBy: opensAt + 60_000 },
      });
    }
    expect((await world.store.tally("spring")).claimed).toBe(0);
    expect(await codeOf(press(world, fan))).toBe("ok");
    expect((await world.store.tally("spring")).claimed).toBe(1);
  });

  it("does not ask the store what a claim without it was worth", async () => {
    const world = await memoryWorld(CONFIRM);
    const fan = await world.join();
    await world.tick();
    const before = world.store.calls;
    expect(await codeOf(world.claim(fan))).toBe("confirm-presence");
    expect(world.store.calls).toBe(before);
  });

  it("may be said as soon as the slot is committed: the admission is in hand before the turn (law 9)", async () => {
    const world = await memoryWorld(CONFIRM);
    const [, fan] = await world.joinMany(2);
    expect(await codeOf(press(world, fan!))).toBe("too-early");
    await world.tick();
    const { opensAt, admission } = await press(world, fan!);
    expect(opensAt).toBeGreaterThan(world.clock.now());
    expect(payload(admission)["nbf"]).toBe(Math.floor(opensAt / 1_000));
  });

  it("takes the word up to the end of the window, and not a millisecond later", async () => {
    for (const [lateMs, code] of [
      [0, "ok"],
      [1, "slot-over"],
    ] as const) {
      const world = await memoryWorld(CONFIRM);
      const fan = await world.join();
      await world.tick();
      world.clock.advance(60_000 + lateMs);
      expect(await codeOf(press(world, fan)), `${lateMs} ms late`).toBe(code);
    }
  });

  it("gives whoever has claimed the same admission after the window, without asking again", async () => {
    const world = await memoryWorld(CONFIRM);
    const fan = await world.join();
    await world.tick();
    const { jti } = payload((await press(world, fan)).admission);
    await world.pass(61_000);
    expect(payload((await world.claim(fan)).admission)["jti"]).toBe(jti);
    expect(await codeOf(world.claim(await late(world)))).toBe("slot-over");
  });

  it("gives back the slots of tabs that nobody sits in front of", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), async (pressed) => {
        const world = await memoryWorld({ ...CONFIRM, ratePerMinute: 6_000 });
        const fans = await world.joinMany(pressed.length);
        await world.tick();
        const codes = await Promise.all(
          fans.map((fan, index) => codeOf(world.claim(fan, undefined, pressed[index]))),
        );
        expect(codes).toEqual(pressed.map((yes) => (yes ? "ok" : "confirm-presence")));
        await world.pass(63_000);
        const here = pressed.filter(Boolean).length;
        expect(await world.store.tally("spring")).toEqual({
          claimed: here,
          lapsed: pressed.length - here,
        });
      }),
      { numRuns: 20 },
    );
  });

  it("is decided again in the queue: a claim that waited while the organizer asked for it does not count", async () => {
    const world = await memoryWorld({ ...CONFIRM, presence: "auto" });
    const [first, second] = await world.joinMany(2);
    await world.pass(1_000);
    const turnedOn = changeSettings(world.line, { presence: "confirm" }, { actor: "test" });
    const codes = await Promise.all([codeOf(world.claim(first!)), codeOf(press(world, second!))]);
    await turnedOn;
    expect(codes).toEqual(["confirm-presence", "ok"]);
    expect((await world.store.tally("spring")).claimed).toBe(1);
  });
});

describe("presence, changed while the sale runs", () => {
  it("is in the statement from the next one on; what was claimed stays claimed", async () => {
    const world = await memoryWorld({ ...CONFIRM, presence: "auto" });
    const [first, second] = await world.joinMany(2);
    await world.tick();
    const said = async () => z.parse(dripClaimsSchema, await world.drip()).presence;
    expect(await said()).toBeUndefined();
    const { jti } = payload((await world.claim(first!)).admission);
    await changeSettings(world.line, { presence: "confirm" }, { actor: "test" });
    expect(await said()).toBe("confirm");
    expect(await codeOf(world.claim(second!))).toBe("confirm-presence");
    expect(payload((await press(world, first!)).admission)["jti"]).toBe(jti);
    await changeSettings(world.line, { presence: "auto" }, { actor: "test" });
    expect(await said()).toBeUndefined();
    expect(await codeOf(world.claim(second!))).toBe("ok");
  });

  it("auto: the word is welcome and not needed", async () => {
    const world = await memoryWorld();
    const fan = await world.join();
    await world.tick();
    expect(await codeOf(press(world, fan))).toBe("ok");
  });

  it("outlives a crash and a takeover", async () => {
    const world = await memoryWorld(CONFIRM);
    const fan = await world.join();
    await world.tick();
    await world.crash();
    expect(await codeOf(world.claim(fan))).toBe("confirm-presence");
    expect(await codeOf(press(world, fan))).toBe("ok");
  });
});

/** Somebody whose turn came, and who pressed nothing. */
async function late(world: World<MintStore>) {
  const fan = await world.join();
  await world.tick();
  await world.pass(62_000);
  return fan;
}
