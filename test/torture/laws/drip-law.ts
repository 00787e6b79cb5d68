/** Law 3: what opens in any stretch of time, by the slots that were shown and the claims that were answered. */
import type { Claimed, Statement, Suffered } from "../trace.ts";
import type { Slots } from "./slots.ts";

export interface DripTerms {
  /** "mint 1", … */
  readonly mints: readonly string[];
  readonly horizonMs: number;
  readonly ratePerMinute: number;
  readonly overdrivePercent: number;
  readonly claimWindowMs: number;
}

const MINUTE_MS = 60_000;
/** A commit whose answer does not come is not known to its mint for so long. */
const IN_DOUBT_MS_MAX = 6_000;

/**
 * Of every window that begins and ends with a slot: no more than rate × time, what had lapsed by then, and the one at
 * its edge; and no more than the overdrive whatever lapsed. A slot counts as lapsed once nobody who is seen here claimed it.
 */
export function dripViolations(
  slots: Slots,
  claimed: readonly Claimed[],
  { ratePerMinute, overdrivePercent, claimWindowMs }: DripTerms,
): readonly string[] {
  const numbers = new Set(claimed.map(({ number }) => number));
  const opens = [...slots.values()].toSorted((a, b) => a - b);
  const lapses = [...slots]
    .filter(([n]) => !numbers.has(n))
    .map(([, at]) => at + claimWindowMs)
    .toSorted((a, b) => a - b);
  const steady = new Windows(ratePerMinute);
  const fast = new Windows((ratePerMinute * overdrivePercent) / 100);
  const found: string[] = [];
  let lapsed = 0;
  for (const at of opens) {
    while ((lapses[lapsed] ?? Infinity) <= at) lapsed += 1;
    const beyond = steady.add(at) - lapsed;
    if (beyond >= 1) {
      found.push(`law 3: at ${at} ${beyond.toFixed(2)} slots beyond the rate, ${lapsed} lapsed`);
    }
    const tooFast = fast.add(at);
    if (tooFast >= 1)
      found.push(`law 3: at ${at} ${tooFast.toFixed(2)} slots beyond the overdrive`);
  }
  return found;
}

/**
 * Nothing is made up for: a slot is committed before it opens. So none had opened well before a statement was signed
 * by which the line had not come to its number yet.
 */
export function lateViolations(slots: Slots, statements: readonly Statement[]): readonly string[] {
  const numbers = [...slots.keys()].toSorted((a, b) => a - b);
  const bySeq = new Map(statements.map((statement) => [statement.seq, statement]));
  const found: string[] = [];
  let next = numbers.length;
  let earliest = Infinity;
  // From the highest on: then the earliest slot behind `committed` only ever gets earlier.
  for (const { seq, signedAt, committed } of [...bySeq.values()].toSorted(
    (a, b) => b.committed - a.committed,
  )) {
    for (let n = numbers[next - 1]; n !== undefined && n > committed; n = numbers[next - 1]) {
      earliest = Math.min(earliest, slots.get(n) ?? Infinity);
      next -= 1;
    }
    const lateMs = signedAt - earliest;
    if (lateMs <= IN_DOUBT_MS_MAX) continue;
    found.push(`law 3: a slot behind ${committed} opened ${lateMs} ms before statement ${seq}`);
  }
  return found;
}

/** While no mint runs nothing is committed, and nothing later on: when the horizon is over, no slot opens before one runs again. */
export function standstillViolations(
  slots: Slots,
  suffered: readonly Suffered[],
  { mints, horizonMs }: Pick<DripTerms, "mints" | "horizonMs">,
): readonly string[] {
  return suffered.flatMap(({ parts, since, until }) => {
    if (!mints.every((mint) => parts.includes(mint))) return [];
    const dry = since + horizonMs;
    const opened = [...slots.values()].filter((at) => at > dry && at < until);
    if (opened.length === 0) return [];
    return [
      `law 3: ${opened.length} slots opened beyond the horizon of mints that all stood still`,
    ];
  });
}

/** The worst window that ends with the slot that was added last. */
class Windows {
  readonly #ratePerMinute: number;
  #count = 0;
  /** Lowest of slots × minute − rate × time before each slot so far. */
  #lowest = Infinity;

  constructor(ratePerMinute: number) {
    this.#ratePerMinute = ratePerMinute;
  }

  /** By how many slots more than the rate allows, in any window up to here. */
  add(at: number): number {
    this.#lowest = Math.min(this.#lowest, this.#count * MINUTE_MS - this.#ratePerMinute * at);
    this.#count += 1;
    // Its own millisecond counts as time as well.
    const here = this.#count * MINUTE_MS - this.#ratePerMinute * (at + 1);
    return (here - this.#lowest) / MINUTE_MS;
  }
}
