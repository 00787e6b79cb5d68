import { LIFETIME_SECONDS_MAX } from "@vestibule/contracts/limits";
import { assert } from "@vestibule/kernel/assert";
import { type Result, ok, refuse } from "@vestibule/kernel/result";
import type { EpochSeconds, TicketNumber } from "@vestibule/kernel/units";

import { isHash, isNumber, isSeconds, refuseByTime } from "./claims.ts";
import type { TokenRefusal } from "./refusal.ts";
import { ADMISSION_TYP, type Action } from "./types.ts";
import type { Claims, VerifiedJws } from "./verify-jws.ts";
import { type ShownOptions, verifyShown } from "./verify-shown.ts";

/** This visitor may do this one action in this slot. */
export interface Admission {
  readonly event: string;
  readonly number: TicketNumber;
  /** The admission's identity: what is spent. The text of a token never is. */
  readonly jti: string;
  readonly action: Action;
  /** SHA-256 of the visitor's secret, base64url. */
  readonly sub: string;
  readonly iat: EpochSeconds;
  /** The second in which the slot opens. */
  readonly nbf: EpochSeconds;
  /** The first second in which it is over. */
  readonly exp: EpochSeconds;
  /** The key that signed it: a remembered verdict holds only while this key is in force. */
  readonly kid: string;
}

export interface AdmissionOptions extends ShownOptions {
  /** The event's stated lifetime of a slot: `exp - nbf` must not exceed it. */
  readonly lifetimeSeconds: number;
  readonly action: Action;
}

/**
 * Verifies an admission, with no state and no network. Edge, mint and purchase run this same code.
 * Holds and cuts are the caller's to decide, from the drip statement.
 *
 * @throws AssertionError for options that are not well formed, never for any `text` or `visitor`.
 */
export async function verifyAdmission(
  text: string,
  options: AdmissionOptions,
): Promise<Result<Admission, TokenRefusal>> {
  assert(
    Number.isInteger(options.lifetimeSeconds) &&
      options.lifetimeSeconds > 0 &&
      options.lifetimeSeconds <= LIFETIME_SECONDS_MAX,
    "the lifetime is a whole number of seconds within its bounds",
  );
  return verifyShown(text, options, ADMISSION_TYP, readClaims);
}

function readClaims(
  { claims, kid }: VerifiedJws,
  options: AdmissionOptions,
): Result<Admission, TokenRefusal> {
  const { event, action, lifetimeSeconds } = options;
  const { iss, aud, act, sub, jti, n, iat, nbf, exp } = claims as Claims<
    "iss" | "aud" | "act" | "sub" | "jti" | "n" | "iat" | "nbf" | "exp"
  >;
  if (!isHash(sub) || !isHash(jti) || !isNumber(n)) return refuse({ reason: "bad-claims" });
  if (!isSeconds(iat) || !isSeconds(nbf) || !isSeconds(exp))
    return refuse({ reason: "bad-claims" });
  if (exp <= nbf) return refuse({ reason: "bad-claims" });
  if (iss !== options.issuer) return refuse({ reason: "wrong-issuer" });
  if (aud !== event) return refuse({ reason: "wrong-audience" });
  if (act !== action) return refuse({ reason: "wrong-action" });
  if (exp - nbf > lifetimeSeconds) return refuse({ reason: "lifetime-too-long" });
  const refusal = refuseByTime({ iat, nbf, exp }, options);
  if (refusal !== undefined) return refuse(refusal);
  return ok({ event, number: n, jti, action, sub, iat, nbf, exp, kid });
}
