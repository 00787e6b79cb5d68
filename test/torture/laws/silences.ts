/** Times in which no mint answered, and whether what was done to the parts explains them. */
import type { Statement, Suffered } from "../trace.ts";

/** From the last answer before it until the next one was asked for. */
export interface Silence {
  readonly from: number;
  readonly until: number;
}

const SILENCE_MS_MIN = 1_500;
/** A takeover takes 5 s, and a process that was killed starts first: some seconds on a busy machine. */
const UNEXPLAINED_MS_MAX = 30_000;

export function silences(statements: readonly Statement[]): readonly Silence[] {
  const found: Silence[] = [];
  const answers = statements
    .filter(({ source }) => source.startsWith("mint"))
    .toSorted((a, b) => a.askedAt - b.askedAt);
  let last = Infinity;
  for (const { askedAt, at } of answers) {
    if (askedAt - last >= SILENCE_MS_MIN) found.push({ from: last, until: askedAt });
    last = last === Infinity ? at : Math.max(last, at);
  }
  return found;
}

/** While nothing is done to the database and to some mint, that one leads soon, whatever happens to the others. */
export function unexplainedSilences(
  quiet: readonly Silence[],
  suffered: readonly Suffered[],
  mints: readonly string[],
): readonly string[] {
  return quiet.flatMap((silence) =>
    mints.flatMap((mint) => {
      const own = suffered.filter(
        ({ parts }) => parts.includes(mint) || parts.includes("database"),
      );
      const well = longestBetween(silence, own);
      if (well <= UNEXPLAINED_MS_MAX) return [];
      return [
        `liveness: nothing was done to ${mint} and the database for ${well} ms, and no mint led`,
      ];
    }),
  );
}

/** The longest stretch of it in which none of these lasts. */
function longestBetween({ from, until }: Silence, suffered: readonly Suffered[]): number {
  let free = from;
  let longest = 0;
  for (const one of suffered.toSorted((a, b) => a.from - b.from)) {
    longest = Math.max(longest, Math.min(one.from, until) - free);
    free = Math.max(free, one.until);
  }
  return Math.max(longest, until - free);
}
