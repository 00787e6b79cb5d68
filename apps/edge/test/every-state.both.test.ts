/** Every state of the page, in every language. */
import { type ViewInput, viewOf } from "@vestibule/client/view";
import { LANGUAGES } from "@vestibule/contracts/languages";
import type { DripView } from "@vestibule/contracts/statements";
import { expect, test } from "vitest";
import { figuresOf } from "../src/page/formats.ts";
import { languageOf } from "../src/page/languages.ts";
import { wordsOf } from "../src/page/words.ts";
import { EVENT, NOW } from "./event.ts";

const settings = { ...EVENT, lifetimeSeconds: 600, claimWindowSeconds: 61 };
const drip = {
  ...{ event: "demo", at: NOW, iat: NOW / 1000, exp: NOW / 1000 + 3_600, seq: 1, state: "open" },
  ...{ serving: 10, committed: 100, skips: [], issued: 5_000, rate: 60, notice: "", cuts: [] },
  segments: [{ base: 1, count: 100, from: NOW - 10_000, until: NOW + 90_000 }],
  endsAt: EVENT.endsAt,
} as unknown as DripView;
const asking: DripView = { ...drip, presence: "confirm" };
const none: DripView = { ...drip, segments: [] };
const soldout: DripView = { ...drip, state: "soldout" };
const later = { ...settings, startsAt: NOW + 9e6, joinableAt: NOW + 9e6 };

const INPUTS: readonly Partial<ViewInput>[] = [
  {},
  { number: 500 },
  { number: 102, now: NOW + 95_000 },
  { number: 101, now: NOW + 95_000 },
  { number: 1_240_833, drip: { ...drip, rate: 6_000 } },
  { number: 9_000_000 },
  { number: 500, drip: { ...drip, lastCall: { from: NOW, until: NOW + 9_000 } } },
  { number: 60 },
  { number: 60, settings: { ...settings, claimWindowSeconds: 600 } },
  { number: 60, settings: { ...settings, lifetimeSeconds: 10_800 } },
  { number: 60, drip: soldout },
  { number: 5 },
  { settings: later, drip: undefined },
  { number: 3, settings: later, drip: { ...none, startsAt: NOW + 9e6, committed: 0, serving: 0 } },
  ...[500, 102, 60, 5].map((number) => ({ number, drip: asking })),
  { number: 60, drip: asking, condition: "offline" },
  { number: 60, drip: asking, saidFor: NOW + 49_000 },
  { number: 60, drip: asking, now: NOW + 105_000 },
  { number: 60, drip: asking, claimed: { opensAt: NOW + 49_000, closesAt: NOW + 649_000 } },
  { number: 5, drip: none },
  { number: 5, drip: none, owed: true },
  { number: 5, drip: none, missed: true },
  { number: 5, drip: none, credit: true },
  { number: 5, order: "/orders/1" },
  { number: 500, drip: { ...drip, state: "paused", heldSince: NOW - 1 } },
  { number: 500, drip: soldout },
  { drip: soldout },
  { gone: true },
  { number: 500, drip: { ...drip, state: "ended" } },
  ...(["unreachable", "offline", "clock", "cookies"] as const).flatMap((condition) => [
    { condition },
    { condition, number: 500 },
  ]),
];

const seen = new Set<string>();

test.each(LANGUAGES)("%s: nothing is left out, and nothing left in", (tag) => {
  const { texts } = languageOf(tag);
  const time = (at: number) => new Intl.DateTimeFormat(tag, { timeStyle: "medium" }).format(at);
  const formats = { ...figuresOf(tag), time };
  for (const input of INPUTS) {
    const view = viewOf({ settings, now: NOW, drip, ...input });
    seen.add(view.state);
    const words = wordsOf(view, { texts, formats }, "Concert");
    const { title, headline, lead, facts } = words;
    const all = [title, headline, lead, ...facts.flatMap(({ value, label }) => [value, label])];
    for (const text of all) {
      expect(text).not.toMatch(/undefined|NaN|[{}]|\. \.|^$/);
    }
  }
  expect([...seen].sort()).toEqual(
    Object.keys(texts.headline)
      .filter((name) => name !== "said" && name !== "confirmTurn")
      .sort(),
  );
});
