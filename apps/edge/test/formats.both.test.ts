/** Figures, lengths of time and plurals, as each language has them. */
import { describe, expect, test } from "vitest";
import { figuresOf } from "../src/page/formats.ts";
import { languageOf } from "../src/page/languages.ts";
import { say } from "../src/page/texts.ts";

const SECOND_MS = 1_000;

test.each([
  ["en", 545, "9:05"],
  ["en", 4_145, "1:09:05"],
  ["en", 0.2, "0:01"],
  ["en", -5, "0:00"],
  ["hi", 360_005, "100:00:05"],
  ["ar", 545, "9:05"],
  ["ar-EG", 4_145, "١:٠٩:٠٥"],
])("%s: %d s to go are %s", (locale, seconds, text) => {
  expect(figuresOf(locale).countdown(seconds * SECOND_MS)).toBe(text);
});

test.each([
  ["en", 3, 5, "3–5 min"],
  ["en", 5, 5, "5 min"],
  ["de", 3, 5, "3–5 Min."],
  ["ja", 3, 5, "3～5 分"],
  ["ko", 3, 5, "3~5분"],
  ["pl", 100, 119, "100–119 min"],
  ["ar-EG", 3, 5, "٣–٥ د"],
])("%s: %d to %d minutes are %s, on one line", (locale, from, to, text) => {
  expect(figuresOf(locale).between("minute", from, to)).toBe(text.replaceAll(" ", "\u00a0"));
});

test("a browser from before there were ranges: two figures and the unit", () => {
  const { prototype } = Intl.NumberFormat;
  const known = Object.getOwnPropertyDescriptor(prototype, "formatRange") as PropertyDescriptor;
  expect(Reflect.deleteProperty(prototype, "formatRange")).toBe(true);
  try {
    expect(figuresOf("de").between("minute", 3, 5)).toBe("3–5\u00a0Min.");
    expect(figuresOf("de").between("hour", 2, 2)).toBe("2\u00a0Std.");
  } finally {
    Object.defineProperty(prototype, "formatRange", known);
  }
});

test.each([
  ["en", 1, "1 second"],
  ["en", 119, "119 seconds"],
  ["en", 120, "2 minutes"],
  // Whoever comes within what is said comes in time.
  ["en", 179, "2 minutes"],
  ["en", 7_200, "2 hours"],
  ["en", 10_799, "2 hours"],
  ["ru", 180, "3 минуты"],
  ["ar", 7_200, "ساعتان"],
  ["ja", 600, "10 分"],
])("%s: %d s are %s", (locale, seconds, text) => {
  expect(figuresOf(locale).lengthOfTime(seconds)).toBe(text);
});

describe("people ahead", () => {
  test.each([
    ["en", "1 person ahead", "2 people ahead", "1,000 people ahead"],
    ["fr", "1 personne devant vous", "2 personnes devant vous", "1 000 personnes devant vous"],
    ["pl", "1 osoba przed Tobą", "2 osoby przed Tobą", "1000 osób przed Tobą"],
    ["ru", "1 человек перед вами", "2 человека перед вами", "1 000 человек перед вами"],
    ["uk", "1 людина перед вами", "2 людини перед вами", "1 000 людей перед вами"],
    ["ar", "1 شخص أمامك", "2 شخصان أمامك", "1,000 شخص أمامك"],
    ["he", "1 אדם לפניך", "2 אנשים לפניך", "1,000 אנשים לפניך"],
    ["ko", "1 명이 앞에 있습니다", "2 명이 앞에 있습니다", "1,000 명이 앞에 있습니다"],
  ])("%s", (tag, ...wanted) => {
    const figures = figuresOf(tag);
    const { ahead } = languageOf(tag).texts;
    const told = [1, 2, 1_000].map(
      (n) => `${figures.number(n)} ${ahead[figures.category(n)] ?? ahead.other}`,
    );
    expect(told.map((text) => text.replaceAll(/\s/g, " "))).toEqual(wanted);
  });
  test.each([
    ["pl", [21, "osób"], [22, "osoby"], [25, "osób"]],
    ["ru", [21, "человек"], [22, "человека"], [25, "человек"]],
    ["uk", [21, "людина"], [22, "людини"], [25, "людей"]],
    ["ar", [3, "أشخاص"], [11, "شخصًا"], [102, "شخص"]],
  ] as [tag: string, ...cases: [n: number, word: string][]][])(
    "%s: by the number's last figures",
    (tag, ...cases) => {
      const { ahead } = languageOf(tag).texts;
      const figures = figuresOf(tag);
      for (const [n, word] of cases) {
        expect([n, (ahead[figures.category(n)] ?? ahead.other).split(" ")[0]]).toEqual([n, word]);
      }
    },
  );
});

test("what is said for a placeholder is not looked into, and an unknown one stays", () => {
  expect(say("{a} and {b}", { a: "{b}", b: "$&" })).toBe("{b} and $&");
  expect(say("{c}", {})).toBe("{c}");
});
