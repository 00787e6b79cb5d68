/** When somebody who looks elsewhere is told of the turn. Pure. */
import type { View } from "@vestibule/client/view";
import { HIDDEN_WAKE_MS } from "@vestibule/client/pace";
import { claimWindowMs } from "@vestibule/drip/slot";
import { HURRY_MS } from "../../words.ts";

/** So long before the turn opens, for the page goes in by itself then, and the sound would end with it. */
const AHEAD_MS = 10_000;

/** What of a view decides. */
export type Due = Pick<View, "state" | "said" | "now" | "settings"> & {
  readonly slot?: { readonly opensAt: number } | undefined;
};

export interface Alert {
  /** By the clock of `now`. */
  readonly at: number;
  /** Each is told once. */
  readonly name: string;
}

/** In the order of their moments; none while no turn is set, and none of what the fan has answered. */
export function alertsOf(view: Due, isHidden: boolean): readonly Alert[] {
  const { state, slot, said, now, settings } = view;
  if (slot === undefined) return [];
  const { opensAt } = slot;
  const name = String(opensAt);
  if (state === "confirm" && !said) {
    const hurryAt = opensAt + claimWindowMs(settings) - HURRY_MS;
    return [
      { at: Math.min(now, hurryAt), name },
      { at: hurryAt, name: `${name}-hurry` },
    ];
  }
  // What has been asked for is answered: the fan is here.
  if (state !== "known" && state !== "turn") return [];
  return [{ at: opensAt - AHEAD_MS - (isHidden ? HIDDEN_WAKE_MS : 0), name }];
}
