/** What the purchase API signs: nothing else of the project does (law 6). */
import { CREDIT_SECONDS } from "@vestibule/contracts/limits";
import type { SigningKey } from "@vestibule/keys/signing-key";
import { assert } from "@vestibule/kernel/assert";
import { type EpochSeconds, type TicketNumber, epochSeconds } from "@vestibule/kernel/units";

import { admissionId } from "./admission-id.ts";
import { isHash, isNumber, isSeconds } from "./claims.ts";
import { signToken } from "./sign-jws.ts";
import { CREDIT_TYP } from "./types.ts";

export interface CreditClaims {
  /** The mint's issuer: a credit is a word within one Vestibule. */
  readonly issuer: string;
  readonly event: string;
  /** `hashVisitor` of the visitor's secret. */
  readonly sub: string;
  readonly number: TicketNumber;
  /** `nbf` of the admission that could not be used: the second in which that slot opened. */
  readonly slot: EpochSeconds;
  /** When it is signed; `exp` is `CREDIT_SECONDS` later. */
  readonly iat: EpochSeconds;
}

/**
 * Proof that a purchase failed by a fault of ours: the mint gives a fresh slot for it, once.
 *
 * @throws AssertionError for claims that no verifier would take.
 */
export async function signCredit(key: SigningKey, credit: CreditClaims): Promise<string> {
  const { issuer, event, sub, number, slot, iat } = credit;
  assert(isHash(sub) && isNumber(number) && isSeconds(slot) && isSeconds(iat), "a credit's claims");
  const jti = admissionId(event, number);
  const exp = epochSeconds(iat + CREDIT_SECONDS);
  return signToken(key, CREDIT_TYP, {
    iss: issuer,
    aud: event,
    sub,
    n: number,
    jti,
    slot,
    iat,
    exp,
  });
}
