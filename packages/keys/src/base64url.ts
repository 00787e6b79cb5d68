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

/** Two characters at a time: 12 bits. */
const PAIR_OF: readonly string[] = Array.from(
  { length: 4096 },
  (_, bits) => ALPHABET.charAt(bits >> 6) + ALPHABET.charAt(bits & 63),
);

/** The one canonical spelling of `bytes`. */
export function encodeBase64url(bytes: Uint8Array): string {
  const rest = bytes.length % 3;
  const whole = bytes.length - rest;
  let text = "";
  for (let index = 0; index < whole; index += 3) {
    const bits =
      (byteAt(bytes, index) << 16) | (byteAt(bytes, index + 1) << 8) | byteAt(bytes, index + 2);
    text += pairOf(bits >> 12) + pairOf(bits & 4095);
  }
  if (rest === 1) return text + pairOf(byteAt(bytes, whole) << 4);
  if (rest === 0) return text;
  const bits = (byteAt(bytes, whole) << 10) | (byteAt(bytes, whole + 1) << 2);
  return text + pairOf(bits >> 6) + ALPHABET.charAt(bits & 63);
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}

function pairOf(bits: number): string {
  return PAIR_OF[bits] ?? "";
}
