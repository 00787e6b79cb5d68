/** What a fan of the drill shows, read without being verified: who verifies it is what the drill is about. */
import { decodeBase64url } from "@vestibule/keys/base64url";
import { utf8Text } from "@vestibule/keys/text";

/** One fan's tokens. */
export interface Shown {
  readonly visitor: string;
  readonly ticket: string;
  readonly admission: string;
}

export interface TokenFacts {
  readonly kid: string;
  /** Epoch seconds. */
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
}

export interface Fan extends Shown {
  readonly ticketFacts: TokenFacts;
  readonly admissionFacts: TokenFacts;
}

/** @returns `undefined` for what is no token of ours. */
export function fanOf(shown: Shown): Fan | undefined {
  const ticketFacts = factsOf(shown.ticket);
  const admissionFacts = factsOf(shown.admission);
  if (ticketFacts === undefined || admissionFacts === undefined) return undefined;
  return { ...shown, ticketFacts, admissionFacts };
}

function factsOf(token: string): TokenFacts | undefined {
  const { kid } = partOf(token, 0);
  const { iat, exp, nbf = iat } = partOf(token, 1);
  const isWhole = [iat, nbf, exp].every((value) => Number.isSafeInteger(value));
  if (typeof kid !== "string" || !isWhole) return undefined;
  return { kid, iat: Number(iat), nbf: Number(nbf), exp: Number(exp) };
}

/** Header (0) or claims (1) of a compact JWS; `{}` when they cannot be read. */
export function partOf(token: string, part: 0 | 1): Readonly<Record<string, unknown>> {
  const bytes = decodeBase64url(token.trim().split(".")[part] ?? "");
  const text = bytes === undefined ? undefined : utf8Text(bytes);
  try {
    const value: unknown = JSON.parse(text ?? "");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
