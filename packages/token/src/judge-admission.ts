import type { DripClaims } from "@vestibule/contracts/statements";
import type { KeySet } from "@vestibule/keys/key-set";
import { type Result, refuse } from "@vestibule/kernel/result";

import { cutOf, isHeldForAll } from "./cuts.ts";
import type { TokenRefusal } from "./refusal.ts";
import { type Admission, type AdmissionOptions, verifyAdmission } from "./verify-admission.ts";

/** What is asked of the mint's statements only when it is needed. None rejects. */
export interface Statements {
  /** After an unknown `kid`: the keys once more, when there may be newer ones. */
  newerKeys(): Promise<KeySet | undefined>;
  /** As they are by now: asking for the drip may have told of a key that was revoked. */
  keys(): KeySet | undefined;
  /** The last good one of the event, of which only the holds are looked at. */
  drip(): Promise<DripClaims | undefined>;
}

/**
 * May it be bought with, now? Genuine, within its slot, and neither held nor cut. The purchase API and a shop's
 * guard run this same code, so that they say the same (law 5).
 *
 * @throws AssertionError for options that are not well formed, never for any `text` or `visitor`.
 */
export async function judgeAdmission(
  text: string,
  options: AdmissionOptions,
  statements: Statements,
): Promise<Result<Admission, TokenRefusal | { readonly reason: "held" | "cut" }>> {
  let verdict = await verifyAdmission(text, options);
  if (!verdict.ok && verdict.refusal.reason === "unknown-key") {
    const keys = await statements.newerKeys();
    if (keys !== undefined && keys !== options.keys) {
      verdict = await verifyAdmission(text, { ...options, keys });
    }
  }
  if (!verdict.ok) return verdict;
  const drip = await statements.drip();
  if (statements.keys()?.has(verdict.value.kid) === false) return refuse({ reason: "unknown-key" });
  const cut = cutOf(verdict.value, drip);
  if (cut !== undefined) return refuse({ reason: cut });
  return isHeldForAll(drip) ? refuse({ reason: "held" }) : verdict;
}
