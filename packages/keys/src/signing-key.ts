import { type Result, ok, refuse } from "@vestibule/kernel/result";

import {
  type PointRefusal,
  type PublicJwk,
  SIGNING_NAME_DEFAULT,
  type SigningName,
  decodePublicKey,
  isSigningName,
  keyIdOf,
} from "./public-key.ts";
import type { SealRefusal } from "./seal.ts";
import { utf8 } from "./text.ts";
import type { KeyVault } from "./vault.ts";
import { type CryptoKey, subtle } from "./webcrypto.ts";

/** A private key in memory: `key` is not extractable. */
export interface SigningKey {
  readonly kid: string;
  /** What its signatures' headers say. */
  readonly alg: SigningName;
  readonly key: CryptoKey;
}

/** Why a stored private key is not used. Nothing of the key is in it. */
export type SigningKeyRefusal =
  | SealRefusal
  | PointRefusal
  | "not-a-private-key"
  | "wrong-kid"
  | "mismatched-pair";

export interface NewSigningKey {
  readonly signingKey: SigningKey;
  readonly publicJwk: PublicJwk;
  /** JWE for the key store. */
  readonly sealed: string;
}

/** A fresh key pair. The private half leaves this function only sealed, or as a non-extractable key. */
export async function generateSigningKey(
  vault: KeyVault,
  alg: SigningName = SIGNING_NAME_DEFAULT,
): Promise<NewSigningKey> {
  const pair = await subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const { d, x } = (await subtle.exportKey("jwk", pair.privateKey)) as { d: string; x: string };
  const jwk = { kty: "OKP", crv: "Ed25519", alg, x, d };
  const imported = await importPrivateJwk(jwk);
  if (!imported.ok) throw new Error(`the runtime made a key that is refused: ${imported.refusal}`);
  const sealed = await vault.seal(jwk);
  return { ...imported.value, sealed };
}

/** Opens a stored private key. `kid`: the key that the store says it is. */
export async function openSigningKey(
  sealed: string,
  { vault, kid }: { readonly vault: KeyVault; readonly kid: string },
): Promise<Result<{ signingKey: SigningKey; publicJwk: PublicJwk }, SigningKeyRefusal>> {
  const opened = await vault.open(sealed);
  if (!opened.ok) return opened;
  const imported = await importPrivateJwk(opened.value);
  if (imported.ok && imported.value.signingKey.kid !== kid) return refuse("wrong-kid");
  return imported;
}

/**
 * A private Ed25519 JWK (RFC 8037), imported non-extractable. Without an `alg` it has the default name. The halves are
 * tried together: signing with a public half that is not its own would give the private one away.
 */
export async function importPrivateJwk(
  jwk: unknown,
): Promise<Result<{ signingKey: SigningKey; publicJwk: PublicJwk }, SigningKeyRefusal>> {
  const {
    kty,
    crv,
    x,
    d,
    alg = SIGNING_NAME_DEFAULT,
  } = (jwk ?? {}) as Readonly<Record<string, unknown>>;
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string" || typeof d !== "string")
    return refuse("not-a-private-key");
  if (!isSigningName(alg)) return refuse("not-a-private-key");
  const bytes = decodePublicKey(x);
  if (!bytes.ok) return bytes;
  const kid = await keyIdOf(bytes.value);
  try {
    const members = { kty, crv, x, d };
    const key = await subtle.importKey("jwk", members, "Ed25519", false, ["sign"]);
    const publicKey = await subtle.importKey("raw", bytes.value, "Ed25519", true, ["verify"]);
    const probe = utf8("vestibule/key-pair-check");
    const signature = new Uint8Array(await subtle.sign("Ed25519", key, probe));
    if (!(await subtle.verify("Ed25519", publicKey, signature, probe)))
      return refuse("mismatched-pair");
    const publicJwk: PublicJwk = { kty: "OKP", crv: "Ed25519", x, kid, alg, use: "sig" };
    return ok({ signingKey: { kid, alg, key }, publicJwk });
  } catch {
    return refuse("not-a-private-key");
  }
}
