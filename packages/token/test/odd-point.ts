/** A signature whose point R is written in a way that RFC 8032 forbids: verifiers that decode R before they compare take it. */
import { encodeBase64url } from "@vestibule/keys/base64url";

import { keyOne, privateSeedOne } from "./forge.ts";

/** The order of the group (RFC 8032 section 5.1). */
const ORDER = 2n ** 252n + 27_742_317_777_372_353_535_851_937_790_883_648_493n;
const P = 2n ** 255n - 19n;

/**
 * R is the neutral point, with y = p + 1 instead of 1, and S = h·a, so that S·B = R + h·A holds for
 * whoever reduces y. Signed with the first key's private half.
 */
export async function signedWithOddPoint(input: string): Promise<string> {
  const r = littleEndian(P + 1n);
  const message = new TextEncoder().encode(input);
  const publicKey = fromBase64url(keyOne.publicJwk.x);
  const h = bigintOf(await sha512(r, publicKey, message)) % ORDER;
  const digest = await sha512(fromBase64url(privateSeedOne));
  digest[0] = (digest[0] ?? 0) & 0xf8;
  digest[31] = ((digest[31] ?? 0) & 0x7f) | 0x40;
  const a = bigintOf(digest.subarray(0, 32));
  return `${input}.${encodeBase64url(new Uint8Array([...r, ...littleEndian((h * a) % ORDER)]))}`;
}

async function sha512(...parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const all = new Uint8Array(parts.flatMap((part) => [...part]));
  return new Uint8Array(await crypto.subtle.digest("SHA-512", all));
}

function bigintOf(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 255n));
}

function fromBase64url(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) =>
    char.charCodeAt(0),
  );
}
