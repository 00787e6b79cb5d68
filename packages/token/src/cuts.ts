/**
 * What holds do to an admission (ADR 1). Beside the verifier, because every location and the purchase API
 * must say the same (law 5). Compared in whole seconds, as tokens carry them.
 */
import type { DripClaims } from "@vestibule/contracts/statements";

type HoldClaims = Pick<DripClaims, "heldSince" | "heldScope" | "cuts">;

/**
 * `held`: the sale is held and this slot opened after the hold began. `cut`: an ended hold cut the
 * slot, and this token was signed before the resume: claiming again gives the new slot.
 */
export function cutOf(
  { nbf, iat }: { readonly nbf: number; readonly iat: number },
  drip: HoldClaims | undefined,
): "held" | "cut" | undefined {
  if (drip === undefined) return undefined;
  if (drip.heldSince !== undefined && nbf > second(drip.heldSince)) return "held";
  const isCut = drip.cuts.some(({ since, until }) => nbf > second(since) && iat < second(until));
  return isCut ? "cut" : undefined;
}

/** True when purchases are refused as well. */
export function isHeldForAll(drip: HoldClaims | undefined): boolean {
  return drip?.heldSince !== undefined && drip.heldScope === "all";
}

function second(at: number): number {
  return Math.floor(at / 1000);
}
