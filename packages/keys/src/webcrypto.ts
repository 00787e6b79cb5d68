/**
 * The part of Web Crypto that Vestibule uses, as types of our own: a pure package sees neither the
 * DOM's nor Node's declarations, and a value of theirs is assignable to these.
 */

/** A key held by the runtime. Structurally the platform's `CryptoKey`. */
export interface CryptoKey {
  readonly algorithm: { readonly name: string };
  readonly extractable: boolean;
  readonly type: "private" | "public" | "secret";
  readonly usages: CryptoKeyUsage[];
}

type CryptoKeyUsage =
  | "decrypt"
  | "deriveBits"
  | "deriveKey"
  | "encrypt"
  | "sign"
  | "unwrapKey"
  | "verify"
  | "wrapKey"
  | "encapsulateBits"
  | "encapsulateKey"
  | "decapsulateBits"
  | "decapsulateKey";

export type Bytes = Uint8Array<ArrayBuffer>;

interface Subtle {
  verify(algorithm: "Ed25519", key: CryptoKey, signature: Bytes, data: Bytes): Promise<boolean>;
  sign(algorithm: "Ed25519", key: CryptoKey, data: Bytes): Promise<ArrayBuffer>;
  importKey(
    format: "raw",
    key: Bytes,
    algorithm: "Ed25519",
    extractable: boolean,
    usages: readonly ["verify"],
  ): Promise<CryptoKey>;
  importKey(
    format: "jwk",
    key: object,
    algorithm: "Ed25519",
    extractable: boolean,
    usages: readonly ["sign"],
  ): Promise<CryptoKey>;
  generateKey(
    algorithm: "Ed25519",
    extractable: boolean,
    usages: readonly ["sign", "verify"],
  ): Promise<{ readonly publicKey: CryptoKey; readonly privateKey: CryptoKey }>;
  exportKey(format: "jwk", key: CryptoKey): Promise<unknown>;
}

declare const crypto: { readonly subtle: Subtle };

/** The runtime's `crypto.subtle` (Node, workerd, browsers). */
export const subtle: Subtle = crypto.subtle;
