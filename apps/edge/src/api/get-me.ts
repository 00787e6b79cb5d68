/** `GET …/me`: this visitor's place, verified here, without a mint. */
import type { EdgePlace } from "@vestibule/contracts/line-api";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { readCredentials } from "../admission/credentials.ts";
import { turnOf } from "../admission/tickets.ts";
import type { Visit } from "../visit.ts";
import { personal } from "./answers.ts";
import { noTicket } from "./post-admission.ts";

export async function getMe(visit: Visit, event: ManifestEvent): Promise<Response> {
  const { edge, now } = visit;
  const credentials = readCredentials(visit.head, {
    event: event.event,
    https: visit.address.https,
  });
  const place = await edge.tickets.check(credentials, event, now);
  if (place === undefined) return noTicket(event);
  await edge.feed.whenKnown(`drip:${event.event}`, now);
  const turn = turnOf(place.number, edge.feed.drip(event.event), event);
  const { number } = place;
  if (turn.kind !== "committed") return personal({ number } satisfies EdgePlace, 200);
  const { opensAt, closesAt, claimBy } = turn;
  return personal({ number, opensAt, closesAt, claimBy } satisfies EdgePlace, 200);
}
