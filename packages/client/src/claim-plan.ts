/** When a turn is claimed, and when its owner goes in. Pure: what to do follows from what is known. */
import { CLAIM_NEAR_MS, ENTER_SPREAD_MS, HIDDEN_WAKE_MS, PASSED_SPREAD_MS } from "./pace.ts";
import type { Place } from "./place.ts";
import type { Trouble } from "./trouble.ts";
import type { View } from "./view.ts";

export type ClaimPlan =
  /** Nothing to do, and nothing to undo. */
  | { readonly kind: "none" }
  /** There is nothing to claim now: what is planned does not hold. */
  | { readonly kind: "stop" }
  | { readonly kind: "enter"; readonly inMs: number }
  /** Unless one is planned already. `slot`: one that is planned for another opening gives way. */
  | { readonly kind: "claim"; readonly inMs: number; readonly slot?: number };

export interface ClaimInput {
  readonly place: Place;
  readonly trouble: Trouble;
  readonly view: View;
  readonly isHidden: boolean;
  /** In [0, 1). */
  readonly random: number;
}

const NONE: ClaimPlan = { kind: "none" };

export function claimPlan({ place, trouble, view, isHidden, random }: ClaimInput): ClaimPlan {
  const { slot, state, said, now } = view;
  const { number, missed, order, claimed } = place.known;
  if (number === undefined || missed === true || order !== undefined) return NONE;
  // Another tab is in: here only a press leads there.
  if (claimed !== undefined && place.inside === claimed.opensAt) return { kind: "stop" };
  // Nobody enters here by now. What is claimed is kept for later, or for another location.
  const isClosed = state === "clock";
  if (claimed !== undefined) {
    if (isClosed) return NONE;
    const untilOpenMs = claimed.opensAt - now;
    const spreadMs = untilOpenMs > 0 ? random * ENTER_SPREAD_MS : 0;
    return { kind: "enter", inMs: untilOpenMs + spreadMs };
  }
  const isAsked = state === "confirm";
  const isOwed = place.isPassed(view) || state === "credit";
  // A slot that is over is of no use, unless it is made good.
  const isOver = slot !== undefined && now >= slot.closesAt && state !== "missed";
  const isUseless = (slot === undefined || isOver) && !isOwed;
  if ((isAsked && !said) || isUseless) return { kind: "stop" };
  if (state === "passed" && !trouble.isThere) {
    return { kind: "claim", inMs: random * PASSED_SPREAD_MS };
  }
  if (trouble.isThere || slot === undefined) {
    return { kind: "claim", inMs: trouble.retryMs(random) };
  }
  // Spread over the time that is left: a committed piece of the line does not claim all at once.
  const nearMs = CLAIM_NEAR_MS + (isHidden ? HIDDEN_WAKE_MS : 0);
  const leftMs = isAsked ? 0 : Math.max(0, slot.opensAt - now - nearMs);
  return { kind: "claim", inMs: random * leftMs, slot: slot.opensAt };
}
