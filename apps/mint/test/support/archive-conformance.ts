/* oxlint-disable typescript/no-non-null-assertion -- missing values fail the test just as well */
/** What every adapter of `MintStore` must do with events that are archived. */
import { epochMs, ticketNumber } from "@vestibule/kernel/units";
import { expect, it } from "vitest";
import { type Lead, LeaseLostError, LineMovedError } from "../../src/store/store.ts";
import { settings } from "./settings.ts";
import type { StoreUnderTest } from "./store-conformance.ts";

const at = epochMs(1_700_000_000_000);
const audit = { actor: "test", action: "archive", detail: {} };
const figures = { issued: 10, highestNumber: 10, claimed: 10, lapsed: 0, endedAt: at };
let names = 0;

export function archiveConformance(make: () => Promise<StoreUnderTest>): void {
  /** Two events, each with a segment of ten slots, all claimed. */
  async function sold() {
    const { store, expireLease } = await make();
    const lead = async (): Promise<Lead> => {
      await expireLease();
      const holder = `archive-holder-${(names += 1)}`;
      return (await store.acquireLease({ holder, ttlMs: 60_000, gapNumbers: 100 })).lead!;
    };
    const first = await lead();
    const events = [`archive-${(names += 1)}`, `archive-${(names += 1)}`] as const;
    for (const event of events) {
      await store.createEvent(first, { settings: settings({ event }), at, audit });
      await store.reserveNumbers(first, { event, first: 1, through: 64 });
      const done = await store.step(first, {
        ...{ event, lineVersion: 0, settle: [] },
        decide: () => ({
          segments: [{ base: ticketNumber(1), count: 10, from: at, until: epochMs(at + 10_000) }],
        }),
      });
      const segment = done.segments[0]!.id;
      const fresh = Array.from({ length: 10 }, (_, index) => ({ n: index + 1, segment }));
      await store.recordClaims(first, { event, at, fresh, again: [] });
    }
    const request = { event: events[0], lineVersion: 1, at, figures, audit };
    return { store, lead: first, takeOver: lead, events, request };
  }

  it("loads an archived event no more, keeps its figures, and never gives its name again", async () => {
    const { store, lead, events, request } = await sold();
    const [event] = events;
    expect(await store.findArchived(event)).toBeUndefined();
    await store.archiveEvent(lead, request);
    expect(await store.loadEvent(event)).toBeUndefined();
    expect((await store.loadEvents()).some(({ settings }) => settings.event === event)).toBe(false);
    expect(await store.findArchived(event)).toEqual({ at, figures });
    const again = { settings: settings({ event }), at, audit };
    expect(await store.createEvent(lead, again)).toBe(false);
  });

  it("deletes rows of an archived event, so many at a time, and of no other", async () => {
    const { store, lead, events, request } = await sold();
    const [event, other] = events;
    expect(await store.clearArchived(event, 100)).toBe(0);
    await store.archiveEvent(lead, request);
    expect(await store.clearArchived(event, 4)).toBe(4);
    let left = 0;
    for (let deleted = 1; deleted > 0; left += deleted)
      deleted = await store.clearArchived(event, 4);
    expect(left).toBeGreaterThanOrEqual(7);
    expect((await store.tally(event)).claimed).toBe(0);
    expect((await store.tally(other)).claimed).toBe(10);
    expect((await store.loadEvent(other))!.segments).toHaveLength(1);
    expect(await store.findArchived(event)).toEqual({ at, figures });
  });

  it("archives nothing on a state that has moved, twice, or for a leader that was replaced", async () => {
    const { store, lead, takeOver, request } = await sold();
    const stale = store.archiveEvent(lead, { ...request, lineVersion: 0 });
    await expect(stale).rejects.toThrow(LineMovedError);
    await store.archiveEvent(lead, request);
    await expect(store.archiveEvent(lead, request)).rejects.toThrow(LineMovedError);
    await takeOver();
    await expect(store.archiveEvent(lead, request)).rejects.toThrow(LeaseLostError);
  });
}
