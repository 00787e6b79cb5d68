/** What the law allows in ten seconds, and what opened: an accounting that knows nothing of the controller. */
import { rateAt, type Rates } from "@vestibule/drip/rate-plan";
import { liveCount, opensAt } from "@vestibule/drip/segment";
import type { Commitment } from "@vestibule/mint/test/support/virtual-line.ts";

export const WINDOW_MS = 10_000;

export interface Sale {
  readonly commitments: readonly Commitment[];
  readonly rates: Rates;
  readonly overdrivePercent: number;
  /** When something was down: windows that touch it may have less. `[from, until)`, epoch milliseconds. */
  readonly down: readonly (readonly [from: number, until: number])[];
  readonly from: number;
  readonly until: number;
}

export interface Accuracy {
  readonly windows: number;
  /** Windows with more than the law allows. */
  readonly above: number;
  /** The least that a window has for what the rate gives in it, of windows in which nothing was down. */
  readonly leastShare: number;
}

interface Piece {
  readonly start: number;
  readonly end: number;
  readonly lapsedSoFar: number;
  /** Opened beyond the rate by this and all before it. */
  readonly extra: number;
}

/**
 * Every window of ten seconds that begins with an opening (none has more) and every one that begins right behind one
 * (none has less), between `from` and `until`.
 */
export function accuracyOf(sale: Sale): Accuracy {
  const { commitments, rates, overdrivePercent, down } = sale;
  const openings = commitments
    .flatMap(({ segment }) =>
      Array.from({ length: liveCount(segment) }, (_, k) => opensAt(segment, segment.base + k)),
    )
    .toSorted((one, other) => one - other);
  const pieces = piecesOf(commitments, rates);
  let [windows, above, leastShare, last, piece] = [0, 0, Infinity, 0, 0];
  for (const [index, at] of openings.entries()) {
    if (at < sale.from || at + WINDOW_MS >= sale.until) continue;
    while ((openings[last] ?? Infinity) < at + WINDOW_MS) last += 1;
    while ((pieces[piece]?.end ?? Infinity) <= at) piece += 1;
    const allowed = allowance(pieces, piece, { at, rates });
    const most = Math.min(allowed.slots + allowed.beyond, (allowed.slots * overdrivePercent) / 100);
    if (last - index >= most + 1) above += 1;
    // The window that begins a millisecond later, without this opening.
    const inLater = last - index - 1 + (openings[last] === at + WINDOW_MS ? 1 : 0);
    const isWhole = !down.some(([from, until]) => at < until && at + 1 + WINDOW_MS > from);
    if (isWhole)
      leastShare = Math.min(leastShare, inLater / slotsOf(rates, at + 1, at + 1 + WINDOW_MS));
    windows += 2;
  }
  return { windows, above, leastShare };
}

function piecesOf(commitments: readonly Commitment[], rates: Rates): readonly Piece[] {
  let extra = 0;
  return commitments
    .filter(({ segment }) => liveCount(segment) > 0)
    .map(({ segment, decidedAt, lapsedSoFar }) => {
      const live = liveCount(segment);
      const start = Math.max(segment.from, decidedAt);
      const end = segment.from + Math.ceil((live * (segment.until - segment.from)) / segment.count);
      extra += Math.max(0, live - slotsOf(rates, start, end));
      return { start, end, lapsedSoFar, extra };
    });
}

/** Only time that was committed earns; what lapsed may be given back once. */
function allowance(
  pieces: readonly Piece[],
  first: number,
  { at, rates }: { readonly at: number; readonly rates: Rates },
): { readonly slots: number; readonly beyond: number } {
  let slots = 0;
  let lapsed = 0;
  for (let index = first; index < pieces.length; index += 1) {
    const piece = pieces[index];
    if (piece === undefined || piece.start >= at + WINDOW_MS) break;
    slots += slotsOf(rates, Math.max(piece.start, at), Math.min(piece.end, at + WINDOW_MS));
    lapsed = piece.lapsedSoFar;
  }
  return { slots, beyond: Math.max(0, lapsed - (pieces[first - 1]?.extra ?? 0)) };
}

function slotsOf(rates: Rates, from: number, until: number): number {
  let slots = 0;
  for (let at = from; at < until;) {
    const span = rateAt(rates, at);
    const stop = Math.min(until, span.until);
    slots += ((stop - at) * span.ratePerMinute) / 60_000;
    at = stop;
  }
  return slots;
}
