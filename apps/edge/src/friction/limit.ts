/**
 * Friction, approximate on purpose (ADR 19): it makes abuse dearer, and decides nothing about anybody's place. So it is open
 * whenever it cannot tell: no binding, no address, a binding that fails or does not answer.
 */
import { parseAddress } from "@vestibule/contracts/network";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { spreadSeconds } from "../api/refusals.ts";
import type { RateLimit } from "../bindings.ts";
import { settledWithin } from "../deadline.system.ts";
import { LIMITER_DEADLINE_MS, LIMITED_RETRY_SECONDS } from "../limits.ts";
import { problem } from "../problem.ts";
import type { Visit } from "../visit.ts";

const WORDS_OF_CUSTOMER = 4;

/** A new place: by event, and the network that asks. */
export function limitJoin(visit: Visit, event: ManifestEvent): Promise<Response | undefined> {
  const network = networkOf(visit.head.client);
  return limited(visit, event, {
    binding: visit.edge.bindings.joinLimit,
    key: network && `${event.event} ${network}`,
    detail: "Too many people on this network are joining at once.",
  });
}

/**
 * Whatever a place asks of a mint: by place, and never by network, for whoever holds one is not to suffer from the
 * neighbours. A claim, or a join that shows a place of which the mint has to judge.
 */
export function limitPlace(
  visit: Visit,
  event: ManifestEvent,
  number: number,
): Promise<Response | undefined> {
  return limited(visit, event, {
    binding: visit.edge.bindings.claimLimit,
    key: `${event.event} ${number}`,
    detail: "Too much is asked for this place.",
  });
}

/** Of one customer: an IPv4 address, or the /64 of an IPv6 address. `undefined`: nobody knows. */
function networkOf(client: string | null): string | undefined {
  const words = client === null ? undefined : parseAddress(client)?.words;
  return words?.slice(0, WORDS_OF_CUSTOMER).join(".");
}

interface Limit {
  readonly binding: RateLimit | undefined;
  readonly key: string | undefined;
  readonly detail: string;
}

async function limited(
  visit: Visit,
  event: ManifestEvent,
  { binding, key, detail }: Limit,
): Promise<Response | undefined> {
  if (binding === undefined || key === undefined || event.friction?.limit === false) {
    return undefined;
  }
  const { seen } = visit.edge;
  try {
    const outcome = await settledWithin(LIMITER_DEADLINE_MS, binding.limit({ key }));
    if (outcome === undefined) seen.tell("limiterFailed", { kind: "limiter", reason: "timeout" });
    if (outcome?.success !== false) return undefined;
  } catch {
    seen.tell("limiterFailed", { kind: "limiter", reason: "failed" });
    return undefined;
  }
  seen.counts.limited += 1;
  const retryAfterSeconds = spreadSeconds(visit, LIMITED_RETRY_SECONDS);
  return problem("too-many-requests", { detail, retryAfterSeconds });
}
