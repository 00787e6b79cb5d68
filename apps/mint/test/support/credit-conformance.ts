/* oxlint-disable typescript/no-non-null-assertion -- missing values fail the test just as well */
/** What every adapter of `MintStore` must do about supply reports and slots that are made good. */
import { epochMs, ticketNumber } from "@vestibule/kernel/units";
import { expect, it } from "vitest";
import type { EventChange, MintStore } from "../../src/store/store.ts";
import { settings } from "./settings.ts";
import type { StoreUnderTest } from "./store-conformance.ts";

const at = epochMs(1_700_000_000_000);
const audit = { actor: "test", action: "create", detail: {} };
let names = 0;

// oxlint-disable-next-line max-lines-per-function -- tests in one suite, sharing their helpers
export function creditConformance(make: () => Promise<StoreUnderTest>): void {
  /** An event whose numbers 1 to 10 had their slots, a second each, in one segment; 3 and 4 have claimed. */
  async function served() {
    const { store, expireLease } = await make();
    await expireLease();
    const holder = `credit-holder-${(names += 1)}`;
    const lead = (await store.acquireLease({ holder, ttlMs: 60_000, gapNumbers: 10 })).lead!;
    const event = `credit-event-${(names += 1)}`;
    await store.createEvent(lead, { settings: settings({ event }), at, audit });
    let lineVersion = 0;
    const step = async (change: EventChange, settle: readonly number[] = []) => {
      let counts: ReadonlyMap<number, number> = new Map();
      const done = await store.step(lead, {
        ...{ event, lineVersion, settle },
        decide: (claimed) => {
          counts = claimed;
          return change;
        },
      });
      lineVersion += 1;
      return { ...done, counts };
    };
    const claim = async (n: number, segment: number) =>
      (await store.recordClaims(lead, { event, at, fresh: [{ n, segment }], again: [] })).has(n);
    const { segments } = await step({ segments: [piece(1, 10, 0)] });
    const old = segments[0]!.id;
    await claim(3, old);
    await claim(4, old);
    return { store, lead, event, step, claim, old };
  }

  const piece = (base: number, count: number, from: number) => ({
    base: ticketNumber(base),
    count,
    from: epochMs(at + from),
    until: epochMs(at + from + count * 1_000),
  });
  const placeOf = async (store: MintStore, event: string, n: number) =>
    (await store.findPlaces(event, [n])).get(n);
  const slotOf = (n: number) => at / 1_000 + n - 1;

  it("keeps what the supply reports said, and notes them without a new version", async () => {
    const { store, event, step } = await served();
    const { facts, version } = (await store.loadEvent(event))!;
    const never = { at: undefined, seq: 0 };
    const unsaid = { atMost: undefined, seq: 0 };
    expect(facts.supply).toEqual({ outAt: undefined, seq: 0, lastCall: never, left: unsaid });
    const [lastCall, left] = [
      { at, seq: 4 },
      { atMost: 1_000_000_000_000, seq: 3 },
    ];
    const note = { actor: "supply", action: "supply-out", detail: { seq: 4 } };
    await step({ facts: { ...facts, supply: { outAt: at, seq: 4, lastCall, left } }, note });
    expect(await store.loadEvent(event)).toMatchObject({
      facts: { supply: { outAt: at, seq: 4, lastCall, left } },
      version,
    });
    const back = { outAt: undefined, seq: 6, lastCall: { at: undefined, seq: 5 }, left: unsaid };
    await step({ facts: { ...facts, supply: back } });
    expect((await store.loadEvent(event))!.facts.supply).toEqual(back);
  });

  it("knows whether a slot's counts are final and whether it was made good", async () => {
    const { store, event, step, old } = await served();
    const [four] = [slotOf(4)];
    expect(await placeOf(store, event, 4)).toMatchObject({
      ...{ claimed: true, settled: false, creditUsed: false },
    });
    await step({ settled: [{ id: old, claimed: 2, lapsed: 8 }] }, [old]);
    await step({
      creditsUsed: [{ n: 4, slot: four, at }],
      demandSet: [{ position: 1, first: 4, last: 4 }],
    });
    expect(await placeOf(store, event, 4)).toMatchObject({
      ...{ claimed: true, settled: true, creditUsed: true },
    });
    expect(await placeOf(store, event, 3)).toMatchObject({ settled: true, creditUsed: false });
    expect((await store.loadEvent(event))!.demand).toEqual([{ position: 1, first: 4, last: 4 }]);
  });

  it("makes a slot good once, whatever is planned, and writes nothing of a step that would do it again", async () => {
    const { store, event, step } = await served();
    const use = { n: 4, slot: slotOf(4), at };
    await step({ creditsUsed: [use, { ...use, n: 3, slot: slotOf(3) }] });
    const before = await store.loadEvent(event);
    const again = { creditsUsed: [use], demandSet: [{ position: 9, first: 4, last: 4 }] };
    await expect(step(again)).rejects.toThrow(Error);
    await expect(
      step({
        creditsUsed: [
          { ...use, n: 5 },
          { ...use, n: 5 },
        ],
      }),
    ).rejects.toThrow(Error);
    expect(await store.loadEvent(event)).toEqual(before);
    expect(await placeOf(store, event, 5)).toMatchObject({ creditUsed: false });
  });

  it("finds the latest slot of a number whose slot was made good, wherever its run begins", async () => {
    const { store, event, step, old } = await served();
    await step({ settled: [{ id: old, claimed: 2, lapsed: 8 }] }, [old]);
    const uses = [3, 4].map((n) => ({ n, slot: slotOf(n), at }));
    await step({ creditsUsed: uses });
    // One run of two, whose base is above the old one's; then one of three, whose base is not 4's.
    const first = await step({ segments: [piece(3, 2, 60_000)] });
    for (const n of [3, 4]) {
      expect((await placeOf(store, event, n))?.segment.id).toBe(first.segments[0]!.id);
      expect(await placeOf(store, event, n)).toMatchObject({ claimed: false, creditUsed: false });
    }
    await step({ creditsUsed: [{ n: 4, slot: at / 1_000 + 61, at }] });
    const second = await step({ segments: [piece(2, 3, 120_000)] });
    expect((await placeOf(store, event, 4))?.segment.id).toBe(second.segments[0]!.id);
    expect((await placeOf(store, event, 5))?.segment.id).toBe(old);
  });

  it("moves a claim to the fresh slot once the old one's counts are final, and counts it once", async () => {
    const { store, event, step, claim, old } = await served();
    const early = await step({ segments: [piece(4, 1, 60_000)] });
    expect(await claim(4, early.segments[0]!.id)).toBe(false);
    const settled = await step({ settled: [{ id: old, claimed: 2, lapsed: 8 }] }, [old]);
    expect([...settled.counts]).toEqual([[old, 2]]);
    const fresh = early.segments[0]!.id;
    expect(await claim(4, fresh)).toBe(true);
    expect(await claim(4, fresh)).toBe(true);
    expect((await store.tally(event)).claimed).toBe(2);
    const { counts } = await step({ settled: [{ id: fresh, claimed: 1, lapsed: 0 }] }, [fresh]);
    expect([...counts]).toEqual([[fresh, 1]]);
    // Settled: it goes nowhere any more, and nothing comes back to the old one.
    expect(await claim(4, old)).toBe(false);
    expect(await placeOf(store, event, 3)).toMatchObject({ claimed: true });
  });
}
