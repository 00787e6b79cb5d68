/** What is left may not last: as it is reported, published and kept. */
import type { SupplyReport } from "@vestibule/contracts/supply-api";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { eventView } from "../src/http/event-view.ts";
import { changeSettings, hold, resume } from "../src/line/organizer.ts";
import { hearSupply } from "../src/line/supply.ts";
import { codeOf, memoryWorld } from "./support/world.ts";

const START = 1_767_225_600_000;
const SPAN_MS = 600_000;
const deed = { actor: "test" };
type World = Awaited<ReturnType<typeof memoryWorld>>;

const published = async (world: World) => (await world.drip()).lastCall;
/** What a purchase API of this release says, and one from before there was a last call. */
const says = (seq: number, what: { soldOut?: boolean; lastCall?: boolean } = {}): SupplyReport => ({
  soldOut: false,
  ...what,
  seq,
});
const soldOutAt = (world: World) => world.line.record.facts.supply.outAt;

describe("a last call", () => {
  it("is in the very next statement, for the stated span, and the organizer sees the same", async () => {
    const world = await memoryWorld();
    expect(await published(world)).toBeUndefined();
    const from = world.clock.now();
    // The drip has no need to hear of it: nothing is committed for it.
    expect(await hearSupply(world.line, says(1, { lastCall: true }))).toBe(false);
    expect(await published(world)).toEqual({ from, until: from + SPAN_MS });
    const view = await eventView(world.mint.entry("spring"), world.clock.now());
    expect(view.lastCall).toEqual({ from, until: from + SPAN_MS });
    world.clock.advance(SPAN_MS - 1);
    expect(await published(world)).toEqual({ from, until: from + SPAN_MS });
    // A statement is shown for a second; its readers go by `until`.
    world.clock.advance(1_000);
    expect(await published(world)).toBeUndefined();
  });

  it("of a small stock waits for the opening, and is published ahead of it", async () => {
    const [joinableAt, startsAt] = [START + 10_000, START + 20_000];
    const world = await memoryWorld({ joinableAt, startsAt });
    await hearSupply(world.line, says(1, { lastCall: true }));
    expect(await published(world)).toEqual({ from: startsAt, until: startsAt + SPAN_MS });
    const later = await memoryWorld({ joinableAt });
    await hearSupply(later.line, says(1, { lastCall: true }));
    expect(await published(later)).toEqual({ from: joinableAt, until: joinableAt + SPAN_MS });
  });

  it("is over when enough is left again, and another one later is a new one", async () => {
    const world = await memoryWorld();
    await hearSupply(world.line, says(1, { lastCall: true }));
    world.clock.advance(60_000);
    await hearSupply(world.line, says(2, { lastCall: false }));
    expect(await published(world)).toBeUndefined();
    world.clock.advance(60_000);
    await hearSupply(world.line, says(3, { lastCall: true }));
    expect((await published(world))?.from).toBe(START + 120_000);
  });

  it("goes on through the same report repeated, and begins anew when something comes back", async () => {
    const world = await memoryWorld();
    await hearSupply(world.line, says(1, { lastCall: true }));
    world.clock.advance(10_000);
    await hearSupply(world.line, says(2, { lastCall: true }));
    await hearSupply(world.line, says(3, { soldOut: true, lastCall: true }));
    expect((await published(world))?.from).toBe(START);
    world.clock.advance(SPAN_MS);
    expect(await hearSupply(world.line, says(4, { lastCall: true }))).toBe(true);
    expect((await published(world))?.from).toBe(START + 10_000 + SPAN_MS);
  });

  it("gets its whole span of open selling: a hold takes none of it", async () => {
    const world = await memoryWorld();
    await hearSupply(world.line, says(1, { lastCall: true }));
    await hold(world.line, {}, deed);
    world.clock.advance(2 * SPAN_MS);
    await resume(world.line, deed);
    expect((await published(world))?.from).toBe(START + 2 * SPAN_MS);
  });

  it("is as long as the organizer says, also while it lasts, and never with 0", async () => {
    const world = await memoryWorld({ lastCallSeconds: 0 });
    await hearSupply(world.line, says(1, { lastCall: true }));
    expect(await published(world)).toBeUndefined();
    await changeSettings(world.line, { lastCallSeconds: 60 }, deed);
    expect(await published(world)).toEqual({ from: START, until: START + 60_000 });
    await changeSettings(world.line, { lastCallSeconds: 0 }, deed);
    expect(await published(world)).toBeUndefined();
  });

  it("survives a crash and a restart", async () => {
    const world = await memoryWorld();
    await hearSupply(world.line, says(1, { lastCall: true }));
    for (const end of [() => world.crash(), () => world.restart()]) {
      await end();
      expect((await published(world))?.from).toBe(START);
      expect(await hearSupply(world.line, says(1, { lastCall: false }))).toBe(false);
    }
    expect((await published(world))?.from).toBe(START);
  });

  it("leaves a line in the audit log when it begins and when it is over, one for each report", async () => {
    const world = await memoryWorld();
    const { version } = world.line.record;
    await hearSupply(world.line, says(1, { lastCall: true }));
    await hearSupply(world.line, says(2, { lastCall: true }));
    await hearSupply(world.line, says(3, { lastCall: false }));
    await hearSupply(world.line, says(4, { soldOut: true, lastCall: true }));
    await hearSupply(world.line, says(5, { soldOut: false, lastCall: false }));
    expect(world.store.audit.slice(1)).toMatchObject([
      { actor: "supply", action: "last-call", detail: { seq: 1 }, version },
      { actor: "supply", action: "last-call-over", detail: { seq: 3 } },
      { actor: "supply", action: "supply-out", detail: { seq: 4 } },
      { actor: "supply", action: "supply-back", detail: { seq: 5 } },
    ]);
    expect(world.line.record.version).toBe(version);
  });
});

