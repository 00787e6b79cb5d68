/** What the page says, in words. */
import type { DripView } from "@vestibule/contracts/statements";
import { describe, expect, test } from "vitest";
import { type PageSettings, type ViewInput, viewOf } from "@vestibule/client/view";
import { figuresOf } from "../src/page/formats.ts";
import en from "../src/page/texts/en.json" with { type: "json" };
import { type Words, wordsOf } from "../src/page/words.ts";
import { EVENT, NOW } from "./event.ts";

const SETTINGS: PageSettings = { ...EVENT, lifetimeSeconds: 60, claimWindowSeconds: 60 };
const DRIP: DripView = {
  ...{ event: "demo", at: NOW, iat: NOW / 1000, exp: NOW / 1000 + 3_600, seq: 1, state: "open" },
  ...{ serving: 10, committed: 100, skips: [], issued: 5_000, rate: 60, notice: "", cuts: [] },
  segments: [{ base: 1, count: 100, from: NOW - 10_000, until: NOW + 90_000 }],
  endsAt: EVENT.endsAt,
} as unknown as DripView;

const shown = (input: Partial<ViewInput>): Words => {
  const view = viewOf({ settings: SETTINGS, now: NOW, drip: DRIP, ...input });
  const formats = { ...figuresOf("en"), time: String };
  return wordsOf(view, { texts: en, formats }, "Concert");
};
const people = (input: Partial<ViewInput>) => shown(input).facts[0];

describe("how long a turn lasts", () => {
  test("no window besides the turn itself: said once", () => {
    const { lead } = shown({ number: 60 });
    expect(lead.match(/60 seconds/g)).toHaveLength(1);
  });
  test("a window of its own: both are said", () => {
    const { lead } = shown({ number: 60, settings: { ...SETTINGS, claimWindowSeconds: 30 } });
    expect(lead).toContain("60 seconds");
    expect(lead).toContain("30 seconds");
  });
});

test("whoever waits may close the page; whose turn is set, or there, is not told so: it would be lost", () => {
  expect(shown({ number: 500 }).kept).toBe(true);
  expect(shown({ number: 60 }).kept).toBe(false); // known
  expect(shown({ number: 5 }).kept).toBe(false); // turn
});

test("whether a moment needs its day is seen by the mint's clock, not by a device's that is hours off", () => {
  const startsAt = NOW + 46_800_000;
  const view = viewOf({ settings: { ...SETTINGS, startsAt }, now: NOW });
  const formats = { ...figuresOf("en"), time: (at: number, now: number) => `in ${at - now}` };
  const { facts } = wordsOf(view, { texts: en, formats }, "Concert");
  expect(facts[1]?.value).toBe("in 46800000");
});

describe("events that ask whether their fans are there", () => {
  const asks: DripView = { ...DRIP, presence: "confirm" };
  const settings = { ...SETTINGS, claimWindowSeconds: 45 };
  const ask = (input: Partial<ViewInput>) => shown({ settings, drip: asks, ...input });
  test("whoever waits is told that they will be asked, and how long they have", () => {
    for (const number of [500, 110]) {
      expect(ask({ number }).lead).toContain("Press the button within 45 seconds");
      expect(ask({ number }).action).toBe("again");
    }
  });
  test("a turn that is set asks, before and after its opening, and says by when", () => {
    const before = ask({ number: 60 });
    expect(before).toMatchObject({ headline: "Are you here?", action: "confirm", kept: false });
    const opensAt = NOW - 10_000 + 59_000;
    expect(before.facts).toEqual([
      { value: "1:34", label: "left to press" },
      { value: String(opensAt), label: "your turn" },
    ]);
    const after = ask({ number: 60, now: opensAt + 1_000 });
    expect(after.headline).toContain("It is your turn");
    expect(after.action).toBe("confirm");
    expect(after.facts[1]?.label).toBe("your turn ends");
    expect(after.title).toBe("0:44 · It is your turn. Are you here? · Concert");
  });
  test("said, and not yet heard; claimed; and let pass", () => {
    const opensAt = NOW + 49_000;
    expect(ask({ number: 60, saidFor: opensAt })).toMatchObject({
      headline: "Thank you",
      action: "none",
    });
    expect(ask({ number: 60, saidFor: "first" }).headline).toBe("Thank you");
    expect(ask({ number: 60, saidFor: opensAt, condition: "offline" }).lead).toContain(
      "You are offline.",
    );
    const claimed = { opensAt, closesAt: opensAt + 60_000 };
    expect(ask({ number: 60, claimed }).lead).toContain("You have said that you are here");
    expect(ask({ number: 60, claimed, now: opensAt }).action).toBe("enter");
    expect(ask({ number: 60, now: opensAt + 45_001 }).action).toBe("join-again");
  });
  test("sold out meanwhile: told before the question", () => {
    const { lead } = ask({ number: 60, drip: { ...asks, state: "soldout" } });
    expect(lead).toMatch(/^Everything is sold or reserved right now/);
  });
});

