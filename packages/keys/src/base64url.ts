/**
 * base64url (RFC 4648 section 5) that accepts exactly one text for each sequence of bytes: no
 * padding, no whitespace, no other alphabet, spare bits 0. The platform's decoders and jose's are
 * lenient about the spare bits of the last character.
 */
import type { Bytes } from "./webcrypto.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const NONE = 255;

const VALUE_OF = new Uint8Array(128).fill(NONE);
for (let value = 0; value < ALPHABET.length; value += 1)
  VALUE_OF[ALPHABET.charCodeAt(value)] = value;

/** The bytes of `text`, or undefined when it is not their one canonical spelling. */
export function decodeBase64url(text: string): Bytes | undefined {
  const chars = text.length;
  if (chars % 4 === 1) return undefined;
  const bytes = new Uint8Array((chars * 3) >> 2);
  let written = 0;
  let pending = 0;
  let bits = 0;
  for (let index = 0; index < chars; index += 1) {
    const value = VALUE_OF[text.charCodeAt(index)] ?? NONE;
    if (value === NONE) return undefined;
    pending = ((pending << 6) | value) & 0xfff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[written] = pending >> bits;
      written += 1;
    }
  }
  return (pending & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}

/** The one canonical spelling of `bytes`. */
export function encodeBase64url(bytes: Uint8Array): string {
  let text = "";
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = ((pending << 8) | byte) & 0x3fff;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += ALPHABET.charAt((pending >> bits) & 63);
    }
  }
  return bits === 0 ? text : text + ALPHABET.charAt((pending << (6 - bits)) & 63);
}
