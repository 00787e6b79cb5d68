import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  contrast,
  formatColour,
  nearest,
  parseColour,
  PART_CONTRAST_MIN,
  readableOn,
  type Rgb,
  TEXT_CONTRAST_MIN,
} from "../src/colour.ts";
import { colourMistakes, paletteCss, paletteOf } from "../src/palette.ts";

const byte = fc.integer({ min: 0, max: 255 });
const colour = fc.tuple(byte, byte, byte) as fc.Arbitrary<Rgb>;
const hex = colour.map(formatColour);
const rgb = (text: string): Rgb => {
  const parsed = parseColour(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
};

test("contrast is that of WCAG 2.2", () => {
  expect(contrast(rgb("#000000"), rgb("#ffffff"))).toBe(21);
  expect(contrast(rgb("#777777"), rgb("#ffffff"))).toBeCloseTo(4.48, 2);
  expect(contrast(rgb("#767676"), rgb("#ffffff"))).toBeCloseTo(4.54, 2);
  expect(contrast(rgb("#0b6e4f"), rgb("#0b6e4f"))).toBe(1);
});

test("on every paper black or white can be read, and the nearest colour passes", () => {
  fc.assert(
    fc.property(colour, colour, (one, paper) => {
      expect(contrast(readableOn(paper), paper)).toBeGreaterThanOrEqual(TEXT_CONTRAST_MIN);
      for (const ratio of [PART_CONTRAST_MIN, TEXT_CONTRAST_MIN])
        expect(contrast(nearest(one, { on: paper, ratio }), paper)).toBeGreaterThanOrEqual(ratio);
    }),
  );
});

test("a colour that passes is its own nearest", () => {
  expect(nearest(rgb("#0b6e4f"), { on: rgb("#ffffff"), ratio: TEXT_CONTRAST_MIN })).toEqual(
    rgb("#0b6e4f"),
  );
});

describe("a palette", () => {
  const scheme = fc.option(fc.record({ accent: hex, paper: hex, ink: hex }, { requiredKeys: [] }), {
    nil: undefined,
  });
  const own = fc.record({ light: scheme, dark: scheme }, { requiredKeys: [] });

  it("that has no mistakes can be read in both schemes, whatever is set and whatever is derived", () => {
    fc.assert(
      fc.property(hex, own, (accent, colours) => {
        fc.pre(colourMistakes(accent, colours).length === 0);
        for (const shown of Object.values(paletteOf(accent, colours))) {
          for (const text of [shown.ink, shown.soft])
            expect(contrast(text, shown.paper)).toBeGreaterThanOrEqual(TEXT_CONTRAST_MIN);
          expect(contrast(shown.accent, shown.paper)).toBeGreaterThanOrEqual(PART_CONTRAST_MIN);
          expect(contrast(shown.accentInk, shown.accent)).toBeGreaterThanOrEqual(TEXT_CONTRAST_MIN);
        }
      }),
    );
  });

  it("that is refused passes with the colour that the refusal names, unless its paper changes too", () => {
    fc.assert(
      fc.property(hex, hex, fc.constantFrom("ink", "accent"), (paper, value, part) => {
        const colours = { light: { paper, [part]: value } };
        for (const { field, message } of colourMistakes("#0b6e4f", colours)) {
          expect(field).toBe(`colours.light.${part}`);
          const [, named = ""] = /passes is (#[0-9a-f]{6})$/.exec(message) ?? [];
          const better = { light: { paper, [part]: named } };
          expect(colourMistakes("#0b6e4f", better)).toEqual([]);
        }
      }),
    );
  });

  it("of any accent alone is read as text is, on light and dark paper", () => {
    fc.assert(
      fc.property(hex, (accent) => {
        for (const shown of Object.values(paletteOf(accent, undefined)))
          expect(contrast(shown.accent, shown.paper)).toBeGreaterThanOrEqual(TEXT_CONTRAST_MIN);
      }),
    );
  });

  it("without any colours of its own is ours, with the accent made readable", () => {
    const palette = paletteOf("#0b6e4f", undefined);
    expect(formatColour(palette.light.accent)).toBe("#0b6e4f");
    expect(colourMistakes("#0b6e4f", undefined)).toEqual([]);
    expect(formatColour(paletteOf("#ffee00", undefined).light.accent)).not.toBe("#ffee00");
  });

  it("names pair, ratio and the nearest that passes", () => {
    expect(colourMistakes("#0b6e4f", { light: { ink: "#999999" } })).toEqual([
      {
        field: "colours.light.ink",
        message:
          "Its contrast with the paper, #fdfdfc, is 2.79 to 1 and must be at least 4.5: the nearest that passes is #757575",
      },
    ]);
  });

  it("is a style sheet of colours and nothing else, whatever a manifest holds", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (accent, ink) => {
        const css = paletteCss(paletteOf(accent, { light: { ink }, dark: { paper: ink } }));
        expect(css.replaceAll(/#[0-9a-f]{6}/g, "#")).toBe(
          paletteCss(paletteOf("", undefined)).replaceAll(/#[0-9a-f]{6}/g, "#"),
        );
      }),
    );
  });
});