describe("little left, and nothing left", () => {
  const lastCall = { from: NOW, until: NOW + 600_000 };
  const few = "What is left may be gone soon.";
  const lead = (drip: Partial<DripView>, input: Partial<ViewInput> = {}) =>
    shown({ number: 500, drip: { ...DRIP, ...drip }, ...input }).lead;
  test("one short line for whoever waits, for as long as it is so, and nothing else changes", () => {
    const before = shown({ number: 500 });
    const during = shown({ number: 500, drip: { ...DRIP, lastCall } });
    expect(during).toEqual({ ...before, lead: `${before.lead} ${few}` });
    expect(lead({ lastCall: { ...lastCall, from: NOW + 1 } })).not.toContain(few);
    expect(lead({ lastCall }, { now: lastCall.until })).not.toContain(few);
    for (const state of ["soldout", "paused"] as const) {
      expect(lead({ lastCall, state })).not.toContain(few);
    }
  });
  test("whoever has a turn is told that nothing is left, and that the turn stays", () => {
    for (const number of [60, 5]) {
      const open = lead({ lastCall }, { number });
      expect(lead({ lastCall, state: "soldout" }, { number })).toBe(
        `Everything is sold or reserved right now, but something may come back. ${open}`,
      );
    }
  });
});

describe("what it costs, and about how much is left", () => {
  const offer = (drip: Partial<DripView>, input: Partial<ViewInput> = {}) =>
    shown({ number: 500, drip: { ...DRIP, ...drip }, ...input }).offer;
  test("a line each, as the statement has them, with the organizer's words set apart", () => {
    expect(offer({})).toBe("");
    expect(offer({ priceRange: "20–90 €", left: { atMost: 2_000 } })).toBe(
      "Prices: \u206820–90 €\u2069\nAt most 2,000 left",
    );
    expect(offer({ left: { atMost: 9 } })).toBe("Fewer than 10 left");
    expect(offer({ left: { atMost: 50, turns: true } })).toBe("At most 50 more people go in");
    expect(offer({ left: { atMost: 9, turns: true } })).toBe("At most 10 more people go in");
    expect(offer({ left: { atMost: 0, turns: true } })).toBe("Nothing is left right now");
  });
  test("for whoever has no place yet as well, and for nobody when it is over or sold out", () => {
    const left = { atMost: 20 };
    expect(offer({ left }, { number: undefined })).toBe("At most 20 left");
    expect(offer({ left, state: "soldout" })).toBe("");
    expect(offer({ left }, { order: "/orders/1" })).toBe("");
  });
  test("unlikely, and why a wait has grown, are said quietly after the lead, while somebody waits", () => {
    const before = shown({ number: 500 });
    const unlikely = "You are unlikely to get one: more people are ahead of you than are left.";
    const left = { atMost: 100 };
    expect(shown({ number: 500, drip: { ...DRIP, left, come: 70 } })).toMatchObject({
      headline: before.headline,
      title: before.title,
      lead: `${before.lead} ${unlikely}`,
    });
    expect(shown({ number: 60, drip: { ...DRIP, left: { atMost: 9 } } }).lead).not.toContain(
      "unlikely",
    );
    const { told } = viewOf({ settings: SETTINGS, now: NOW, drip: DRIP, number: 500 });
    const slower = { ...DRIP, rate: 20 };
    expect(shown({ number: 500, drip: slower, told }).lead).toBe(
      `${before.lead} The wait has grown: the line moves more slowly than before.`,
    );
    expect(shown({ number: 500, drip: { ...slower, state: "paused" }, told }).lead).not.toContain(
      "grown",
    );
  });
});

describe("people ahead", () => {
  const next = { number: 101, now: NOW + 95_000 };
  test("nobody is a word, not a zero", () => {
    expect(people(next)).toEqual({ value: "Nobody", label: "ahead of you" });
    expect(people({ ...next, number: 102 })).toEqual({ value: "1", label: "person ahead" });
  });
  test("never more than this place was shown before", () => {
    expect(people({ number: 500, aheadMost: 7 })?.value).toBe("7");
    expect(people({ ...next, number: 103, aheadMost: 7 })?.value).toBe("2");
  });
});

test("law 2: a sale whose end was moved goes on in pages that were opened before", () => {
  const settings = { ...SETTINGS, endsAt: NOW };
  const at = (drip: DripView) => viewOf({ settings, now: NOW, drip, number: 500 }).state;
  expect(at({ ...DRIP, endsAt: NOW + 60_000 })).toBe("waiting");
  expect(at({ ...DRIP, endsAt: NOW })).toBe("ended");
});
