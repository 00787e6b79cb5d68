/** What the mint signs. The edge never imports it (law 6). */
import { NONCE_TEXT } from "@vestibule/contracts/edges-api";
import { STATEMENT_BYTES_MAX } from "@vestibule/contracts/limits";
import type { DripClaims, ManifestClaims } from "@vestibule/contracts/statements";
import type { SigningKey } from "@vestibule/keys/signing-key";
import { assert } from "@vestibule/kernel/assert";
import {
  type EpochMs,
  type EpochSeconds,
  type TicketNumber,
  epochSeconds,
  toSeconds,
} from "@vestibule/kernel/units";

import { admissionId } from "./admission-id.ts";
import { isHash, isNumber, isSeconds } from "./claims.ts";
import { bounded, signJws, signToken } from "./sign-jws.ts";
import {
  ADMISSION_TYP,
  type Action,
  DRIP_TYP,
  MANIFEST_TYP,
  TICKET_TYP,
  TIME_TYP,
} from "./types.ts";

export interface TicketClaims {
  readonly issuer: string;
  readonly event: string;
  /** `hashVisitor` of the visitor's secret. */
  readonly sub: string;
  readonly iat: EpochSeconds;
  /** The event's end. */
  readonly exp: EpochSeconds;
  /** A place in line, or, before a draw, the entry's index (1 or higher). */
  readonly place: { readonly number: TicketNumber } | { readonly drawIndex: number };
}

export interface AdmissionClaims {
  readonly issuer: string;
  readonly event: string;
  /** `hashVisitor` of the visitor's secret. */
  readonly sub: string;
  readonly number: TicketNumber;
  readonly action: Action;
  /** When it is signed. */
  readonly iat: EpochSeconds;
  /** When the number's slot opens: `nbf` is its whole second. */
  readonly opensAt: EpochMs;
  /** `exp` is `nbf` and this. */
  readonly lifetimeSeconds: number;
}

/** @throws AssertionError for claims that no verifier would take. */
export async function signTicket(key: SigningKey, ticket: TicketClaims): Promise<string> {
  const { issuer, event, sub, iat, exp, place } = ticket;
  const index = "number" in place ? place.number : place.drawIndex;
  assert(isHash(sub) && isSeconds(iat) && isSeconds(exp) && isNumber(index), "a ticket's claims");
  const claims = { iss: issuer, aud: event, sub, iat, exp };
  return signToken(key, TICKET_TYP, {
    ...claims,
    ...("number" in place ? { n: index } : { d: index }),
  });
}

/** Asked again it signs the same admission: same `jti`, `nbf` and `exp`. @throws AssertionError as above. */
export async function signAdmission(key: SigningKey, admission: AdmissionClaims): Promise<string> {
  const { issuer, event, sub, number, action, iat, opensAt, lifetimeSeconds } = admission;
  assert(isHash(sub) && isSeconds(iat) && isNumber(number), "an admission's claims");
  const nbf = toSeconds(opensAt);
  const exp = epochSeconds(nbf + lifetimeSeconds);
  assert(exp > nbf, "an admission has a lifetime");
  const jti = admissionId(event, number);
  const claims = { iss: issuer, aud: event, sub, act: action, n: number, jti, iat, nbf, exp };
  return signToken(key, ADMISSION_TYP, claims);
}

/** @throws AssertionError when the text would be longer than a verifier looks at. */
export async function signDrip(key: SigningKey, claims: DripClaims): Promise<string> {
  return bounded(await signJws(key, DRIP_TYP, claims), STATEMENT_BYTES_MAX);
}

/** @throws AssertionError when the text would be longer than a verifier looks at. */
export async function signManifest(key: SigningKey, claims: ManifestClaims): Promise<string> {
  return bounded(await signJws(key, MANIFEST_TYP, claims), STATEMENT_BYTES_MAX);
}

/**
 * The mint's clock, for one question. Whoever asked bounds it by their own round trip: `at` must be read after the
 * question arrived, and before this answer leaves.
 *
 * @throws AssertionError as above.
 */
export async function signTime(
  key: SigningKey,
  { issuer, nonce, at }: { readonly issuer: string; readonly nonce: string; readonly at: EpochMs },
): Promise<string> {
  assert(NONCE_TEXT.test(nonce), "a question's nonce");
  return signToken(key, TIME_TYP, { iss: issuer, iat: toSeconds(at), nonce, at });
}
