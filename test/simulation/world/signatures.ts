/**
 * Web Crypto as the simulation has it: synchronous, so that one seed is one run. Every other part of signing and
 * verifying is the real code. `real` signatures are Ed25519 by OpenSSL; `fast` ones are a hash that names the key,
 * which keeps a thousand sales within a minute: nobody in the simulation makes forgeries from the inside.
 */
import { createPrivateKey, createPublicKey, hash, sign, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { encodeBase64url } from "@vestibule/keys/base64url";
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { keyIdOf, type KeyUse } from "@vestibule/keys/public-key";
import type { SigningKey } from "@vestibule/keys/signing-key";
import { type CryptoKey, subtle } from "@vestibule/keys/webcrypto";

export type SignatureKind = "real" | "fast";

interface SimulatedKey extends CryptoKey {
  readonly publicBytes: Uint8Array;
  readonly privateKey?: KeyObject;
  readonly publicKey: KeyObject;
}

export interface SimulatedKeys {
  readonly signing: Readonly<Record<KeyUse, SigningKey>>;
  readonly verify: KeySet;
  readonly jwks: string;
}

const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");
const SPKI_HEAD = Buffer.from("302a300506032b6570032100", "hex");

let kind: SignatureKind = "fast";
let isInstalled = false;

/** From now on, everywhere in this thread. */
export function useSignatures(wanted: SignatureKind): void {
  kind = wanted;
}

/** Puts the stand-ins in the place of the runtime's functions, for simulated keys alone. */
function install(): void {
  if (isInstalled) return;
  isInstalled = true;
  const real = { sign: subtle.sign.bind(subtle), verify: subtle.verify.bind(subtle) };
  const replace = (name: string, value: unknown): void => {
    Object.defineProperty(subtle, name, { value, configurable: true, writable: true });
  };
  replace("sign", (algorithm: "Ed25519", key: CryptoKey, data: Uint8Array<ArrayBuffer>) =>
    isSimulated(key) ? Promise.resolve(signBy(key, data)) : real.sign(algorithm, key, data),
  );
  replace(
    "verify",
    (
      algorithm: "Ed25519",
      ...[key, signature, data]: [CryptoKey, Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>]
    ) =>
      isSimulated(key)
        ? Promise.resolve(isSignedBy(key, signature, data))
        : real.verify(algorithm, key, signature, data),
  );
  // What names a key is a digest, which the runtime would make on another thread.
  replace("digest", (_algorithm: string, data: Uint8Array) =>
    Promise.resolve(new Uint8Array(hash("sha256", data, "buffer")).buffer),
  );
  replace("importKey", (_format: string, bytes: Uint8Array) => Promise.resolve(publicOf(bytes)));
}

function isSimulated(key: CryptoKey): key is SimulatedKey {
  return "publicBytes" in key;
}

function publicOf(bytes: Uint8Array): SimulatedKey {
  const der = Buffer.concat([SPKI_HEAD, bytes]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  const algorithm = { name: "Ed25519" };
  return {
    algorithm,
    extractable: false,
    type: "public",
    usages: [],
    publicBytes: bytes,
    publicKey,
  };
}

function signBy({ privateKey, publicBytes }: SimulatedKey, data: Uint8Array): Uint8Array {
  if (privateKey === undefined) throw new Error("a public key does not sign");
  return kind === "real" ? sign(null, data, privateKey) : digestOf(publicBytes, data);
}

function isSignedBy(key: SimulatedKey, signature: Uint8Array, data: Uint8Array): boolean {
  return kind === "real"
    ? verify(null, data, key.publicKey, signature)
    : digestOf(key.publicBytes, data).equals(signature);
}

function digestOf(name: Uint8Array, data: Uint8Array): Buffer {
  return hash("sha512", Buffer.concat([name, data]), "buffer");
}

async function keyOf(seed: number): Promise<{ readonly signing: SigningKey; readonly x: string }> {
  const der = Buffer.concat([PKCS8_HEAD, Buffer.alloc(32, seed)]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  const bytes = new Uint8Array(spki.subarray(SPKI_HEAD.length));
  const key: SimulatedKey = { ...publicOf(bytes), type: "private", privateKey };
  const kid = await keyIdOf(bytes);
  return { signing: { kid, alg: "Ed25519", key }, x: encodeBase64url(bytes) };
}

/** One key for each use, the same in every sale. */
export async function simulatedKeys(): Promise<SimulatedKeys> {
  install();
  const [line, admission] = [await keyOf(1), await keyOf(2)];
  const entry = ({ signing, x }: typeof line, use: KeyUse) => ({
    ...{ kty: "OKP", crv: "Ed25519", x, kid: signing.kid },
    ...{ alg: "Ed25519", use: "sig", vst_use: use },
  });
  const jwks = { seq: 1, keys: [entry(line, "line"), entry(admission, "admission")] };
  const read = await parseJwks(jwks);
  if (!read.ok) throw new Error(`the simulated key set is refused: ${read.refusal.reason}`);
  return {
    signing: { line: line.signing, admission: admission.signing },
    verify: read.value,
    jwks: JSON.stringify(jwks),
  };
}
