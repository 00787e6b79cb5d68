/** The core of every signer, and the only code that signs. The edge never imports it (law 6). */
import { TOKEN_CHARS_MAX } from "@vestibule/contracts/limits";
import { encodeBase64url } from "@vestibule/keys/base64url";
import type { SigningKey } from "@vestibule/keys/signing-key";
import { utf8 } from "@vestibule/keys/text";
import { subtle } from "@vestibule/keys/webcrypto";
import { assert } from "@vestibule/kernel/assert";

import type { TokenTyp } from "./types.ts";

/** A token of a person. @throws AssertionError when the text would be longer than a verifier looks at. */
export async function signToken(key: SigningKey, typ: TokenTyp, claims: object): Promise<string> {
  return bounded(await signJws(key, typ, claims), TOKEN_CHARS_MAX);
}

/** @throws AssertionError when `text` is longer. */
export function bounded(text: string, charsMax: number): string {
  assert(text.length <= charsMax, "what is signed is no longer than a verifier looks at");
  return text;
}

/** Compact JWS (RFC 7515) of `claims`, under the explicit `typ` and the key's own `kid`. */
export async function signJws(key: SigningKey, typ: TokenTyp, claims: object): Promise<string> {
  const input = `${headerOf(key, typ)}.${encodeBase64url(utf8(JSON.stringify(claims)))}`;
  const signature = await subtle.sign("Ed25519", key.key, utf8(input));
  return `${input}.${encodeBase64url(new Uint8Array(signature))}`;
}

/** Encoded once per key and kind: a busy mint signs thousands a second under one header. */
const headers = new WeakMap<SigningKey, Map<TokenTyp, string>>();

function headerOf(key: SigningKey, typ: TokenTyp): string {
  let ofKey = headers.get(key);
  if (ofKey === undefined) headers.set(key, (ofKey = new Map<TokenTyp, string>()));
  let header = ofKey.get(typ);
  if (header === undefined) {
    header = encodeBase64url(utf8(JSON.stringify({ alg: key.alg, typ, kid: key.kid })));
    ofKey.set(typ, header);
  }
  return header;
}
