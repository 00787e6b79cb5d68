import { STATEMENT_BYTES_MAX } from "@vestibule/contracts/limits";
import { parse } from "@vestibule/contracts/parse";
import { type DripClaims, dripClaimsSchema } from "@vestibule/contracts/statements";
import type { KeySet } from "@vestibule/keys/key-set";
import { type Result, ok, refuse } from "@vestibule/kernel/result";

import { type TimeOptions, assertTimeOptions, isSeconds, refuseByTime } from "./claims.ts";
import type { TokenRefusal } from "./refusal.ts";
import { DRIP_TYP } from "./types.ts";
import { verifyJws } from "./verify-jws.ts";

export interface DripOptions extends TimeOptions {
  readonly keys: KeySet;
  readonly issuer: string;
  readonly event: string;
}

/**
 * Verifies a drip statement. Whether it is newer than the one in hand (`seq`) is the caller's to decide.
 * `issued-in-future` tells the signed second: from it a location learns how far its clock is behind.
 *
 * @throws AssertionError for options that are not well formed, never for any `text`.
 */
export async function verifyDrip(
  text: string,
  options: DripOptions,
): Promise<Result<DripClaims, TokenRefusal>> {
  assertTimeOptions(options);
  const { keys, now } = options;
  const jws = await verifyJws(text, { keys, now, typ: DRIP_TYP, charsMax: STATEMENT_BYTES_MAX });
  if (!jws.ok) return jws;
  const claims = parse(dripClaimsSchema, jws.value.claims);
  if (!claims.ok) return refuse({ reason: "bad-claims" });
  const { iss, aud, iat, exp } = claims.value;
  if (!isSeconds(iat) || !isSeconds(exp)) return refuse({ reason: "bad-claims" });
  if (iss !== options.issuer) return refuse({ reason: "wrong-issuer" });
  if (aud !== options.event) return refuse({ reason: "wrong-audience" });
  const refusal = refuseByTime({ iat, exp }, options);
  return refusal === undefined ? ok(claims.value) : refuse(refusal);
}
