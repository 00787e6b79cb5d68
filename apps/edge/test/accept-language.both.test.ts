/** Which language a client gets, by what it says of itself. */
import { LANGUAGES } from "@vestibule/contracts/languages";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { languageRanges, localeOf, lookUp } from "../src/routing/accept-language.ts";

const ours: ReadonlySet<string> = new Set(LANGUAGES);

const chosen = (header: string, fallback = "en"): string =>
  lookUp(languageRanges(header), { ours, fallback });

const locale = (header: string): string => {
  const ranges = languageRanges(header);
  return localeOf(ranges, lookUp(ranges, { ours, fallback: "en" }));
};

describe("RFC 4647 lookup, best quality first (RFC 9110 section 12.5.4)", () => {
  test.each([
    ["", "en"],
    ["de", "de"],
    ["DE-at", "de"],
    ["de-AT,de;q=0.9,en;q=0.8", "de"],
    ["en;q=0.5, fr;q=0.9, de;q=0.7", "fr"],
    ["sv, nb;q=0.9, pl;q=0.1", "pl"],
    ["sv, nb", "en"],
    ["fr;q=0, en", "en"],
    ["fr;q=0", "en"],
    ["en;q=0, it;q=0.001", "it"],
    ["fr;q=0.5, de;q=0.5", "fr"],
    ["*", "en"],
    ["*, de;q=0.5", "en"],
    ["sv, *;q=0.5, de;q=0.1", "en"],
    ["*, en;q=0, de;q=0.5", "de"],
    ["zh-TW", "zh"],
    ["zh-Hant-HK, en;q=0.5", "zh"],
    ["zh-Hans-CN", "zh"],
    ["cmn-Hans-CN", "zh"],
    ["iw-IL, en;q=0.5", "he"],
    ["pt-BR", "pt"],
    ["es-419", "es"],
    ["de-DE-1996", "de"],
    ["de-u-nu-arab", "de"],
  ])("%j: %s", (header, wanted) => {
    expect(chosen(header)).toBe(wanted);
  });

  test.each([
    ["de;q=2, fr;q=0.1", "fr"],
    ["de;q=0.1234, fr;q=0.1", "fr"],
    ["de;q=x, fr;q=0.1", "fr"],
    [";;;,,,=,q=1", "en"],
    ["de fr", "en"],
    ["constructor, __proto__, toString", "en"],
    ["tr'><script>, es;q=0.2", "es"],
    ["  it  ;  q = 0.5 ", "it"],
    ["fr;level=1;q=0.9", "fr"],
    ["ñ, de", "de"],
  ])("rubbish is passed over: %j: %s", (header, wanted) => {
    expect(chosen(header)).toBe(wanted);
  });

  test("the event's own language, where a client asks for none that there is", () => {
    expect(chosen("", "pl")).toBe("pl");
    expect(chosen("sv, *;q=0.1", "pl")).toBe("pl");
    expect(chosen("sv, en;q=0.1", "pl")).toBe("en");
  });

  test("bounded: what comes after 32 parts or 512 characters is not looked at", () => {
    expect(chosen(`${"sv,".repeat(31)}de`)).toBe("de");
    expect(chosen(`${"sv,".repeat(32)}de`)).toBe("en");
    expect(chosen(`${"sv-".padEnd(600, "x")},de`)).toBe("en");
  });
});

describe("figures and times as they are written where the client is at home", () => {
  test.each([
    ["de-CH, de;q=0.9", "de-CH"],
    ["en, en-GB;q=0.9", "en-GB"],
    ["fr, en-GB;q=0.9", "fr"],
    ["ar-eg", "ar-EG"],
    ["es-419", "es-419"],
    ["iw-IL", "he-IL"],
    ["de-CH;q=0, de", "de"],
    ["de-u-nu-arab", "de"],
    // Another script than that of the words.
    ["zh-TW", "zh"],
    ["zh-Hant-TW", "zh"],
    ["zh-SG", "zh-SG"],
    // Nowhere that anything is written.
    ["de-QQ", "de"],
    ["en-XA, en-GB", "en"],
  ])("%j: %s", (header, wanted) => {
    expect(locale(header)).toBe(wanted);
  });
});

test("any header: one of ours, and a locale of it that this runtime takes", () => {
  const range = fc.oneof(
    fc.constantFrom(...LANGUAGES, "*", "sv", "zh-Hant", "de-CH", "x-y", "en-001"),
    fc.string({ maxLength: 12 }),
  );
  const part = fc
    .tuple(range, fc.option(fc.oneof(fc.double().map(String), fc.string({ maxLength: 6 }))))
    .map(([name, q]) => (q === null ? name : `${name};q=${q}`));
  const header = fc.oneof(
    fc.array(part, { maxLength: 40 }).map((parts) => parts.join(",")),
    fc.string({ unit: "binary", maxLength: 700 }),
  );
  fc.assert(
    fc.property(header, fc.constantFrom(...LANGUAGES), (text, fallback) => {
      const ranges = languageRanges(text);
      const tag = lookUp(ranges, { ours, fallback });
      expect(ours.has(tag)).toBe(true);
      // Refused is refused, but for the last resort.
      const refused = ranges.some(({ name, q }) => name === tag && q === 0);
      expect(refused && tag !== fallback).toBe(false);
      const written = localeOf(ranges, tag);
      expect(written.split("-")[0]).toBe(tag);
      expect(new Intl.NumberFormat(written).format(1)).not.toBe("");
    }),
  );
});
