/**
 * Credits for faults of ours: a purchase that failed with a good admission earns its fan a fresh slot
 * (ADR 7). The key is the purchase API's own; the mint knows its public half.
 */
import { importPrivateJwk, type SigningKey } from "@vestibule/keys/signing-key";
import { type EpochMs, ticketNumber, toSeconds } from "@vestibule/kernel/units";
import type { Log } from "@vestibule/service/log";
import { signCredit } from "@vestibule/token/sign-credit";
import type { Admitted } from "./admit.ts";

export interface Credits {
  /**
   * A `vst-credit+jwt` for this admission, good for `CREDIT_SECONDS`; `undefined` when no key is
   * configured, or when it cannot sign: the answer itself must not fail for want of a credit. Never rejects.
   * Asked again it is worth no more: a slot is made good once.
   */
  for(admitted: Admitted, now: EpochMs): Promise<string | undefined>;
}

/** The key is not one. Its message is safe to print: nothing of the key is in it. */
export class CreditKeyError extends Error {
  override readonly name = "CreditKeyError";
}

/**
 * @param keyText private JWK (OKP, Ed25519) as JSON; `undefined`: no credits are given.
 * @param options.issuer the `iss` of the mint's tokens.
 * @throws CreditKeyError
 */
export async function createCredits(
  keyText: string | undefined,
  { issuer, log }: { issuer: string; log: Log },
): Promise<Credits> {
  if (keyText === undefined) return { for: () => Promise.resolve(undefined) };
  const key = await readKey(keyText);
  return {
    for: async ({ event, visitor, number, slot }, now) => {
      try {
        const claims = { issuer, event, sub: visitor, number: ticketNumber(number), slot };
        return await signCredit(key, { ...claims, iat: toSeconds(now) });
      } catch (error) {
        log.error("credit-not-signed", error);
        return undefined;
      }
    },
  };
}

async function readKey(text: string): Promise<SigningKey> {
  let jwk: unknown;
  try {
    jwk = JSON.parse(text);
  } catch {
    // The parser's own message repeats part of the text.
    throw refused("it is not JSON");
  }
  const read = await importPrivateJwk(jwk);
  if (!read.ok) throw refused(read.refusal);
  return read.value.signingKey;
}

function refused(why: string): CreditKeyError {
  return new CreditKeyError(
    `VESTIBULE_CREDIT_KEY: must be a private JWK (OKP, Ed25519), as make-credit-key/main.ts writes it: ${why}`,
  );
}
