import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { pendingCount, servingNumber, slotOf } from "../src/line.ts";
import {
  containsNumber,
  liveCount,
  openedCount,
  opensAt,
  type SegmentView,
} from "../src/segment.ts";
import { claimWindowMs, slotTimes } from "../src/slot.ts";
import { epochMs } from "@vestibule/kernel/units";

// Long histories on busy machines; VESTIBULE_RUNS makes them longer still.
vi.setConfig({ testTimeout: 120_000 });

const segments = fc
  .record({
    base: fc.integer({ min: 1, max: 2 ** 40 }),
    count: fc.integer({ min: 1, max: 10_000_000 }),
    from: fc.integer({ min: 0, max: 253_402_300_799_999 }),
    length: fc.integer({ min: 1, max: 600_000 }),
  })
  .map(({ length, ...rest }) => ({ ...rest, until: rest.from + length }));

test("a slot opens inside its segment, in order, exactly where the integers say", () => {
  fc.assert(
    fc.property(segments, fc.double({ min: 0, max: 1, noNaN: true }), (segment, part) => {
      const k = Math.floor(part * (segment.count - 1));
      const n = segment.base + k;
      const exact =
        BigInt(segment.from) +
        (BigInt(k) * BigInt(segment.until - segment.from)) / BigInt(segment.count);
      expect(BigInt(opensAt(segment, n))).toBe(exact);
      expect(opensAt(segment, n)).toBeLessThan(segment.until);
      expect(containsNumber(segment, n)).toBe(true);
      expect(containsNumber(segment, segment.base + segment.count)).toBe(false);
      expect(containsNumber(segment, segment.base - 1)).toBe(false);
    }),
  );
});

test("the number of open slots is the exact inverse of the opening times", () => {
  fc.assert(
    fc.property(segments, fc.integer({ min: -5, max: 600_005 }), (segment, offset) => {
      const at = segment.from + offset;
      const opened = openedCount(segment, at);
      const before = opened > 0 ? opensAt(segment, segment.base + opened - 1) : -Infinity;
      const after = opened < segment.count ? opensAt(segment, segment.base + opened) : Infinity;
      expect(before).toBeLessThanOrEqual(at);
      expect(after).toBeGreaterThan(at);
    }),
  );
});

/** Every schedule of up to four segments at these sizes: counts, lengths, pauses, skipped numbers, cuts. */
function* schedules(segmentsMax: number, cuts: boolean): Generator<SegmentView[]> {
  function* extend(list: SegmentView[]): Generator<SegmentView[]> {
    if (list.length > 0) yield list;
    if (list.length === segmentsMax) return;
    const previous = list.at(-1);
    for (const count of [1, 2, 3]) {
      for (const length of [1, 2, 4]) {
        for (const gap of [0, 1]) {
          const from = (previous?.until ?? 10) + gap;
          const base = (previous === undefined ? 1 : previous.base + previous.count) + gap;
          const segment = { base, count, from, until: from + length };
          yield* extend([...list, segment]);
          if (!cuts) continue;
          for (let cutAfter = from - 1; cutAfter < from + length; cutAfter += 1) {
            yield* extend([...list, { ...segment, cutAfter }]);
          }
        }
      }
    }
  }
  yield* extend([]);
}

/** One schedule against the plainest model: a list of (number, opening). Returns what is wrong. */
function wrongWith(list: readonly SegmentView[]): string | undefined {
  const slots: { n: number; at: number }[] = [];
  for (const segment of list) {
    for (let k = 0; k < segment.count; k += 1) {
      const at = segment.from + Math.floor((k * (segment.until - segment.from)) / segment.count);
      if (at < segment.from || at >= segment.until) return "a slot opens outside of its segment";
      if (at <= (segment.cutAfter ?? Infinity)) slots.push({ n: segment.base + k, at });
      else if (slotOf([segment], segment.base + k) !== undefined) return "a void slot counts";
    }
  }
  const end = list.at(-1)?.until ?? 0;
  let previous = 0;
  for (let now = 9; now <= end + 1; now += 1) {
    const open = slots.filter(({ at }) => at <= now);
    const serving = servingNumber(list, now);
    if (serving !== Math.max(0, ...open.map(({ n }) => n))) return `serving at ${now}`;
    if (serving < previous) return `serving falls at ${now}`;
    previous = serving;
    if (pendingCount(list, now) !== slots.length - open.length) return `pending at ${now}`;
  }
  for (let n = 0; n <= (list.at(-1)?.base ?? 0) + 3; n += 1) {
    const mine = slots.filter((slot) => slot.n === n);
    if (mine.length > 1) return `${n} has two slots`;
    if (slotOf(list, n) !== mine[0]?.at) return `slot of ${n}`;
  }
  for (let index = 1; index < slots.length; index += 1) {
    if ((slots[index]?.at ?? 0) < (slots[index - 1]?.at ?? 0)) return "slots out of order";
  }
  return undefined;
}

