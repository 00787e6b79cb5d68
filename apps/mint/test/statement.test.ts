import { aheadOf } from "@vestibule/drip/estimate";
import { opensAt } from "@vestibule/drip/segment";
import { epochMs, ticketNumber } from "@vestibule/kernel/units";
import { dripClaimsSchema, manifestClaimsSchema } from "@vestibule/contracts/statements";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { joined } from "../src/line/statement.ts";
import { GAP, memoryWorld, payload } from "./support/world.ts";

const START = 1_767_225_600_000;

/** A run of neighbouring segments, often of equal pace, some cut. */
const schedule = fc
  .array(
    fc.record({
      count: fc.integer({ min: 1, max: 6 }),
      paceMs: fc.constantFrom(1, 2, 3, 7, 1_000),
      oddMs: fc.constantFrom(0, 0, 0, 1, 2),
      gapMs: fc.constantFrom(0, 0, 0, 5),
      skip: fc.constantFrom(0, 0, 0, 2),
      cut: fc.constantFrom(false, false, false, true),
    }),
    { maxLength: 12 },
  )
  .map((pieces) => {
    let [base, from] = [1, START];
    return pieces.map(({ count, paceMs, oddMs, gapMs, skip, cut }) => {
      base += skip;
      from += gapMs;
      const until = from + count * paceMs + oddMs;
      const segment = {
        base: ticketNumber(base),
        count,
        from: epochMs(from),
        until: epochMs(until),
        ...(cut ? { cutAfter: epochMs(from + 1) } : {}),
      };
      base += count;
      from = until;
      return segment;
    });
  });

describe("the drip statement", () => {
  it("joins neighbours without moving any slot by a millisecond", () => {
    fc.assert(
      fc.property(schedule, (segments) => {
        const list = joined(segments);
        const times = (all: readonly (typeof list)[number][]) =>
          all.flatMap((segment) =>
            Array.from({ length: segment.count }, (_, index) => {
              const n = segment.base + index;
              return [n, opensAt(segment, n), segment.cutAfter];
            }),
          );
        expect(times(list)).toEqual(times(segments));
        expect(list.length).toBeLessThanOrEqual(segments.length);
      }),
    );
  });

  it("says an even drip in a few segments", async () => {
    const world = await memoryWorld({ ratePerMinute: 1_000 });
    await world.joinMany(3_000);
    await world.pass(60_000);
    expect((await world.drip()).segments.length).toBeLessThan(12);
  });

  it("is what the contracts say, in every state", async () => {
    const world = await memoryWorld({
      joinableAt: START + 10_000,
      startsAt: START + 20_000,
      endsAt: START + 90_000,
    });
    const states: string[] = [];
    for (let second = 0; second < 100; second += 1) {
      if (second === 12) await world.joinMany(10);
      const claims = z.parse(dripClaimsSchema, await world.drip());
      if (states.at(-1) !== claims.state) states.push(claims.state);
      if (claims.state !== "open" && claims.state !== "ended") expect(claims.segments).toEqual([]);
      await world.pass(1_000);
    }
    expect(states).toEqual(["scheduled", "prequeue", "open", "ended"]);
  });

  it("tells the gap of a takeover before anybody has joined behind it: it is not people ahead", async () => {
    const world = await memoryWorld({ ratePerMinute: 60 });
    await world.joinMany(1_000);
    await world.pass(2_000);
    await world.crash();
    const drip = await world.drip();
    const { place } = await world.join();
    expect(place.number).toBeGreaterThan(1_000 + GAP);
    expect((await world.drip()).issued).toBeLessThanOrEqual(1_100);
    expect(aheadOf(place.number, drip, world.clock.now())).toBeLessThanOrEqual(1_000);
  });

  it("lets nobody in before the sale starts, to the millisecond", async () => {
    const world = await memoryWorld({ joinableAt: START, startsAt: START + 20_500 });
    await world.joinMany(100);
    await world.pass(60_000);
    const first = Math.min(...world.store.committed("spring").map(({ from }) => from));
    expect(first).toBeGreaterThanOrEqual(START + 20_500);
    expect(first).toBeLessThan(START + 21_600);
  });
});

describe("the manifest", () => {
  it("is what the contracts say, and keeps an ended event so that its pages stay closed", async () => {
    const world = await memoryWorld({ endsAt: START + 10_000 });
    const read = async () =>
      z.parse(manifestClaimsSchema, payload(await world.mint.leading().manifest()));
    expect((await read()).events).toMatchObject([{ event: "spring", claimWindowSeconds: 180 }]);
    expect((await read()).events[0]).not.toHaveProperty("friction");
    world.clock.advance(86_400_000);
    expect((await read()).events).toHaveLength(1);
    world.clock.advance(30 * 86_400_000);
    expect((await read()).events).toHaveLength(0);
  });
  it("names the language of an event that has one", async () => {
    for (const own of [{}, { language: "pl" as const }]) {
      const world = await memoryWorld(own);
      const { events } = z.parse(
        manifestClaimsSchema,
        payload(await world.mint.leading().manifest()),
      );
      expect(events.map(({ language }) => ({ language }))).toEqual([
        { language: undefined, ...own },
      ]);
    }
  });

  it.each([
    [{ limit: true, proofOfWorkBits: 0 }, undefined],
    [{ limit: false }, { limit: false }],
    [{ proofOfWorkBits: 18 }, { proofOfWorkBits: 18 }],
  ])("tells of friction what differs from the defaults: %j", async (friction, told) => {
    const world = await memoryWorld({ friction });
    const { events } = z.parse(
      manifestClaimsSchema,
      payload(await world.mint.leading().manifest()),
    );
    expect(events[0]?.friction).toEqual(told);
  });
});
