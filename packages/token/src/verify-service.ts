import { TOKEN_CHARS_MAX } from "@vestibule/contracts/limits";
import { isSlug } from "@vestibule/contracts/slug";
import type { KeySet } from "@vestibule/keys/key-set";
import { type Result, ok, refuse } from "@vestibule/kernel/result";
import type { EpochSeconds } from "@vestibule/kernel/units";

import { type TimeOptions, assertTimeOptions, isHash, isSeconds, refuseByTime } from "./claims.ts";
import type { TokenRefusal } from "./refusal.ts";
import { SERVICE_TYP } from "./types.ts";
import { type Claims, type VerifiedJws, verifyJws } from "./verify-jws.ts";

/** Whoever shows it is this service. */
export interface ServiceToken {
  readonly event: string;
  readonly name: string;
  readonly jti: string;
  readonly iat: EpochSeconds;
  readonly exp: EpochSeconds;
  /** The key that signed it: a remembered verdict holds only while this key is in force. */
  readonly kid: string;
}

export interface ServiceOptions extends TimeOptions {
  readonly keys: KeySet;
  readonly issuer: string;
  readonly event: string;
}

/**
 * Verifies a service's token, with no state and no network. What it may do is the event's bypass rules' to say: without
 * one that names it, nothing.
 *
 * @throws AssertionError for options that are not well formed, never for any `text`.
 */
export async function verifyService(
  text: string,
  options: ServiceOptions,
): Promise<Result<ServiceToken, TokenRefusal>> {
  assertTimeOptions(options);
  const { keys, now } = options;
  const jws = await verifyJws(text, { keys, now, typ: SERVICE_TYP, charsMax: TOKEN_CHARS_MAX });
  return jws.ok ? readClaims(jws.value, options) : jws;
}

function readClaims(
  { claims, kid }: VerifiedJws,
  options: ServiceOptions,
): Result<ServiceToken, TokenRefusal> {
  const { event } = options;
  const { iss, aud, sub, jti, iat, exp } = claims as Claims<
    "iss" | "aud" | "sub" | "jti" | "iat" | "exp"
  >;
  if (typeof sub !== "string" || !isSlug(sub) || !isHash(jti))
    return refuse({ reason: "bad-claims" });
  if (!isSeconds(iat) || !isSeconds(exp) || exp <= iat) return refuse({ reason: "bad-claims" });
  if (iss !== options.issuer) return refuse({ reason: "wrong-issuer" });
  if (aud !== event) return refuse({ reason: "wrong-audience" });
  const refusal = refuseByTime({ iat, exp }, options);
  if (refusal !== undefined) return refuse(refusal);
  return ok({ event, name: sub, jti, iat, exp, kid });
}
