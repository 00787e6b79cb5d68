/**
 * Compact JWS (RFC 7515), verified with keys and algorithm of our own choosing. The core of every verifier;
 * claims are looked at by the callers, only after the signature held.
 */
import { decodeBase64url } from "@vestibule/keys/base64url";
import type { KeySet } from "@vestibule/keys/key-set";
import type { KeyUse } from "@vestibule/keys/public-key";
import { utf8, utf8Text } from "@vestibule/keys/text";
import { subtle } from "@vestibule/keys/webcrypto";
import { type Result, ok, refuse } from "@vestibule/kernel/result";
import type { EpochMs, EpochSeconds } from "@vestibule/kernel/units";

import type { TokenRefusal } from "./refusal.ts";
import {
  ADMISSION_TYP,
  CREDIT_TYP,
  DRIP_TYP,
  MANIFEST_TYP,
  SERVICE_TYP,
  TICKET_TYP,
  TIME_TYP,
  type TokenTyp,
} from "./types.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Claims to take out of a payload by name; each may be anything, or missing. */
export type Claims<Name extends string> = Readonly<Record<Name, unknown>>;

export interface VerifiedJws {
  readonly kid: string;
  /** The key's own end, as its set states it. */
  readonly until: EpochSeconds | undefined;
  readonly claims: JsonObject;
}

/** Ed25519: RFC 8032 section 5.1.6. */
const SIGNATURE_BYTES = 64;
const SIGNATURE_CHARS = 86;

/** The use that a key must have where its set names one. Credits are of the purchase API's own keys. */
const USE_OF: Readonly<Record<TokenTyp, KeyUse | undefined>> = {
  [ADMISSION_TYP]: "admission",
  [TICKET_TYP]: "line",
  [DRIP_TYP]: "line",
  [MANIFEST_TYP]: "line",
  [TIME_TYP]: "line",
  [SERVICE_TYP]: "line",
  [CREDIT_TYP]: undefined,
};

/** Header members that bring a key of their own, or ask for rules of their own (RFC 7515 section 4.1, RFC 7797). */
const FORBIDDEN = ["jwk", "jku", "x5u", "x5c", "x5t", "x5t#S256", "crit", "b64"] as const;

/**
 * Verifies `text`. Never throws, whatever the text: cheap checks of its structure come first, then the
 * signature, then the payload is read.
 *
 * @param options.now `undefined`: by a clock that may be wrong; whether the key is over is the caller's to see.
 * @param options.charsMax longer texts are refused before anything is parsed.
 */
export async function verifyJws(
  text: string,
  options: {
    readonly keys: KeySet;
    readonly typ: TokenTyp;
    readonly now: EpochMs | undefined;
    readonly charsMax: number;
  },
): Promise<Result<VerifiedJws, TokenRefusal>> {
  if (text.length > options.charsMax) return refuse({ reason: "malformed" });
  const headerEnd = text.indexOf(".");
  const payloadEnd = text.indexOf(".", headerEnd + 1);
  if (headerEnd < 1 || payloadEnd < 0) return refuse({ reason: "malformed" });
  if (text.length - payloadEnd - 1 !== SIGNATURE_CHARS) return refuse({ reason: "malformed" });

  const header = readObject(text.slice(0, headerEnd));
  if (header === undefined) return refuse({ reason: "malformed" });
  const kid = readHeader(header, options.typ);
  if (!kid.ok) return kid;
  const key = options.keys.get(kid.value);
  if (key === undefined) return refuse({ reason: "unknown-key" });
  const { until } = key;
  if (until !== undefined && options.now !== undefined && options.now >= until * 1000)
    return refuse({ reason: "key-over" });
  // ADR 9: a key that leaks gives away what it is for, and nothing else.
  if (key.use !== undefined && key.use !== USE_OF[options.typ])
    return refuse({ reason: "wrong-type" });

  const signature = decodeBase64url(text.slice(payloadEnd + 1));
  if (signature?.length !== SIGNATURE_BYTES) return refuse({ reason: "malformed" });
  let genuine: boolean;
  try {
    genuine = await subtle.verify("Ed25519", key.key, signature, utf8(text.slice(0, payloadEnd)));
  } catch {
    return refuse({ reason: "cannot-verify" });
  }
  if (!genuine) return refuse({ reason: "bad-signature" });
  const claims = readObject(text.slice(headerEnd + 1, payloadEnd));
  if (claims === undefined) return refuse({ reason: "malformed" });
  return ok({ kid: key.kid, until, claims });
}

function readHeader(header: JsonObject, typ: TokenTyp): Result<string, TokenRefusal> {
  for (const name of FORBIDDEN) {
    if (Object.hasOwn(header, name)) return refuse({ reason: "forbidden-header" });
  }
  // RFC 9864 and RFC 8037: two registered names of one algorithm. Names are case-sensitive (RFC 7515 section 4.1.1).
  if (header["alg"] !== "Ed25519" && header["alg"] !== "EdDSA")
    return refuse({ reason: "wrong-algorithm" });
  if (header["typ"] !== typ) return refuse({ reason: "wrong-type" });
  const kid = header["kid"];
  return typeof kid === "string" ? ok(kid) : refuse({ reason: "unknown-key" });
}

function readObject(part: string): JsonObject | undefined {
  const bytes = decodeBase64url(part);
  const json = bytes === undefined ? undefined : utf8Text(bytes);
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}
