import { randomBytes } from "node:crypto";
import { premintAnswerSchema } from "@vestibule/contracts/premint-api";
import { AppError } from "@vestibule/kernel/app-error";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import { hashVisitor } from "@vestibule/token/visitor";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { end, hold, resume } from "../src/line/organizer.ts";
import type { MintStore } from "../src/store/store.ts";
import { codeOf, ISSUER, memoryWorld, payload, type World } from "./support/world.ts";

const actor = "test";

interface Batch {
  readonly visitors: readonly string[];
  readonly subs: readonly string[];
  readonly first: number;
  readonly tickets: readonly string[];
}

async function given(world: World<MintStore>, count: number): Promise<Batch> {
  const visitors = Array.from({ length: count }, () => randomBytes(32).toString("base64url"));
  const subs = visitors.map(hashVisitor);
  const bytes = await world.mint.premint("spring", { batch: "a", subs, actor });
  const answer = z.parse(premintAnswerSchema, JSON.parse(new TextDecoder().decode(bytes)));
  return { visitors, subs, ...answer };
}

const everybody = ({ subs }: Batch): number[] => subs.map((_sub, index) => index);

async function claim(
  world: World<MintStore>,
  batch: Batch,
  whose: readonly number[] = everybody(batch),
  confirmed?: boolean,
) {
  const request = { batch: "a", subs: [...batch.subs], whose: [...whose], confirmed };
  return (await world.mint.claimPremint("spring", request)).claims;
}

const refusals = (claims: Awaited<ReturnType<typeof claim>>): string[] =>
  claims.map((each) => ("refused" in each ? each.refused : "ok"));

describe("claims for people of a batch", () => {
  it("law 3: gives each the admission that their own claim has, and none for a slot that is not committed", async () => {
    const world = await memoryWorld({ ratePerMinute: 600, horizonSeconds: 10 });
    const batch = await given(world, 300);
    expect(new Set(refusals(await claim(world, batch)))).toEqual(new Set(["too-early"]));
    await world.tick();
    const { committed } = await world.drip();
    expect(committed).toBeLessThan(150);
    const claims = await claim(world, batch);
    expect(refusals(claims)).toEqual(
      batch.subs.map((_sub, index) => (batch.first + index <= committed ? "ok" : "too-early")),
    );
    for (const [index, each] of claims.entries()) {
      if ("refused" in each) continue;
      const visitor = batch.visitors[index] ?? "";
      const read = await verifyAdmission(each.admission, {
        ...{ keys: world.ring.verify, issuer: ISSUER, event: "spring", visitor },
        ...{ now: world.clock.now(), skewSeconds: 60, lifetimeSeconds: 600, action: "purchase" },
      });
      expect(read).toMatchObject({ ok: true, value: { number: batch.first + index } });
      const own = await world.mint.claim("spring", {
        visitor,
        ticket: batch.tickets[index] ?? "",
      });
      expect(own).toEqual(each);
    }
  });

  it("counts each claim once, however often it is asked for, and in whatever parts", async () => {
    const world = await memoryWorld({ ratePerMinute: 60_000, horizonSeconds: 10 });
    const random = runRandomness();
    const batch = await given(world, 200);
    await world.tick();
    const seen = new Map<number, string>();
    for (let round = 0; round < 20; round += 1) {
      const whose = everybody(batch).filter(() => random.integer({ min: 0, max: 2 }) === 0);
      if (whose.length === 0) continue;
      for (const [at, each] of (await claim(world, batch, whose)).entries()) {
        if ("refused" in each) throw new Error(each.refused);
        const index = whose[at] ?? 0;
        const { jti } = payload(each.admission);
        expect(seen.get(index) ?? jti).toBe(jti);
        seen.set(index, String(jti));
      }
    }
    expect(new Set(seen.values()).size).toBe(seen.size);
    expect((await world.store.tally("spring")).claimed).toBe(seen.size);
  });

  it("gives the new slot after a hold cut the old one, and nothing in between", async () => {
    const world = await memoryWorld({ ratePerMinute: 600, horizonSeconds: 10 });
    const batch = await given(world, 50);
    await world.tick();
    const before = await claim(world, batch);
    await world.pass(2_000);
    await hold(world.line, { scope: "entries", reason: "" }, { actor });
    const during = refusals(await claim(world, batch));
    expect(during).toEqual(during.toSorted().toReversed());
    expect(new Set(during)).toEqual(new Set(["ok", "held"]));
    await world.pass(5_000);
    await resume(world.line, { actor });
    await world.pass(1_000);
    const after = await claim(world, batch);
    expect(new Set(refusals(after))).toEqual(new Set(["ok"]));
    for (const [index, each] of after.entries()) {
      const earlier = before[index];
      if (earlier === undefined || "refused" in earlier || "refused" in each) throw new Error();
      if (during[index] === "ok") expect(each.opensAt).toBe(earlier.opensAt);
      else expect(each.opensAt).toBeGreaterThan(earlier.opensAt);
    }
  });

  it("says that a claim window is over, and that nobody has said that somebody is there", async () => {
    const world = await memoryWorld({ claimWindowSeconds: 10, presence: "confirm" });
    const batch = await given(world, 2);
    await world.tick();
    expect(refusals(await claim(world, batch))).toEqual(["confirm-presence", "confirm-presence"]);
    expect(refusals(await claim(world, batch, [1], true))).toEqual(["ok"]);
    await world.pass(20_000);
    expect(refusals(await claim(world, batch, [0, 1], true))).toEqual(["slot-over", "ok"]);
    expect(await world.store.tally("spring")).toMatchObject({ claimed: 1 });
  });

  it("refuses other people, a batch that nobody asked for, and an event that is over", async () => {
    const world = await memoryWorld();
    const batch = await given(world, 5);
    await world.tick();
    const other = { ...batch, subs: batch.subs.toReversed() };
    expect(await codeOf(claim(world, other))).toBe("conflict");
    const none = { batch: "b", subs: [...batch.subs], whose: [0] };
    expect(await codeOf(world.mint.claimPremint("spring", none))).toBe("not-found");
    expect((await world.store.tally("spring")).claimed).toBe(0);
    await end(world.line, { actor });
    expect(await codeOf(claim(world, batch))).toBe("event-ended");
  });

  it("signs nothing while the store does not record it; asked again it gives the same", async () => {
    const world = await memoryWorld({ ratePerMinute: 60_000 });
    const batch = await given(world, 10);
    await world.tick();
    const real = world.store.recordClaims.bind(world.store);
    world.store.recordClaims = async (...args) => {
      world.store.recordClaims = real;
      await real(...args);
      throw new AppError("unavailable", { internal: "the answer was lost" });
    };
    expect(await codeOf(claim(world, batch))).toBe("unavailable");
    expect(new Set(refusals(await claim(world, batch)))).toEqual(new Set(["ok"]));
    expect((await world.store.tally("spring")).claimed).toBe(10);
  });

  it("is refused by a mint that was replaced, and by one that does not lead", async () => {
    const world = await memoryWorld({ ratePerMinute: 60_000 });
    const batch = await given(world, 10);
    await world.tick();
    world.clock.advance(3_001);
    await world.store.acquireLease({ holder: "other", ttlMs: 3_000, gapNumbers: 10 });
    expect(await codeOf(claim(world, batch))).toBe("unavailable");
    expect((await world.store.tally("spring")).claimed).toBe(0);
    expect(world.term).toBeUndefined();
    expect(await codeOf(claim(world, batch))).toBe("unavailable");
  });
});