describe("releases side by side", () => {
  it("a report of an older purchase API says nothing of it: what is known stays", async () => {
    const world = await memoryWorld();
    await hearSupply(world.line, says(1, { lastCall: true }));
    world.clock.advance(5_000);
    await hearSupply(world.line, says(2, { soldOut: true }));
    expect(soldOutAt(world)).toBe(START + 5_000);
    expect((await published(world))?.from).toBe(START);
  });

  it("one that took a number first does not silence the newer one's with the same number", async () => {
    const world = await memoryWorld();
    await hearSupply(world.line, says(7, { soldOut: true }));
    expect(await published(world)).toBeUndefined();
    expect(await hearSupply(world.line, says(7, { soldOut: true, lastCall: true }))).toBe(false);
    expect(await published(world)).toBeDefined();
    // And a later repetition of either changes nothing.
    const { calls } = world.store;
    await hearSupply(world.line, says(7, { soldOut: true, lastCall: true }));
    await hearSupply(world.line, says(7));
    expect(world.store.calls).toBe(calls);
  });

  it("in whatever order reports of both arrive, each fact is what the highest number says of it", async () => {
    const report = fc.record({
      seq: fc.integer({ min: 1, max: 6 }),
      isOld: fc.boolean(),
    });
    // A number says the same of each fact whoever sends it, as the purchase API's row does.
    const truth = (seq: number) => ({ soldOut: seq % 2 === 0, lastCall: seq % 3 === 0 });
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 12 }), async (reports) => {
        const world = await memoryWorld();
        for (const { seq, isOld } of reports) {
          const { soldOut, lastCall } = truth(seq);
          await hearSupply(world.line, isOld ? { soldOut, seq } : { soldOut, lastCall, seq });
        }
        const top = (list: readonly { seq: number }[]) =>
          Math.max(0, ...list.map(({ seq }) => seq));
        const { supply } = world.line.record.facts;
        const highest = truth(top(reports));
        expect(supply.outAt !== undefined).toBe(highest.soldOut);
        const highestNew = top(reports.filter(({ isOld }) => !isOld));
        const isLastCall = highestNew > 0 && truth(highestNew).lastCall;
        expect(supply.lastCall.at !== undefined).toBe(isLastCall);
        expect(supply.lastCall.seq).toBe(highestNew);
      }),
      { numRuns: 40 },
    );
  });

  it("a leader that was replaced takes none", async () => {
    const world = await memoryWorld();
    const old = world.line;
    await world.crash();
    expect(await codeOf(hearSupply(old, says(1, { lastCall: true })))).toBe("unavailable");
    const stored = await world.store.loadEvent("spring");
    expect(stored?.facts.supply.lastCall).toEqual({ at: undefined, seq: 0 });
  });
});
