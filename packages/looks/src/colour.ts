/** Colours as three numbers of 0 to 255, and their contrast as WCAG 2.2 defines it. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** Text, and what else is read. */
export const TEXT_CONTRAST_MIN = 4.5;
/** Parts of the interface: buttons, lines, marks. */
export const PART_CONTRAST_MIN = 3;

export const BLACK: Rgb = [0, 0, 0];
export const WHITE: Rgb = [255, 255, 255];

/** `#rrggbb`; `undefined` for anything else. */
export function parseColour(hex: string): Rgb | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(hex)) return undefined;
  const at = (from: number) => Number.parseInt(hex.slice(from, from + 2), 16);
  return [at(1), at(3), at(5)];
}

export function formatColour(colour: Rgb): string {
  return `#${colour.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

/** `share` 0 is `one`, 1 is `other`. */
export function mix(one: Rgb, other: Rgb, share: number): Rgb {
  const at = (i: 0 | 1 | 2) => Math.round(one[i] + (other[i] - one[i]) * share);
  return [at(0), at(1), at(2)];
}

/** 1 to 21 (WCAG 2.2, contrast ratio). */
export function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever can be read better on `paper`: at least 4.58 to 1 on any. */
export function readableOn(paper: Rgb): Rgb {
  return contrast(BLACK, paper) >= contrast(WHITE, paper) ? BLACK : WHITE;
}

/** `colour`, mixed with black or with white as little as gives it `ratio` (at most 4.5) on `paper`. */
export function nearest(colour: Rgb, { on, ratio }: { on: Rgb; ratio: number }): Rgb {
  for (let share = 0; share < 1; share += 1 / 255) {
    for (const end of [BLACK, WHITE]) {
      const mixed = mix(colour, end, share);
      if (contrast(mixed, on) >= ratio) return mixed;
    }
  }
  return readableOn(on);
}

function luminance([red, green, blue]: Rgb): number {
  const linear = (value: number) => {
    const share = value / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
