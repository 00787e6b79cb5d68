import { NONCE_TEXT, type TimeClaims, timeClaimsSchema } from "@vestibule/contracts/edges-api";
import { TOKEN_CHARS_MAX } from "@vestibule/contracts/limits";
import { parse } from "@vestibule/contracts/parse";
import type { KeySet } from "@vestibule/keys/key-set";
import { assert } from "@vestibule/kernel/assert";
import { type Result, ok, refuse } from "@vestibule/kernel/result";

import type { TokenRefusal } from "./refusal.ts";
import { TIME_TYP } from "./types.ts";
import { verifyJws } from "./verify-jws.ts";

/** `wrong-nonce`: an answer to another question. */
type TimeRefusal = TokenRefusal | { readonly reason: "wrong-nonce" };

export interface TimeAnswerOptions {
  readonly keys: KeySet;
  readonly issuer: string;
  /** Of this question: unguessable, and never asked with before. */
  readonly nonce: string;
}

/**
 * Verifies the mint's answer to "what time is it". Takes no clock: it is asked because the verifier's own may be wrong
 * by any amount. The nonce says that the answer is younger than the question.
 *
 * @throws AssertionError for a nonce that is none, never for any `text`.
 */
export async function verifyTime(
  text: string,
  { keys, issuer, nonce }: TimeAnswerOptions,
): Promise<Result<TimeClaims, TimeRefusal>> {
  assert(NONCE_TEXT.test(nonce), "a question's nonce");
  const jws = await verifyJws(text, {
    keys,
    typ: TIME_TYP,
    now: undefined,
    charsMax: TOKEN_CHARS_MAX,
  });
  if (!jws.ok) return jws;
  const { claims, until } = jws.value;
  const read = parse(timeClaimsSchema, claims);
  if (!read.ok) return refuse({ reason: "bad-claims" });
  const { iss, iat, at } = read.value;
  if (iat !== Math.floor(at / 1000)) return refuse({ reason: "bad-claims" });
  if (iss !== issuer) return refuse({ reason: "wrong-issuer" });
  if (read.value.nonce !== nonce) return refuse({ reason: "wrong-nonce" });
  // Law 8 by the statement's own time: no key signs after its end, whatever this clock says.
  if (until !== undefined && at >= until * 1000) return refuse({ reason: "key-over" });
  return ok(read.value);
}
