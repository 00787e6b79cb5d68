/** What anybody can read of a compact JWS. Nothing is verified. */

type Members = Record<string, unknown>;

export function headerOf(token: string): Members {
  return partOf(token, 0);
}

export function claimsOf(token: string): Members {
  return partOf(token, 1);
}

function partOf(token: string, index: number): Members {
  return JSON.parse(Buffer.from(token.split(".")[index] ?? "", "base64url").toString()) as Members;
}
