import { parseJwks } from "@vestibule/keys/key-set";
import { epochMs } from "@vestibule/kernel/units";
import { verifyTicket } from "@vestibule/token/verify-ticket";

import { ask } from "../http.ts";
import type { Sample } from "../load/messages.ts";
import { EVENT, ISSUER, type MintCandidate } from "../mint-candidate.ts";

/** Verifies as the edge does, with the keys that the mint publishes. The returned function throws for a bad ticket. */
export async function ticketVerifier(
  mint: MintCandidate,
): Promise<(sample: Sample) => Promise<void>> {
  const published = await ask(mint.port, { path: "/.well-known/jwks.json" });
  const keys = await parseJwks(JSON.parse(published.body) as unknown);
  if (!keys.ok) throw new Error("the mint publishes no good key set");
  return async ({ visitor, ticket }) => {
    const result = await verifyTicket(ticket, {
      keys: keys.value,
      issuer: ISSUER,
      event: EVENT,
      visitor,
      now: epochMs(Date.now()),
      skewSeconds: 5,
    });
    if (!result.ok)
      throw new Error(`the mint signed a bad ticket: ${JSON.stringify(result.refusal)}`);
  };
}
