import { STATEMENT_BYTES_MAX } from "@vestibule/contracts/limits";
import { parse } from "@vestibule/contracts/parse";
import { type ManifestClaims, manifestClaimsSchema } from "@vestibule/contracts/statements";
import type { KeySet } from "@vestibule/keys/key-set";
import { type Result, ok, refuse } from "@vestibule/kernel/result";

import { type TimeOptions, assertTimeOptions, isSeconds, refuseByTime } from "./claims.ts";
import type { TokenRefusal } from "./refusal.ts";
import { MANIFEST_TYP } from "./types.ts";
import { verifyJws } from "./verify-jws.ts";

export interface ManifestOptions extends TimeOptions {
  readonly keys: KeySet;
  readonly issuer: string;
}

/**
 * Verifies a manifest. Whether it is newer than the one in hand (`seq`) is the caller's to decide.
 *
 * @throws AssertionError for options that are not well formed, never for any `text`.
 */
export async function verifyManifest(
  text: string,
  options: ManifestOptions,
): Promise<Result<ManifestClaims, TokenRefusal>> {
  assertTimeOptions(options);
  const { keys, now } = options;
  const jws = await verifyJws(text, {
    keys,
    now,
    typ: MANIFEST_TYP,
    charsMax: STATEMENT_BYTES_MAX,
  });
  if (!jws.ok) return jws;
  const claims = parse(manifestClaimsSchema, jws.value.claims);
  if (!claims.ok) return refuse({ reason: "bad-claims" });
  const { iss, iat, exp } = claims.value;
  if (!isSeconds(iat) || !isSeconds(exp)) return refuse({ reason: "bad-claims" });
  if (iss !== options.issuer) return refuse({ reason: "wrong-issuer" });
  const refusal = refuseByTime({ iat, exp }, options);
  return refusal === undefined ? ok(claims.value) : refuse(refusal);
}
