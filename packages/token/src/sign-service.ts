/** Signed by the mint with a key of the line; the edge never imports it (law 6). */
import { isSlug } from "@vestibule/contracts/slug";
import type { SigningKey } from "@vestibule/keys/signing-key";
import { assert } from "@vestibule/kernel/assert";
import type { EpochSeconds } from "@vestibule/kernel/units";

import { isHash, isSeconds } from "./claims.ts";
import { signToken } from "./sign-jws.ts";
import { SERVICE_TYP } from "./types.ts";

export interface ServiceClaims {
  readonly issuer: string;
  readonly event: string;
  /** The service's name, as bypass rules name it. */
  readonly name: string;
  /** 32 random bytes, base64url: names this token in the audit log. */
  readonly jti: string;
  readonly iat: EpochSeconds;
  readonly exp: EpochSeconds;
}

/**
 * A bearer token: whoever has it is the service. It passes only where a rule of the event names that.
 *
 * @throws AssertionError for claims that no verifier would take.
 */
export async function signService(key: SigningKey, service: ServiceClaims): Promise<string> {
  const { issuer, event, name, jti, iat, exp } = service;
  assert(isSlug(name) && isHash(jti) && isSeconds(iat) && isSeconds(exp), "a service's claims");
  assert(exp > iat, "a service's token has a lifetime");
  return signToken(key, SERVICE_TYP, { iss: issuer, aud: event, sub: name, jti, iat, exp });
}