test("law 2: every schedule of up to four segments serves in order, once, and never falls back", () => {
  const { checked, wrong } = check(schedules(4, false));
  expect(wrong).toBeUndefined();
  expect(checked).toBe(18 + 18 ** 2 + 18 ** 3 + 18 ** 4);
});

test("law 2: cuts at every moment of every schedule of up to two segments make void exactly what opens later", () => {
  expect(check(schedules(2, true)).wrong).toBeUndefined();
});

/** The first schedule that is wrong, and how many were looked at. */
function check(all: Iterable<SegmentView[]>): { checked: number; wrong: string | undefined } {
  let checked = 0;
  for (const list of all) {
    const wrong = wrongWith(list);
    if (wrong !== undefined) return { checked, wrong: `${wrong}: ${JSON.stringify(list)}` };
    checked += 1;
  }
  return { checked, wrong: undefined };
}

test("the schedule checker can fail: a number with two live slots is found", () => {
  const twice = { base: 1, count: 2, from: 10, until: 12 };
  expect(wrongWith([twice, { ...twice, from: 12, until: 14 }])).toBeDefined();
});

test("law 2: a hold stops the serving number where it stood, and a statement's serving is kept", () => {
  const list = [{ base: 5, count: 4, from: 1_000, until: 1_400 }];
  expect(servingNumber(list, 1_250, {})).toBe(7);
  expect(servingNumber(list, 9_999, { heldSince: 1_150 })).toBe(6);
  expect(slotOf(list, 7, { heldSince: 1_150 })).toBeUndefined();
  expect(slotOf(list, 6, { heldSince: 1_150 })).toBe(1_100);
  expect(servingNumber([], 9_999, { atLeast: 12 })).toBe(12);
  expect(liveCount({ ...list[0]!, cutAfter: 1_150 })).toBe(2);
});

test("a number cut and given anew has one slot, the new one", () => {
  const list = [
    { base: 1, count: 4, from: 1_000, until: 1_400, cutAfter: 1_100 },
    { base: 3, count: 2, from: 5_000, until: 5_200 },
  ];
  expect([1, 2, 3, 4, 5].map((n) => slotOf(list, n))).toEqual([
    1_000,
    1_100,
    5_000,
    5_100,
    undefined,
  ]);
});

test("a slot closes a lifetime after its second, and the claim window is never longer than the lifetime", () => {
  const settings = { lifetimeSeconds: 600, claimWindowSeconds: 180 };
  expect(slotTimes(epochMs(10_999), settings)).toEqual({
    opensAt: 10_999,
    closesAt: 610_000,
    claimBy: 190_999,
  });
  expect(claimWindowMs({ lifetimeSeconds: 20, claimWindowSeconds: 180 })).toBe(20_000);
});

test("a number whose slot was made good has its latest slot, in whatever order the list is", () => {
  const old = { base: 1, count: 10, from: 1_000, until: 11_000 };
  const fresh = { base: 4, count: 1, from: 60_000, until: 61_000 };
  for (const list of [
    [old, fresh],
    [fresh, old],
  ]) {
    expect(slotOf(list, 4)).toBe(60_000);
    expect(slotOf(list, 5)).toBe(5_000);
    // A hold that stops the fresh slot leaves the old one, which is over: nobody enters by it.
    expect(slotOf(list, 4, { heldSince: 50_000 })).toBe(4_000);
    expect(slotOf([{ ...fresh, cutAfter: 50_000 }, old], 4)).toBe(4_000);
  }
});
