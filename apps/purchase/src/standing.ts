import type { DripClaims } from "@vestibule/contracts/statements";

/** Where an admission stands with the holds of its event. */
export type Standing = "good" | "held" | "cut";

/**
 * `held`: a hold is on, and it covers this admission: of scope `all` every one, of scope `entries`
 * those whose slot opened after it began. `cut`: a hold that has ended took this slot away; its
 * number got a new one. Times are compared in whole seconds, as tokens carry them.
 */
export function standing(
  drip: Pick<DripClaims, "heldSince" | "heldScope" | "cuts">,
  admission: { readonly nbf: number; readonly iat: number },
): Standing {
  const { heldSince, heldScope, cuts } = drip;
  const isCut = cuts.some(
    ({ since, until }) => admission.nbf > second(since) && admission.iat < second(until),
  );
  if (isCut) return "cut";
  if (heldSince === undefined) return "good";
  return heldScope === "all" || admission.nbf > second(heldSince) ? "held" : "good";
}

function second(at: number): number {
  return Math.floor(at / 1000);
}
