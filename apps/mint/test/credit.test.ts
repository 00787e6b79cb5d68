/** A purchase that failed by a fault of ours gets its fan a fresh slot, once, within the rate. */
import { AppError } from "@vestibule/kernel/app-error";
import { epochMs } from "@vestibule/kernel/units";
import { verifyAdmission } from "@vestibule/token/verify-admission";
import { describe, expect, it } from "vitest";
import { DEMAND_RUNS_MAX } from "../src/limits.ts";
import { declareSoldout, end, hold, resume } from "../src/line/organizer.ts";
import { hearSupply } from "../src/line/supply.ts";
import { CreditWorld, creditKey } from "./support/credits.ts";
import { openings, tooFast } from "./support/exactness.ts";
import { codeOf, ISSUER, memoryWorld, payload } from "./support/world.ts";

const deed = { actor: "test" };
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as AppError,
  );

describe("a credit", () => {
  it("gets the next slot, and the fresh admission has the name of the old one: it never buys twice", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, answer, credit } = await at.failed();
    expect(await codeOf(world.claim(fan))).toBe("slot-over");
    const refusal = await refusalOf(world.claim(fan, credit));
    expect(refusal).toMatchObject({
      code: "too-early",
      retryAfterSeconds: 1,
      extensions: { creditUsed: true },
    });
    // Those behind are told that somebody comes before them.
    expect((await world.drip()).owed).toBe(1);
    await world.pass(1_000);
    expect((await world.drip()).owed).toBeUndefined();
    const fresh = await world.claim(fan);
    expect(fresh.opensAt).toBe(world.clock.now());
    const [old, anew] = [payload(answer.admission), payload(fresh.admission)];
    expect(anew["jti"]).toBe(old["jti"]);
    expect(anew["n"]).toBe(old["n"]);
    expect(anew["nbf"]).toBeGreaterThanOrEqual(old["exp"] as number);
    const read = await verifyAdmission(fresh.admission, {
      ...{ keys: world.ring.verify, issuer: ISSUER, event: "spring", lifetimeSeconds: 20 },
      ...{ action: "purchase", visitor: fan.visitor, skewSeconds: 0, now: world.clock.now() },
    });
    expect(read.ok).toBe(true);
    // The statement says the fresh slot, as pages and edges look it up.
    expect((await world.drip()).segments).toMatchObject([{ base: 1, from: fresh.opensAt }]);
    expect(await world.store.tally("spring")).toEqual({ claimed: 1, lapsed: 0 });
  });

  it("shown by 200 claims at once gives one fresh slot", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, credit } = await at.failed();
    const asked = () => Array.from({ length: 200 }, () => refusalOf(world.claim(fan, credit)));
    const refusals = await Promise.all(asked());
    expect(new Set(refusals.map((error) => error?.code))).toEqual(new Set(["too-early"]));
    expect(refusals.every((error) => error?.extensions?.["creditUsed"] === true)).toBe(true);
    await world.pass(3_000);
    const answers = await Promise.all(asked());
    expect(answers.filter((error) => error === undefined)).toHaveLength(200);
    await world.pass(60_000);
    expect(at.slotsOf(1)).toBe(2);
    expect(world.store.creditsUsed("spring")).toBe(1);
    expect(await world.store.tally("spring")).toEqual({ claimed: 1, lapsed: 0 });
  });

  it("is used once: the fresh slot's own end is final", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, credit } = await at.failed();
    await codeOf(world.claim(fan, credit));
    await world.pass(1_000);
    expect(await codeOf(world.claim(fan, credit))).toBe("ok");
    await world.pass(60_000);
    expect(await codeOf(world.claim(fan, credit))).toBe("slot-over");
    expect(at.slotsOf(1)).toBe(2);
  });

  it("of the fresh slot makes that one good too", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, credit } = await at.failed();
    await codeOf(world.claim(fan, credit));
    await world.pass(1_000);
    const second = await at.credit(fan, await world.claim(fan));
    await world.pass(25_000);
    expect(await codeOf(world.claim(fan, credit))).toBe("slot-over");
    expect(await codeOf(world.claim(fan, second))).toBe("too-early");
    await world.pass(1_000);
    expect(await codeOf(world.claim(fan))).toBe("ok");
    expect(at.slotsOf(1)).toBe(3);
  });

  it("counts for nobody and nothing else", async () => {
    const at = await CreditWorld.start({ ratePerMinute: 600 });
    const { world } = at;
    const [fan, other] = await world.joinMany(2);
    await world.pass(1_000);
    const answer = await world.claim(fan!);
    await world.claim(other!);
    const stranger = await creditKey();
    const credits = {
      "another number": await at.credit(fan!, answer, { number: 2 }),
      "another event": await at.credit(fan!, answer, { event: "autumn" }),
      "another visitor": await at.credit(other!, answer, { number: 1 }),
      "another slot": await at.credit(fan!, answer, {
        slot: Math.floor(answer.opensAt / 1_000) - 1,
      }),
      "a later slot": await at.credit(fan!, answer, {
        slot: Math.floor(answer.opensAt / 1_000) + 1,
      }),
      "a stranger's key": await at.credit(fan!, answer, { key: stranger.signingKey }),
      "the mint's own key": await at.credit(fan!, answer, { key: world.ring.signing.line }),
      "an admission": answer.admission,
      "a ticket": fan!.place.ticket,
      rubbish: "x.y.z",
    };
    await world.pass(25_000);
    for (const [name, credit] of Object.entries(credits)) {
      expect(await codeOf(world.claim(fan!, credit)), `credit of ${name}`).toBe("slot-over");
    }
    // Somebody else's credit beside one's own ticket, and a thief with everything but the secret.
    const own = await at.credit(fan!, answer);
    expect(await codeOf(world.claim(other!, own))).toBe("slot-over");
    const thief = { ...world.fan(), place: fan!.place };
    expect(await codeOf(world.claim(thief, own))).toBe("forbidden");
    expect(world.store.creditsUsed("spring")).toBe(0);
    expect(await codeOf(world.claim(fan!, own))).toBe("too-early");
  });

  it("is over after a day", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, credit } = await at.failed();
    world.clock.advance(86_400_000 - 30_000);
    expect(await codeOf(world.claim(fan, credit))).toBe("too-early");
    const later = await CreditWorld.start();
    const failed = await later.failed();
    later.world.clock.advance(86_400_000 + 5_000);
    expect(await codeOf(later.world.claim(failed.fan, failed.credit))).toBe("slot-over");
  });

  it("of a slot that is not over changes nothing: the admission is still good", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const fan = await world.join();
    await world.pass(1_000);
    const answer = await world.claim(fan);
    const credit = await at.credit(fan, answer);
    await world.pass(19_000);
    const again = await world.claim(fan, credit);
    expect(payload(again.admission)["exp"]).toBe(payload(answer.admission)["exp"]);
    expect(world.store.creditsUsed("spring")).toBe(0);
  });

  it("waits until the counts of its old segment are final", async () => {
    const change = { ratePerMinute: 600, claimWindowSeconds: 20, horizonSeconds: 50 };
    const at = await CreditWorld.start(change);
    const { world } = at;
    const fans = await world.joinMany(600);
    await world.tick();
    const [segment] = world.line.record.segments; // five seconds from its first slot to its last
    expect(segment?.count).toBe(50);
    const answer = await world.claim(fans[0]!);
    const credit = await at.credit(fans[0]!, answer);
    await world.pass(21_000);
    const refusal = await refusalOf(world.claim(fans[0]!, credit));
    expect(refusal?.code).toBe("too-early");
    expect(refusal?.extensions).toEqual({});
    const waitMs = (refusal?.retryAfterSeconds ?? 0) * 1_000;
    expect(await codeOf(world.claim(fans[0]!))).toBe("slot-over");
    expect(world.store.creditsUsed("spring")).toBe(0);
    await world.pass(waitMs);
    expect(await refusalOf(world.claim(fans[0]!, credit))).toMatchObject({
      extensions: { creditUsed: true },
    });
    // The claim of the old slot is counted there, and nowhere else.
    expect(await world.store.tally("spring")).toEqual({ claimed: 1, lapsed: 49 });
  });

  it("keeps through a hold, and gets its slot after the resume", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, credit } = await at.failed();
    await hold(world.line, { scope: "entries", reason: "" }, deed);
    expect(await codeOf(world.claim(fan, credit))).toBe("held");
    expect(await codeOf(world.claim(fan))).toBe("slot-over");
    expect(world.store.creditsUsed("spring")).toBe(0);
    await world.pass(5_000);
    await resume(world.line, deed);
    expect(await codeOf(world.claim(fan, credit))).toBe("too-early");
    await world.pass(1_000);
    expect(await codeOf(world.claim(fan))).toBe("ok");
  });

  it("a fresh slot that a hold cuts is given anew, for the same one credit", async () => {
    const at = await CreditWorld.start({ ratePerMinute: 6 });
    const { world } = at;
    const { fan, credit } = await at.failed();
    await world.joinMany(1);
    await world.pass(1_000); // the newcomer's slot opens now; the next one in ten seconds
    await codeOf(world.claim(fan, credit));
    await world.pass(1_000);
    const before = await world.claim(fan);
    expect(before.opensAt).toBeGreaterThan(world.clock.now());
    await hold(world.line, { scope: "entries", reason: "" }, deed);
    await world.pass(30_000);
    expect(await codeOf(world.claim(fan, credit))).toBe("held");
    await resume(world.line, deed);
    await world.pass(1_000);
    const after = await world.claim(fan, credit);
    expect(after.opensAt).toBeGreaterThan(before.opensAt);
    await world.pass(60_000);
    expect(await codeOf(world.claim(fan, credit))).toBe("slot-over");
    expect(world.store.creditsUsed("spring")).toBe(1);
    expect(at.slotsOf(1)).toBe(2);
  });

  it("is refused while the sale is sold out, keeps until it goes on, and for good when it ends", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, credit } = await at.failed();
    await hearSupply(world.line, { soldOut: true, seq: 1 });
    expect(await codeOf(world.claim(fan, credit))).toBe("sold-out");
    await hearSupply(world.line, { soldOut: false, seq: 2 });
    expect(await codeOf(world.claim(fan, credit))).toBe("too-early");
    await world.pass(1_000);
    const second = await at.credit(fan, await world.claim(fan));
    await world.pass(25_000);
    await declareSoldout(world.line, deed);
    expect(await codeOf(world.claim(fan, second))).toBe("sold-out");
    await end(world.line, deed);
    expect(await codeOf(world.claim(fan, second))).toBe("event-ended");
    expect(world.store.creditsUsed("spring")).toBe(1);
  });

  it("is worth nothing to a mint that knows no credit keys, and no error either", async () => {
    const world = await memoryWorld({ claimWindowSeconds: 10, lifetimeSeconds: 20 });
    const at = await CreditWorld.start();
    const fan = await world.join();
    await world.pass(1_000);
    const credit = await at.credit(fan, await world.claim(fan));
    await world.pass(25_000);
    expect(await codeOf(world.claim(fan, credit))).toBe("slot-over");
  });

  it("brings back its own place to whoever joins again meanwhile", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, credit } = await at.failed();
    await codeOf(world.claim(fan, credit));
    const back = await world.mint.join("spring", {
      visitor: fan.visitor,
      ticket: fan.place.ticket,
    });
    expect(back).toMatchObject({ fresh: false, answer: { number: 1 } });
  });
});

