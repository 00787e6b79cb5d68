/** Whether a sale is in its last call. For the browser, the edge and whoever else polls: small, no import. */

/** What a drip statement says about it. `DripView` of the contracts fits. */
export interface LastCallView {
  /** `scheduled`, `prequeue`, `open`, `paused`, `soldout`, `ended`. */
  readonly state: string;
  readonly lastCall?: { readonly from: number; readonly until: number } | undefined;
}

/** Nothing is sold in these, and only a new statement ends them: there is nothing to hurry for. */
const STOPPED: ReadonlySet<string> = new Set(["paused", "soldout", "ended"]);

/**
 * Milliseconds until the last call begins, 0 while it lasts; `undefined` when there is none, or none any more. A function
 * of time: a page needs no poll to begin with it (at an opening, say) and none to end.
 */
export function lastCallInMs({ state, lastCall }: LastCallView, now: number): number | undefined {
  if (lastCall === undefined || now >= lastCall.until || STOPPED.has(state)) return undefined;
  return Math.max(0, lastCall.from - now);
}
