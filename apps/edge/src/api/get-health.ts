/** `GET /_vestibule/health`: 200 when this location can admit somebody, 503 and why when it cannot. */
import type { Visit } from "../visit.ts";

export function getHealth({ edge, now }: Visit): Response {
  const { keyIds, keysAgeMs, manifestSeq, drips } = edge.feed.health(now);
  const { joinLimit, claimLimit, counters, version = null } = edge.bindings;
  const reasons = [
    ...(edge.verifies ? [] : ["this runtime cannot verify Ed25519"]),
    ...(keyIds.length > 0 ? [] : ["no keys are known"]),
    ...(manifestSeq === null ? ["no manifest was ever seen"] : []),
    ...(edge.feed.clock.isWrong ? ["the clock is surely further off than the tolerance"] : []),
  ];
  const body = {
    status: reasons.length === 0 ? "ok" : "unhealthy",
    reasons,
    location: edge.config.location,
    version,
    now,
    clock: edge.feed.clock.health(),
    keys: { ids: keyIds, ageMs: keysAgeMs },
    manifest: { seq: manifestSeq },
    drips,
    // Without their addresses, in the order of the configuration.
    circuits: { mints: edge.mint.circuits(now), purchases: edge.purchaseCircuit.state(now) },
    bindings: {
      joinLimit: joinLimit !== undefined,
      claimLimit: claimLimit !== undefined,
      counters: counters !== undefined,
    },
    exempted: edge.exempted.all(),
    counts: edge.seen.totals(),
    trustsClientAddress: edge.config.trustsClientAddress,
  };
  return new Response(JSON.stringify(body), {
    status: reasons.length === 0 ? 200 : 503,
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
  });
}