describe("a credit and a leader that changes", () => {
  it("used before a crash it is used after it: one fresh slot, by whichever leader", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, credit } = await at.failed();
    await codeOf(world.claim(fan, credit));
    await world.crash();
    expect(await refusalOf(world.claim(fan, credit))).toMatchObject({
      code: "too-early",
      extensions: { creditUsed: true },
    });
    await world.pass(2_000);
    expect(await codeOf(world.claim(fan, credit))).toBe("ok");
    await world.crash();
    await world.pass(60_000);
    expect(await codeOf(world.claim(fan, credit))).toBe("slot-over");
    expect(at.slotsOf(1)).toBe(2);
  });

  it("a leader that was replaced makes nothing good, however it is asked", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, credit } = await at.failed();
    const old = { line: world.line, desk: world.mint.entry("spring").desk };
    await world.crash();
    await codeOf(world.claim(fan, credit));
    const slot = payload(credit)["slot"] as never;
    expect(await codeOf(old.desk.claim(1, { credit: { slot } }))).toBe("unavailable");
    await world.pass(60_000);
    expect(at.slotsOf(1)).toBe(2);
    expect(world.store.creditsUsed("spring")).toBe(1);
  });

  it.each(["step", "recordClaims", "findPlaces"] as const)(
    "a lost answer of %s costs nobody a slot, and gives nobody two",
    async (what) => {
      const at = await CreditWorld.start();
      const { world } = at;
      const { fan, credit } = await at.failed();
      const store = world.store as unknown as Record<string, (...args: unknown[]) => unknown>;
      const real = store[what]!;
      store[what] = async (...args) => {
        delete store[what];
        await real.apply(store, args);
        throw new AppError("unavailable", { internal: "the answer was lost" });
      };
      const codes: string[] = [];
      for (let round = 0; round < 6; round += 1) {
        codes.push(await codeOf(world.claim(fan, credit)));
        await world.pass(1_000);
      }
      expect(codes).toContain("unavailable");
      expect(codes.at(-1)).toBe("ok");
      expect(at.slotsOf(1)).toBe(2);
      expect(world.store.creditsUsed("spring")).toBe(1);
    },
  );
});

