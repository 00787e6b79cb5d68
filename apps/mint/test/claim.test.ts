import { describe, expect, it } from "vitest";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import { CLAIM_QUEUE_MAX } from "../src/limits.ts";
import { codeOf, ISSUER, memoryWorld, payload } from "./support/world.ts";

describe("claiming", () => {
  it("gives whoever has a committed slot an admission that the edge's verifier takes at its time", async () => {
    const world = await memoryWorld();
    const [, fan] = await world.joinMany(2);
    await world.tick();
    const { opensAt, closesAt, admission } = await world.claim(fan!);
    expect(opensAt).toBe(world.clock.now() + 1_000);
    expect(closesAt).toBe((Math.floor(opensAt / 1_000) + 600) * 1_000);
    const options = {
      keys: world.ring.verify,
      issuer: ISSUER,
      event: "spring",
      lifetimeSeconds: 600,
      action: "purchase" as const,
      visitor: fan!.visitor,
      skewSeconds: 0,
    };
    const early = await verifyAdmission(admission, { ...options, now: world.clock.now() });
    expect(early).toMatchObject({ ok: false, refusal: { reason: "too-early" } });
    world.clock.advance(1_000);
    const now = world.clock.now();
    expect(await verifyAdmission(admission, { ...options, now })).toMatchObject({ ok: true });
  });

  it("says 425 before the slot is committed, and grants nothing", async () => {
    const world = await memoryWorld();
    const fan = await world.join();
    const refusal = await world.claim(fan).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "too-early", retryAfterSeconds: 1 });
    expect((await world.store.tally("spring")).claimed).toBe(0);
  });

  it("QP-10: takes a claim up to the end of the window, and not a millisecond later", async () => {
    for (const [lateMs, code] of [
      [-1, "ok"],
      [0, "ok"],
      [1, "slot-over"],
    ] as const) {
      const world = await memoryWorld({ claimWindowSeconds: 60 });
      const fan = await world.join();
      await world.tick();
      world.clock.advance(60_000 + lateMs);
      expect(await codeOf(world.claim(fan)), `${lateMs} ms late`).toBe(code);
    }
  });

  it("gives the same admission to whoever asks again, until the slot closes", async () => {
    const world = await memoryWorld({ claimWindowSeconds: 10, lifetimeSeconds: 60 });
    const fan = await world.join();
    await world.tick();
    const { jti, nbf, exp } = payload((await world.claim(fan)).admission);
    for (const waitMs of [0, 9_000, 20_000, 29_000]) {
      await world.pass(waitMs);
      expect(payload((await world.claim(fan)).admission)).toMatchObject({ jti, nbf, exp });
    }
    await world.pass(2_000);
    expect(await codeOf(world.claim(fan))).toBe("slot-over");
    expect(await world.store.tally("spring")).toEqual({ claimed: 1, lapsed: 0 });
  });

  it("gives the same admission after a crash and a takeover", async () => {
    const world = await memoryWorld();
    const fan = await world.join();
    await world.tick();
    const { jti, nbf, exp } = payload((await world.claim(fan)).admission);
    await world.crash();
    expect(payload((await world.claim(fan)).admission)).toMatchObject({ jti, nbf, exp });
  });

  it("records 200 claims of one place at once as one", async () => {
    const world = await memoryWorld();
    const fan = await world.join();
    await world.tick();
    const answers = await Promise.all(Array.from({ length: 200 }, () => world.claim(fan)));
    expect(new Set(answers.map(({ admission }) => payload(admission)["jti"])).size).toBe(1);
    expect((await world.store.tally("spring")).claimed).toBe(1);
  });

  it("records many claims with few writes", async () => {
    const world = await memoryWorld({ ratePerMinute: 60_000 });
    const fans = await world.joinMany(300);
    await world.tick();
    const before = world.store.calls;
    const { desk } = world.mint.entry("spring");
    await Promise.all(fans.map(({ place }) => desk.claim(place.number)));
    expect(world.store.calls - before).toBe(1);
    expect((await world.store.tally("spring")).claimed).toBe(300);
  });

  it("never lets a claim and the lapse of its slot both count", async () => {
    for (let round = 0; round < 50; round += 1) {
      const world = await memoryWorld({ claimWindowSeconds: 5, ratePerMinute: 6_000 });
      const fans = await world.joinMany(20);
      await world.tick();
      // Every claim window ends about now: ticks and claims meet in all orders.
      world.clock.advance(5_000 + round * 4);
      const claims = fans.map((fan) => codeOf(world.claim(fan)));
      const ticks = [world.tick(), world.pass(1_000)];
      const codes = await Promise.all(claims);
      await Promise.all(ticks);
      await world.pass(2_000);
      const granted = codes.filter((code) => code === "ok").length;
      const { claimed, lapsed } = await world.store.tally("spring");
      expect(claimed).toBe(granted);
      expect(claimed + lapsed).toBe(20);
    }
  });

  it("refuses a ticket that is not this visitor's", async () => {
    const world = await memoryWorld();
    const fan = await world.join();
    await world.tick();
    const thief = { ...world.fan(), place: fan.place };
    expect(await codeOf(world.claim(thief))).toBe("forbidden");
    expect(await codeOf(world.claim({ ...fan, place: { ...fan.place, ticket: "x.y.z" } }))).toBe(
      "forbidden",
    );
  });

  it("answers 503 instead of queueing without a bound, and serves on afterwards", async () => {
    const world = await memoryWorld();
    const fan = await world.join();
    await world.tick();
    const { desk } = world.mint.entry("spring");
    let release = () => {};
    const blocked = world.line.write(() => new Promise<void>((resolve) => (release = resolve)));
    const asked = Array.from({ length: CLAIM_QUEUE_MAX + 10 }, () => codeOf(desk.claim(1)));
    await Promise.resolve();
    release();
    await blocked;
    const codes = await Promise.all(asked);
    expect(codes.filter((code) => code === "unavailable")).toHaveLength(10);
    expect(codes.filter((code) => code === "ok")).toHaveLength(CLAIM_QUEUE_MAX);
    expect(await codeOf(world.claim(fan))).toBe("ok");
  });
});
