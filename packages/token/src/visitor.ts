import { encodeBase64url } from "@vestibule/keys/base64url";
import { sha256 } from "@vestibule/keys/sha256";
import { utf8 } from "@vestibule/keys/text";

/**
 * `sub` of a visitor's tokens: base64url(SHA-256) over the ASCII text of the secret, so that a token tells
 * nothing about it. The secret's form is checked by the caller (`visitorSchema`), or by the verifiers.
 */
export function hashVisitor(visitor: string): string {
  return encodeBase64url(sha256(utf8(visitor)));
}
