import { encodeBase64url } from "@vestibule/keys/base64url";
import { utf8 } from "@vestibule/keys/text";
import { subtle } from "@vestibule/keys/webcrypto";

/**
 * `sub` of a visitor's tokens: base64url(SHA-256) over the ASCII text of the secret, so that a token tells
 * nothing about it. The secret's form is checked by the caller (`visitorSchema`), or by the verifiers.
 */
export async function hashVisitor(visitor: string): Promise<string> {
  return encodeBase64url(new Uint8Array(await subtle.digest("SHA-256", utf8(visitor))));
}
