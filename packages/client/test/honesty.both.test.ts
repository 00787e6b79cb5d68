import type { DripView } from "@vestibule/contracts/statements";
import { describe, expect, test } from "vitest";
import { type Told, isUnlikely, waitOf } from "../src/honesty.ts";

const START = 1_800_000_000_000;
const N = 10_001;

/** A line of 600 a minute, committed a minute ahead of `at`; number `N` waits. */
const statement = (at: number, more: Partial<DripView> = {}): DripView => {
  const committed = (at - START) / 100 + 600;
  return {
    ...{ event: "demo", at, iat: at / 1_000, exp: at / 1_000 + 3_600, seq: at, state: "open" },
    segments: [{ base: committed - 599, count: 600, from: at, until: at + 60_000 }],
    ...{ serving: committed - 600, committed, skips: [], issued: 20_000, rate: 600, notice: "" },
    ...{ cuts: [], endsAt: START + 86_400_000, pace: [100, 110], come: 80 },
    ...more,
  };
};
const MINUTE = 60_000;
const promised = (): Told => waitOf(N, statement(START), START).told!;

describe("a wait that grows", () => {
  test("does not while the line goes on as it was told: the same moment, or an earlier one", () => {
    let told: Told | undefined;
    let by = Infinity;
    for (let at = START; at < START + 10 * MINUTE; at += 7_000) {
      const wait = waitOf(N, statement(at), at, told);
      expect(wait.told?.grew).toBeUndefined();
      expect(at + wait.eta!.untilMs).toBeLessThanOrEqual(by);
      by = at + wait.eta!.untilMs;
      told = wait.told;
    }
  });

  const later = START + MINUTE;
  test.each([
    ["the rate is lowered", "slower", { rate: 300 }],
    ["a plan lowers it further on", "slower", { rates: [[START + 5 * MINUTE, 200]] }],
    ["a plan that was to raise it is gone, and it is lowered", "slower", { rate: 400, rates: [] }],
    ["others were served for a minute", "others", { committed: 600 }],
    [
      "it was paused",
      "stopped",
      { committed: 600, cuts: [{ since: START + 1, until: later - 5 }] },
    ],
    [
      "it is slower, and was paused",
      "stopped",
      { committed: 600, rate: 500, cuts: [{ since: START + 1, until: later - 5 }] },
    ],
  ] as const)("says why: %s", (_name, grew, more) => {
    const wait = waitOf(
      N,
      statement(later, more as unknown as Partial<DripView>),
      later,
      promised(),
    );
    expect(wait.told).toMatchObject({ grew });
    expect(later + wait.eta!.untilMs).toBeGreaterThan(promised().by);
  });

  test("says why: more people come than before", () => {
    const told = waitOf(N, statement(START, { pace: [140, 150] }), START).told!;
    const soon = START + 7_000;
    const fuller = waitOf(N, statement(soon, { pace: [110, 130] }), soon, told).told;
    expect(fuller?.grew).toBe("fuller");
    // What is lost by then would not come back with the pace of then: the reason stays.
    expect(waitOf(N, statement(later, { pace: [110, 130] }), later, fuller).told?.grew).toBe(
      "fuller",
    );
  });

  test("says why: the line stood still before our eyes, also when it goes on again", () => {
    const now = later + 2 * MINUTE;
    const stale = waitOf(N, statement(later), now, promised());
    expect(stale.told?.grew).toBe("stopped");
    const on = statement(now, { committed: statement(later).committed });
    expect(waitOf(N, on, now, stale.told).told?.grew).toBe("stopped");
    const paused = waitOf(
      N,
      statement(later, { state: "paused", heldSince: later }),
      later,
      promised(),
    );
    expect([paused.eta, paused.told?.grew, paused.told?.stood]).toEqual([
      undefined,
      undefined,
      true,
    ]);
  });

  test("says so for as long as it is so, and then no more", () => {
    const slow = waitOf(N, statement(later, { rate: 300 }), later, promised());
    const stillSlow = waitOf(N, statement(later, { rate: 500 }), later, slow.told);
    expect([slow.told?.grew, stillSlow.told?.grew]).toEqual(["slower", "slower"]);
    const again = waitOf(N, statement(later), later, stillSlow.told);
    expect(again.told?.grew).toBeUndefined();
    expect(later + again.eta!.untilMs).toBeLessThanOrEqual(promised().by);
  });

  test("a few seconds more are rounding: they are not shown", () => {
    const wait = waitOf(N, statement(later, { committed: 1_170 }), later, promised());
    expect(wait.told?.grew).toBeUndefined();
    expect(later + wait.eta!.untilMs).toBe(promised().by);
  });
});

describe("unlikely", () => {
  const left = { atMost: 100 };
  const at = (ahead: number, more: Partial<DripView> = { left }, before = false) =>
    isUnlikely(ahead, statement(START, more), before);

  test("more come before than are left, as few coming as may by those who came lately", () => {
    expect([at(125), at(126)]).toEqual([false, true]);
    expect([at(200, { left, come: undefined }), at(201, { left, come: undefined })]).toEqual([
      false,
      true,
    ]);
  });

  test("is taken back only when there is enough by the least that the band may mean", () => {
    expect([at(90, { left }, true), at(51, { left }, true), at(50, { left }, true)]).toEqual([
      true,
      true,
      false,
    ]);
  });

  test("is never said where nobody tells what is left, nor of somebody with nobody ahead", () => {
    expect(at(1_000_000, {})).toBe(false);
    expect(at(0, { left: { atMost: 0, turns: true } })).toBe(false);
  });
});
