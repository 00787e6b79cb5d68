import { TOKEN_CHARS_MAX } from "@vestibule/contracts/limits";
import type { KeySet } from "@vestibule/keys/key-set";
import { type Result, refuse } from "@vestibule/kernel/result";

import { type TimeOptions, assertTimeOptions, isHash } from "./claims.ts";
import type { TokenRefusal } from "./refusal.ts";
import type { TokenTyp } from "./types.ts";
import { type VerifiedJws, verifyJws } from "./verify-jws.ts";
import { hashVisitor } from "./visitor.ts";

/** What every token that a visitor shows is verified against. */
export interface ShownOptions extends TimeOptions {
  readonly keys: KeySet;
  readonly issuer: string;
  readonly event: string;
  /** The secret that the visitor showed with the token; undefined when none was. */
  readonly visitor: string | undefined;
}

/**
 * Ticket, admission and credit alike: the signature, then the claims, then that the secret is the one of `sub`.
 * With no state and no network.
 *
 * @throws AssertionError for options that are not well formed, never for any `text` or `visitor`.
 */
export async function verifyShown<
  Options extends ShownOptions,
  Token extends { readonly sub: string },
>(
  text: string,
  options: Options,
  typ: TokenTyp,
  readClaims: (jws: VerifiedJws, options: Options) => Result<Token, TokenRefusal>,
): Promise<Result<Token, TokenRefusal>> {
  assertTimeOptions(options);
  const { keys, now, visitor } = options;
  const jws = await verifyJws(text, { keys, now, typ, charsMax: TOKEN_CHARS_MAX });
  if (!jws.ok) return jws;
  const token = readClaims(jws.value, options);
  if (!token.ok) return token;
  if (!isHash(visitor) || hashVisitor(visitor) !== token.value.sub)
    return refuse({ reason: "wrong-visitor" });
  return token;
}
