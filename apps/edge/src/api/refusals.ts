/** What the mint said no to, in the edge's words. */
import { AWAY_RETRY_SECONDS } from "../limits.ts";
import type { MintRefusal } from "../mint-client.ts";
import { problem } from "../problem.ts";
import type { Visit } from "../visit.ts";

/** Members of a mint's problem document that a visitor may see. */
const PUBLIC_MEMBERS = ["opensAt", "closesAt", "claimBy", "joinableAt", "endsAt"];

/** Every mint is away: come back, but not all in the same second. */
export function mintAway(visit: Visit): Response {
  return problem("unavailable", {
    detail: "Nobody can join or enter at the moment. Places in line are kept.",
    retryAfterSeconds: spreadSeconds(visit),
  });
}

/** Our own clock is surely wrong. */
export function clockWrong(visit: Visit, headers: Readonly<Record<string, string>> = {}): Response {
  return problem("clock-wrong", {
    detail: "Nobody can enter here until it is right again. Places in line are kept.",
    retryAfterSeconds: spreadSeconds(visit),
    extensions: { reason: "clock" },
    headers,
  });
}

/** `Retry-After` in seconds, so that not all come back in the same one. */
export function spreadSeconds(
  { edge }: Visit,
  { min, max }: { min: number; max: number } = AWAY_RETRY_SECONDS,
): number {
  const [byte = 0] = edge.randomness.bytes(1);
  return min + (byte % (max - min + 1));
}

export function mintRefusal(visit: Visit, reply: MintRefusal): Response {
  const { code, body, retryAfterSeconds } = reply;
  if (code === "unavailable") return mintAway(visit);
  const extensions = Object.fromEntries(
    PUBLIC_MEMBERS.filter((name) => typeof body[name] === "number").map((name) => [
      name,
      body[name],
    ]),
  );
  // Of a claim with a credit: it has done what it can.
  const creditUsed = body["creditUsed"] === true ? { creditUsed: true } : {};
  return problem(code, {
    extensions: { ...extensions, ...creditUsed },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  });
}
