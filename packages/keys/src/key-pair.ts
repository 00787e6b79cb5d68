import { importPrivateJwk } from "./signing-key.ts";
import type { PublicJwk } from "./public-key.ts";
import { subtle } from "./webcrypto.ts";

/** A private Ed25519 JWK (RFC 8037), in the open: only for whoever puts it into a secret store at once. */
export interface PrivateJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
  readonly d: string;
  /** RFC 7638 thumbprint of the public half. */
  readonly kid: string;
}

/** A fresh key pair for a service that is given its key as a secret. The mint's own keys never leave it so. */
export async function generateKeyPair(): Promise<{
  readonly privateJwk: PrivateJwk;
  readonly publicJwk: PublicJwk;
}> {
  const pair = await subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const { d, x } = (await subtle.exportKey("jwk", pair.privateKey)) as { d: string; x: string };
  const imported = await importPrivateJwk({ kty: "OKP", crv: "Ed25519", x, d });
  if (!imported.ok) throw new Error(`the runtime made a key that is refused: ${imported.refusal}`);
  const { publicJwk } = imported.value;
  return { privateJwk: { kty: "OKP", crv: "Ed25519", x, d, kid: publicJwk.kid }, publicJwk };
}
