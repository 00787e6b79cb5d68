import { CREDIT_SECONDS } from "@vestibule/contracts/limits";
import { type Result, ok, refuse } from "@vestibule/kernel/result";
import type { EpochSeconds, TicketNumber } from "@vestibule/kernel/units";

import { admissionId } from "./admission-id.ts";
import { isHash, isNumber, isSeconds, refuseByTime } from "./claims.ts";
import type { TokenRefusal } from "./refusal.ts";
import { CREDIT_TYP } from "./types.ts";
import type { Claims, VerifiedJws } from "./verify-jws.ts";
import { type ShownOptions, verifyShown } from "./verify-shown.ts";

/** A purchase with this number's admission failed by a fault of ours. */
export interface Credit {
  readonly event: string;
  readonly number: TicketNumber;
  /** The admission's identity. */
  readonly jti: string;
  /** `nbf` of that admission: the second in which the slot opened that could not be used. */
  readonly slot: EpochSeconds;
  /** SHA-256 of the visitor's secret, base64url. */
  readonly sub: string;
  readonly iat: EpochSeconds;
  readonly exp: EpochSeconds;
  /** The key that signed it. */
  readonly kid: string;
}

/**
 * Verifies a credit, with no state and no network. Whether it was used already, and whether its slot
 * is the latest one of its number, is the mint's to decide. The keys are the purchase API's credit keys, never the
 * mint's own.
 *
 * @throws AssertionError for options that are not well formed, never for any `text` or `visitor`.
 */
export async function verifyCredit(
  text: string,
  options: ShownOptions,
): Promise<Result<Credit, TokenRefusal>> {
  return verifyShown(text, options, CREDIT_TYP, readClaims);
}

function readClaims(
  { claims, kid }: VerifiedJws,
  options: ShownOptions,
): Result<Credit, TokenRefusal> {
  const { event } = options;
  const { iss, aud, sub, n, jti, slot, iat, exp } = claims as Claims<
    "iss" | "aud" | "sub" | "n" | "jti" | "slot" | "iat" | "exp"
  >;
  if (!isHash(sub) || !isHash(jti) || !isNumber(n)) return refuse({ reason: "bad-claims" });
  if (!isSeconds(slot) || !isSeconds(iat) || !isSeconds(exp))
    return refuse({ reason: "bad-claims" });
  if (exp <= iat) return refuse({ reason: "bad-claims" });
  if (iss !== options.issuer) return refuse({ reason: "wrong-issuer" });
  if (aud !== event) return refuse({ reason: "wrong-audience" });
  // The admission's name follows from event and number: one that says otherwise contradicts itself.
  if (jti !== admissionId(event, n)) return refuse({ reason: "bad-claims" });
  if (exp - iat > CREDIT_SECONDS) return refuse({ reason: "lifetime-too-long" });
  const refusal = refuseByTime({ iat, exp }, options);
  if (refusal !== undefined) return refuse(refusal);
  return ok({ event, number: n, jti, slot, sub, iat, exp, kid });
}
