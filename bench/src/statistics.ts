/** Order statistics over the rounds of a row: medians bear a machine that other work disturbs. */

/** Linear interpolation between the closest ranks; `at` is 0 (least) to 1 (greatest). */
export function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * at;
  const below = sorted[Math.floor(position)];
  const above = sorted[Math.ceil(position)];
  if (below === undefined || above === undefined) throw new RangeError("no values");
  return below + (above - below) * (position - Math.floor(position));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export interface Spread {
  readonly median: number;
  /** First and third quartile: half of all rounds lie between them. */
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return {
    median: median(values),
    low: quantile(values, 0.25),
    high: quantile(values, 0.75),
    rounds: values.length,
  };
}
