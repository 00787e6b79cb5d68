/** Private keys at rest: JWE compact (RFC 7516), `dir` with `A256GCM`, under a 256-bit key-encryption key. */
import { assert } from "@vestibule/kernel/assert";
import { type Result, ok, refuse } from "@vestibule/kernel/result";
import { compactDecrypt } from "jose/jwe/compact/decrypt";
import { CompactEncrypt } from "jose/jwe/compact/encrypt";
import { decodeProtectedHeader } from "jose/decode/protected_header";

import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { sha256 } from "./sha256.ts";
import { utf8, utf8Text } from "./text.ts";

const KEK_BYTES = 32;
const SEALED_CHARS_MAX = 4_096;

/** A key-encryption key. `kid` names it in the header of everything it sealed; it tells nothing about the key. */
export interface KeyEncryptionKey {
  readonly kid: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type SealRefusal = "not-sealed" | "other-kek" | "cannot-open";

/** Reads `VESTIBULE_KEK`: base64url of 32 bytes, canonical. The refusal never holds the text. */
export function parseKek(text: string): Result<KeyEncryptionKey, "not-32-bytes"> {
  const bytes = decodeBase64url(text);
  if (bytes?.length !== KEK_BYTES) return refuse("not-32-bytes");
  return ok(kekOf(bytes));
}

/** @throws AssertionError unless `bytes` are 32. */
export function kekOf(bytes: Uint8Array<ArrayBuffer>): KeyEncryptionKey {
  assert(bytes.length === KEK_BYTES, "a key-encryption key is 32 bytes");
  const label = utf8("vestibule/kek-id/");
  const named = new Uint8Array(label.length + bytes.length);
  named.set(label);
  named.set(bytes, label.length);
  return { kid: encodeBase64url(sha256(named)), bytes };
}

/** Encrypts `secret` (JSON). A fresh random IV each time, from the runtime's generator. */
export function seal(secret: object, kek: KeyEncryptionKey): Promise<string> {
  return new CompactEncrypt(utf8(JSON.stringify(secret)))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: kek.kid })
    .encrypt(kek.bytes);
}

/** What `seal` encrypted. Refusals and their cause never hold anything of the content. */
export async function open(
  sealed: string,
  kek: KeyEncryptionKey,
): Promise<Result<unknown, SealRefusal>> {
  if (sealed.length > SEALED_CHARS_MAX) return refuse("not-sealed");
  try {
    const header = decodeProtectedHeader(sealed);
    if (header.alg !== "dir" || header.enc !== "A256GCM") return refuse("not-sealed");
    if (header.kid !== kek.kid) return refuse("other-kek");
  } catch {
    return refuse("not-sealed");
  }
  try {
    const { plaintext } = await compactDecrypt(sealed, kek.bytes, {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"],
    });
    return ok(JSON.parse(utf8Text(plaintext) ?? "") as unknown);
  } catch {
    return refuse("cannot-open");
  }
}
