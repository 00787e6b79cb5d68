/** Tokens made of everything that one location holds: public keys, and admissions that it has seen. */
import { createHmac, generateKeyPairSync, sign } from "node:crypto";

import type { Pass } from "./app.ts";
import { claimsOf, headerOf } from "./token-parts.ts";

interface Jwk {
  readonly kid: string;
  readonly x: string;
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Each by what is wrong with it; all with the good visitor's secret. */
export function forgeries({ admission, visitor }: Pass, jwks: string): Map<string, Pass> {
  const [head = "", body = "", signature = ""] = admission.split(".");
  const header = headerOf(admission);
  const claims = claimsOf(admission);
  const key = (JSON.parse(jwks) as { keys: Jwk[] }).keys.find(({ kid }) => kid === header["kid"]);
  if (key === undefined) throw new Error("the token's key is not in the set");
  const own = generateKeyPairSync("ed25519");
  const ownJwk = own.publicKey.export({ format: "jwk" });
  const longer = { ...claims, exp: Number(claims["exp"]) + 3_600 };

  const signed = (changed: object, payload: object = claims): string => {
    const input = `${encode({ ...header, ...changed })}.${encode(payload)}`;
    return `${input}.${sign(null, Buffer.from(input), own.privateKey).toString("base64url")}`;
  };
  const hmac = (secret: Buffer | string): string => {
    const input = `${encode({ ...header, alg: "HS256" })}.${encode(longer)}`;
    return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
  };
  const unsigned = (alg: string): string => `${encode({ ...header, alg })}.${encode(longer)}.`;
  const tokens: Record<string, string> = {
    "own key under the mint's kid": signed({}),
    "own key, longer life": signed({}, longer),
    "own key with an embedded jwk": signed({ jwk: ownJwk }),
    "own key with a jku": signed({ jku: "https://keys.example/jwks.json" }),
    "own key under a kid of its own": signed({ kid: "A".repeat(43) }),
    "own key without a kid": signed({ kid: undefined }),
    "HMAC with the public key's bytes": hmac(Buffer.from(key.x, "base64url")),
    "HMAC with the public key's text": hmac(key.x),
    "HMAC with the whole key set": hmac(jwks),
    "alg none": unsigned("none"),
    "alg nOnE": unsigned("nOnE"),
    "the good signature over other claims": `${head}.${encode(longer)}.${signature}`,
    "the good signature under another header": `${encode({ ...header, alg: "EdDSA", crit: ["exp"] })}.${body}.${signature}`,
    "a signature of zeros": `${head}.${body}.${"A".repeat(86)}`,
    "no signature": `${head}.${body}.`,
  };
  return new Map(
    Object.entries(tokens).map(([name, text]) => [name, { admission: text, visitor }]),
  );
}
