/** One accent from the organizer, made readable on both papers (WCAG 2.2: 4.5 to 1 for the button's text). */

const CONTRAST_MIN = 4.5;
const LIGHT_PAPER = [0xfd, 0xfd, 0xfc] as const;
const DARK_PAPER = [0x12, 0x13, 0x16] as const;

type Rgb = readonly [number, number, number];

export interface Accent {
  readonly light: string;
  readonly dark: string;
}

/** `hex`: `#rrggbb`. Darkened for the light scheme, lightened for the dark one, as little as needed. */
export function accentFor(hex: string): Accent {
  const colour: Rgb = /^#[0-9a-f]{6}$/i.test(hex) ? parse(hex) : [0x0b, 0x6e, 0x4f];
  return {
    light: adjust(colour, { towards: [0, 0, 0], paper: LIGHT_PAPER }),
    dark: adjust(colour, { towards: [255, 255, 255], paper: DARK_PAPER }),
  };
}

function adjust(colour: Rgb, { towards, paper }: { towards: Rgb; paper: Rgb }): string {
  for (let step = 0; step <= 20; step += 1) {
    const mixed = mix(colour, towards, step / 20);
    if (contrast(mixed, paper) >= CONTRAST_MIN) return format(mixed);
  }
  return format(towards);
}

function mix(one: Rgb, other: Rgb, share: number): Rgb {
  const at = (i: 0 | 1 | 2) => Math.round(one[i] + (other[i] - one[i]) * share);
  return [at(0), at(1), at(2)];
}

/** WCAG 2.2, contrast ratio. */
export function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function luminance([r, g, b]: Rgb): number {
  const linear = (value: number) => {
    const share = value / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

function parse(hex: string): Rgb {
  const at = (from: number) => Number.parseInt(hex.slice(from, from + 2), 16);
  return [at(1), at(3), at(5)];
}

function format(colour: Rgb): string {
  return `#${colour.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
