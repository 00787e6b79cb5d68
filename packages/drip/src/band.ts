/** Bands that figures are told in: who watches them cannot count sales. Read by whoever reports, and by the mint. */

/** Below this no figure is exact: it is told as one less, "fewer than this". */
const SMALL = 10;

/**
 * `count` rounded up to 9, or to the next of 10, 20, 50, 100, 200, 500 …: at most so many. 0 stays 0: that is told anyway.
 * A band's own band is itself.
 */
export function bandOf(count: number): number {
  if (count <= 0) return 0;
  if (count < SMALL) return SMALL - 1;
  const unit = 10 ** Math.floor(Math.log10(count));
  const factor = [1, 2, 5].find((times) => count <= times * unit) ?? 10;
  return factor * unit;
}
