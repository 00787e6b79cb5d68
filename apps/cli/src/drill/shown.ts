/** What a fan of the drill shows, read without being verified: who verifies it is what the drill is about. */
import { partOf } from "../token-part.ts";

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
