/** The page's colours in both schemes: the organizer's where they are set, the others derived so that all can be read. */
import type { ManifestLooks } from "@vestibule/contracts/looks";
import type { Mistake } from "@vestibule/contracts/parse";
import {
  contrast,
  formatColour,
  mix,
  nearest,
  parseColour,
  PART_CONTRAST_MIN,
  readableOn,
  type Rgb,
  TEXT_CONTRAST_MIN,
} from "./colour.ts";

type OwnColours = ManifestLooks["colours"];
const SCHEMES = ["light", "dark"] as const;
type Scheme = (typeof SCHEMES)[number];

interface Colours {
  readonly paper: Rgb;
  readonly ink: Rgb;
  /** Text that is said more softly. */
  readonly soft: Rgb;
  /** Hairlines, and the part of the line that is still ahead. */
  readonly rule: Rgb;
  readonly accent: Rgb;
  /** Text on the accent. */
  readonly accentInk: Rgb;
}
export type Palette = Readonly<Record<Scheme, Colours>>;

const OURS: Readonly<Record<Scheme, Omit<Colours, "accent">>> = {
  light: {
    paper: [0xfd, 0xfd, 0xfc],
    ink: [0x16, 0x18, 0x1d],
    soft: [0x5a, 0x60, 0x6c],
    rule: [0xde, 0xdf, 0xe3],
    accentInk: [0xff, 0xff, 0xff],
  },
  dark: {
    paper: [0x12, 0x13, 0x16],
    ink: [0xf1, 0xf2, 0xf4],
    soft: [0xa3, 0xa9, 0xb6],
    rule: [0x2f, 0x32, 0x3a],
    accentInk: [0x10, 0x11, 0x14],
  },
};
const OUR_ACCENT: Rgb = [0x0b, 0x6e, 0x4f];
const SOFT_SHARES = [0.3, 0.2, 0.1];
const RULE_SHARE = 0.14;

/**
 * @param accent the event's own, `#rrggbb`: for a scheme that sets none the other's, or this, is made darker or lighter, as little
 *   as text needs. What is no colour is taken as absent.
 */
export function paletteOf(accent: string, own: OwnColours): Palette {
  const { light = {}, dark = {} } = own ?? {};
  return {
    light: coloursOf("light", dark.accent ?? accent, light),
    dark: coloursOf("dark", light.accent ?? accent, dark),
  };
}

function coloursOf(
  name: Scheme,
  accent: string,
  own: Readonly<Record<string, string | undefined>>,
): Colours {
  const ours = OURS[name];
  const ownOf = (part: string) => parseColour(own[part] ?? "");
  const paper = ownOf("paper") ?? ours.paper;
  const ink = ownOf("ink") ?? readable(ours.ink, paper);
  const isOurs = paper === ours.paper && ink === ours.ink;
  const soft = SOFT_SHARES.map((share) => mix(ink, paper, share)).find(
    (mixed) => contrast(mixed, paper) >= TEXT_CONTRAST_MIN,
  );
  const shown =
    ownOf("accent") ??
    nearest(parseColour(accent) ?? OUR_ACCENT, { on: paper, ratio: TEXT_CONTRAST_MIN });
  return {
    paper,
    ink,
    soft: isOurs ? ours.soft : (soft ?? ink),
    rule: isOurs ? ours.rule : mix(paper, ink, RULE_SHARE),
    accent: shown,
    accentInk: readable(ours.accentInk, shown),
  };
}

function readable(colour: Rgb, paper: Rgb): Rgb {
  return contrast(colour, paper) >= TEXT_CONTRAST_MIN ? colour : readableOn(paper);
}

/** Each pair of colours that is hard to tell apart, with its contrast and the nearest colour that would do. */
export function colourMistakes(accent: string, own: OwnColours): readonly Mistake[] {
  const palette = paletteOf(accent, own);
  return SCHEMES.flatMap((name) => {
    const { paper, ...others } = palette[name];
    return (["ink", "accent"] as const)
      .filter((part) => own?.[name]?.[part] !== undefined)
      .flatMap((part) => {
        const ratio = part === "ink" ? TEXT_CONTRAST_MIN : PART_CONTRAST_MIN;
        const found = contrast(others[part], paper);
        if (found >= ratio) return [];
        const message =
          `Its contrast with the paper, ${formatColour(paper)}, is ${down(found)} to 1 and must be at least ${ratio}: ` +
          `the nearest that passes is ${formatColour(nearest(others[part], { on: paper, ratio }))}`;
        return [{ field: `colours.${name}.${part}`, message }];
      });
  });
}

/** Two digits, and never more than it is: what is refused does not read as if it passed. */
function down(ratio: number): string {
  return (Math.floor(ratio * 100) / 100).toFixed(2);
}

/** The palette as custom properties of a style sheet; `palette` holds numbers, so nothing else gets in. */
export function paletteCss({ light, dark }: Palette): string {
  return `${rule(light)}@media(prefers-color-scheme:dark){${rule(dark)}}`;
}

function rule({ paper, ink, soft, rule: hairline, accent, accentInk }: Colours): string {
  const parts = { paper, ink, soft, rule: hairline, accent, "accent-ink": accentInk };
  const text = Object.entries(parts).map(([name, colour]) => `--${name}:${formatColour(colour)}`);
  return `:root{${text.join(";")}}`;
}