describe("law 3 and the counts", () => {
  it("hold when everybody's purchase failed: the fresh slots are part of the rate, and come first", async () => {
    const at = await CreditWorld.start({ ratePerMinute: 300 });
    const { world } = at;
    const fans = await world.joinMany(100);
    const credits = new Map<number, string>();
    for (let second = 0; second < 40; second += 1) {
      await world.pass(1_000);
      for (const fan of fans) {
        if (credits.has(fan.place.number)) continue;
        const answer = await world.claim(fan).catch(() => undefined);
        if (answer) credits.set(fan.place.number, await at.credit(fan, answer));
      }
    }
    expect(credits.size).toBe(100);
    await world.pass(30_000);
    const newcomers = await world.joinMany(50);
    await Promise.all(
      fans.map((fan) => codeOf(world.claim(fan, credits.get(fan.place.number) ?? ""))),
    );
    const granted = world.line.record.progress.line.granted;
    expect(granted).toBe(0);
    const from = world.clock.now();
    await world.pass(60_000);
    const slots = openings(world.store.committed("spring"));
    expect(tooFast(slots, { ratePerMinute: 300, extra: 0 })).toBeUndefined();
    const second = slots.filter(({ at: opens }) => opens >= from).map(({ n }) => n);
    // In the order in which their claims were read.
    const first = second.slice(0, 100).toSorted((a, b) => a - b);
    expect(first).toEqual(fans.map(({ place }) => place.number));
    expect(second.slice(100)).toEqual(newcomers.map(({ place }) => place.number));
  });

  it("an outage that leaves more credits than may wait fails nobody else's claim, and each gets its turn", async () => {
    const at = await CreditWorld.start({ ratePerMinute: 600 });
    const { world } = at;
    const { fan, credit } = await at.failed();
    const second = await at.failed();
    const newcomer = await world.join();
    await world.pass(1_000);
    // As many as may wait, but one: numbers that nobody here holds, behind the line's own.
    await world.line.write(() => {
      const run = (index: number) => 1_000_000 + index * 2;
      const demandSet = Array.from({ length: DEMAND_RUNS_MAX - 1 }, (_, index) => ({
        ...{ position: 1_000 + index, first: run(index), last: run(index) },
      }));
      return world.line.step({ settle: [], decide: () => ({ demandSet }) });
    });
    const codes = await Promise.all([
      codeOf(world.claim(fan, credit)),
      codeOf(world.claim(second.fan, second.credit)),
      codeOf(world.claim(newcomer)),
    ]);
    expect(codes.toSorted()).toEqual(["ok", "too-early", "unavailable"]);
    expect(codes[2]).toBe("ok");
    expect(world.store.creditsUsed("spring")).toBe(1);
  });

  it("maxAdmissions bounds people, not their tries: a credit is kept at the very end too", async () => {
    const at = await CreditWorld.start({ maxAdmissions: 1 });
    const { world } = at;
    const { fan, credit } = await at.failed();
    const late = await world.join();
    await world.pass(5_000);
    expect(await codeOf(world.claim(late))).toBe("too-early");
    await codeOf(world.claim(fan, credit));
    await world.pass(2_000);
    expect(await codeOf(world.claim(fan))).toBe("ok");
    await world.pass(60_000);
    expect(await codeOf(world.claim(late))).toBe("too-early");
    expect(world.line.record.progress.line.granted).toBe(1);
  });

  it("a fresh slot that nobody claims lapses once, and is given back once", async () => {
    const at = await CreditWorld.start();
    const { world } = at;
    const { fan, credit } = await at.failed();
    await codeOf(world.claim(fan, credit));
    await world.pass(60_000);
    const { line, lapsed } = world.line.record.progress;
    expect({ lapsed, granted: line.granted }).toEqual({ lapsed: 1, granted: 0 });
    expect(await world.store.tally("spring")).toEqual({ claimed: 1, lapsed: 1 });
    expect(await codeOf(world.claim(fan, credit))).toBe("slot-over");
  });

  it("a claim of the fresh slot and its lapse never both count", async () => {
    for (let round = 0; round < 30; round += 1) {
      const at = await CreditWorld.start();
      const { world } = at;
      const { fan, credit } = await at.failed();
      await codeOf(world.claim(fan, credit));
      await world.pass(1_000);
      const opensAt = world.line.record.segments[0]!.from;
      world.clock.set(epochMs(opensAt + 10_000 - 15 + round));
      const [code] = await Promise.all([codeOf(world.claim(fan)), world.tick()]);
      await world.pass(3_000);
      const { claimed, lapsed } = await world.store.tally("spring");
      expect(claimed).toBe(1);
      expect(lapsed).toBe(code === "ok" ? 0 : 1);
      expect(world.line.record.progress.line.granted).toBe(code === "ok" ? 1 : 0);
    }
  });
});
