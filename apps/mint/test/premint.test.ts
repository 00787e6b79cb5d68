import { randomBytes } from "node:crypto";
import { premintAnswerSchema } from "@vestibule/contracts/premint-api";
import { AppError } from "@vestibule/kernel/app-error";
import { hashVisitor } from "@vestibule/token/visitor";
import { verifyTicket } from "@vestibule/token/verify-ticket";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { PREMINTS_IN_DOUBT_MAX } from "../src/limits.ts";
import { declareSoldout, end } from "../src/line/organizer.ts";
import type { MemoryStore } from "./support/memory-store.ts";
import { codeOf, ISSUER, memoryWorld, type World } from "./support/world.ts";

const actor = "test";

function people(count: number): { visitors: string[]; subs: string[] } {
  const visitors = Array.from({ length: count }, () => randomBytes(32).toString("base64url"));
  return { visitors, subs: visitors.map(hashVisitor) };
}

/** The next call of `name` stores what it should, and its answer is lost. */
function loseAnswer(store: MemoryStore, name: "recordPremint", { stored }: { stored: boolean }) {
  const real = store[name].bind(store);
  store[name] = async (...args) => {
    store[name] = real;
    if (stored) await real(...args);
    throw new AppError("unavailable", { internal: "the answer was lost" });
  };
}

async function premint(world: World<MemoryStore>, batch: string, subs: readonly string[]) {
  const bytes = await world.mint.premint("spring", { batch, subs, actor });
  return z.parse(premintAnswerSchema, JSON.parse(new TextDecoder().decode(bytes)));
}

describe("places given beforehand", () => {
  it("gives each their number, in order, by tickets that the verifier of the edge takes", async () => {
    const world = await memoryWorld();
    const { visitors, subs } = people(1_000);
    const { first, tickets } = await premint(world, "a", subs);
    expect(tickets).toHaveLength(1_000);
    for (const [index, visitor] of visitors.entries()) {
      const read = await verifyTicket(tickets[index] ?? "", {
        ...{ keys: world.ring.verify, issuer: ISSUER, event: "spring", visitor },
        ...{ now: world.clock.now(), skewSeconds: 5 },
      });
      expect(read).toMatchObject({ ok: true, value: { number: first + index } });
    }
  });

  it("law 1: a batch asked again has the same numbers; joins beside it have others", async () => {
    const world = await memoryWorld();
    const { subs } = people(200);
    const [once, fans, twice, other] = await Promise.all([
      premint(world, "a", subs),
      world.joinMany(100),
      premint(world, "a", subs),
      premint(world, "b", people(200).subs),
    ]);
    expect(twice).toEqual(once);
    const numbers = [once, other].flatMap(({ first }) => subs.map((_, index) => first + index));
    const all = [...numbers, ...fans.map(({ place }) => place.number)];
    expect(new Set(all).size).toBe(500);
  });

  it("law 1: after a crash the same batch has the same numbers, and nobody else has them", async () => {
    const world = await memoryWorld();
    const { subs } = people(100);
    const before = await premint(world, "a", subs);
    await world.crash();
    const fans = await world.joinMany(100);
    const after = await premint(world, "a", subs);
    expect(after.first).toBe(before.first);
    expect(Math.min(...fans.map(({ place }) => place.number))).toBeGreaterThan(before.first + 99);
  });

  it.each([{ stored: true }, { stored: false }])(
    "law 1: a lost answer of the store costs no number, stored or not: %o",
    async ({ stored }) => {
      const world = await memoryWorld();
      const { subs } = people(100);
      loseAnswer(world.store, "recordPremint", { stored });
      expect(await codeOf(premint(world, "a", subs))).toBe("unavailable");
      const { place } = await world.join();
      const { first } = await premint(world, "a", subs);
      expect(first).toBe(1);
      expect(place.number).toBe(101);
    },
  );

  it("is in doubt about no batch that was asked for again, however many answers are lost", async () => {
    const world = await memoryWorld();
    for (let index = 0; index <= PREMINTS_IN_DOUBT_MAX; index += 1) {
      const { subs } = people(1);
      loseAnswer(world.store, "recordPremint", { stored: true });
      expect(await codeOf(premint(world, `b${index}`, subs))).toBe("unavailable");
      expect((await premint(world, `b${index}`, subs)).first).toBe(index + 1);
    }
  });

  it("gives everybody their slot, at the rate, and nobody two", async () => {
    const world = await memoryWorld({ ratePerMinute: 6_000, claimWindowSeconds: 60 });
    const { visitors, subs } = people(300);
    const { first, tickets } = await premint(world, "a", subs);
    await world.pass(5_000);
    const claims = visitors.map((visitor, index) =>
      world.mint.claim("spring", { visitor, ticket: tickets[index] ?? "" }),
    );
    const opens = (await Promise.all(claims)).map(({ opensAt }) => opensAt);
    expect(opens).toEqual(opens.toSorted((a, b) => a - b));
    expect((opens.at(-1) ?? 0) - (opens[0] ?? 0)).toBeGreaterThanOrEqual(2_990);
    expect(world.store.committed("spring").reduce((sum, { count }) => sum + count, 0)).toBe(300);
    expect(first).toBe(1);
  });

  it("gives places before the line opens: those come first", async () => {
    const world = await memoryWorld({ joinableAt: 1_800_000_000_000, startsAt: 1_800_000_060_000 });
    expect(await codeOf(world.join())).toBe("too-early");
    expect((await premint(world, "a", people(10).subs)).first).toBe(1);
  });

  it("refuses a batch's name for other people, an event that is over, and one that is sold out", async () => {
    const world = await memoryWorld();
    const { subs } = people(10);
    await premint(world, "a", subs);
    expect(await codeOf(premint(world, "a", subs.toReversed()))).toBe("conflict");
    expect(await codeOf(premint(world, "a", people(10).subs))).toBe("conflict");
    await declareSoldout(world.line, { actor });
    expect(await codeOf(premint(world, "b", people(10).subs))).toBe("sold-out");
    expect(await premint(world, "a", subs)).toMatchObject({ first: 1 });
    await end(world.line, { actor });
    expect(await codeOf(premint(world, "a", subs))).toBe("event-ended");
  });
});
