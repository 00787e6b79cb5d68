/** What a client can read of its tokens, and what a thief can make of one. */
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";

export interface TokenClaims {
  readonly n: number;
  readonly sub: string;
  readonly jti?: string;
}

/** The claims of a compact JWS, not verified. */
export function claimsOf(token: string): unknown {
  return partOf(token, 1);
}

/** The key that it says it is signed with. */
export function kidOf(token: string): string {
  return (partOf(token, 0) as { kid: string }).kid;
}

function partOf(token: string, index: number): unknown {
  return JSON.parse(Buffer.from(token.split(".")[index] ?? "", "base64url").toString());
}

/** The same with one character of its claims or of its signature changed. */
export function forged(token: string, random: SeededRandomness): string {
  const from = token.indexOf(".") + 1;
  // The last character of a signature has spare bits.
  const at = random.integer({ min: from, max: token.length - 2 });
  if (token[at] === ".") return `${token}.`;
  return token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
}
