/** Holds: which admissions are void because their slot was cut (design section 5). */
import type { DripClaims } from "@vestibule/contracts/statements";

type HoldClaims = Pick<DripClaims, "heldSince" | "heldScope" | "cuts">;

/**
 * `held`: the sale is held and this slot opened after the hold began. `cut`: an ended hold cut the
 * slot, and this token was signed before the resume: claiming again gives the new slot.
 */
export function cutOf(
  admission: { readonly nbf: number; readonly iat: number },
  drip: HoldClaims | undefined,
): "held" | "cut" | undefined {
  if (drip === undefined) return undefined;
  const { nbf, iat } = admission;
  if (drip.heldSince !== undefined && nbf > Math.floor(drip.heldSince / 1000)) return "held";
  for (const { since, until } of drip.cuts) {
    if (nbf > Math.floor(since / 1000) && iat < Math.floor(until / 1000)) return "cut";
  }
  return undefined;
}

/** True when purchases are refused as well. */
export function isHeldForAll(drip: HoldClaims | undefined): boolean {
  return drip?.heldSince !== undefined && drip.heldScope === "all";
}
