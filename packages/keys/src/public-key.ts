import { calculateJwkThumbprint } from "jose/jwk/thumbprint";
import { type Result, ok, refuse } from "@vestibule/kernel/result";

import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import type { Bytes } from "./webcrypto.ts";

/**
 * What a key of the mint signs: `line` tickets and statements, `admission` admissions alone (ADR 9). A verifier that
 * knows the use takes nothing else from it.
 */
export type KeyUse = "line" | "admission";
export const KEY_USES: readonly KeyUse[] = ["line", "admission"];

/**
 * The two registered names of the one algorithm: RFC 9864's, and RFC 8037's, which is deprecated by it and the only one
 * that older libraries know. A key has one of them for its life, so that whoever compares a token's name with its
 * key's never sees two.
 */
export type SigningName = "Ed25519" | "EdDSA";
export const SIGNING_NAMES: readonly SigningName[] = ["Ed25519", "EdDSA"];
export const SIGNING_NAME_DEFAULT: SigningName = "Ed25519";

/** A public key as the JWKS publishes it (RFC 7517, RFC 8037). */
export interface PublicJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  /** base64url of the 32 bytes. */
  readonly x: string;
  /** RFC 7638 thumbprint (SHA-256). */
  readonly kid: string;
  readonly alg: SigningName;
  readonly use: "sig";
  /**
   * Whole epoch seconds from which nothing that this key signed is accepted, tolerance included. Set
   * once the key retires, so that a location that cannot reach the mint lets go of it by its own clock.
   */
  readonly exp?: number;
  /** Absent: of no particular use. Whoever does not know this member passes over it (RFC 7517 section 4). */
  readonly vst_use?: KeyUse;
}

export type PointRefusal = "not-32-bytes" | "not-canonical" | "low-order";

const PUBLIC_KEY_BYTES = 32;

/** y-coordinates (little-endian hex, sign bit 0) of the points whose order divides 8. */
const LOW_ORDER_Y: ReadonlySet<string> = new Set([
  "0100000000000000000000000000000000000000000000000000000000000000", // y = 1, order 1
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // y = -1, order 2
  "0000000000000000000000000000000000000000000000000000000000000000", // y = 0, order 4
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", // order 8
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", // order 8
]);

/**
 * The 32 bytes of a public key, from a JWK's `x`. Refused: y >= p (RFC 8032 section 5.1.3 step 1), and every
 * spelling of a point of small order: under such a key one signature fits many messages, and runtimes
 * disagree about it.
 */
export function decodePublicKey(x: unknown): Result<Bytes, PointRefusal> {
  const bytes = typeof x === "string" && x.length <= 64 ? decodeBase64url(x) : undefined;
  if (bytes?.length !== PUBLIC_KEY_BYTES) return refuse("not-32-bytes");
  const y = Uint8Array.from(bytes);
  y[31] = (y[31] ?? 0) & 0x7f;
  const hex = Array.from(y, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (LOW_ORDER_Y.has(hex)) return refuse("low-order");
  // p = 2^255 - 19: y >= p means y is one of p … p+18, that is ed…ff…7f to ff…ff…7f.
  const allOnes = y[31] === 0x7f && y.subarray(1, 31).every((byte) => byte === 0xff);
  if (allOnes && (y[0] ?? 0) >= 0xed) return refuse("not-canonical");
  return ok(bytes);
}

/** The `kid` of a public key: RFC 7638 thumbprint, SHA-256, base64url. */
export function keyIdOf(publicKey: Uint8Array): Promise<string> {
  return calculateJwkThumbprint({ kty: "OKP", crv: "Ed25519", x: encodeBase64url(publicKey) });
}

/** The document that `parseJwks` reads back, for `GET /.well-known/jwks.json`. */
export function jwksDocument(keys: Iterable<PublicJwk>): { readonly keys: readonly PublicJwk[] } {
  return { keys: [...keys] };
}

/** Names are case-sensitive (RFC 7515 section 4.1.1). */
export function isSigningName(value: unknown): value is SigningName {
  return value === "Ed25519" || value === "EdDSA";
}

/** Whether `value` is a use that we know. */
export function isKeyUse(value: unknown): value is KeyUse {
  return value === "line" || value === "admission";
}
