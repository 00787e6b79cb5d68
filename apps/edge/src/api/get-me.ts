/** `GET …/me`: this visitor's place, verified here, without a mint. */
import type { EdgePlace } from "@vestibule/contracts/line-api";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { readCredentials } from "../admission/credentials.ts";
import { readOrder, usableCredit } from "../admission/order.ts";
import { mayBeOver, turnOf } from "../admission/tickets.ts";
import type { Visit } from "../visit.ts";
import { personal } from "./answers.ts";
import { noTicket } from "./post-admission.ts";

export async function getMe(visit: Visit, event: ManifestEvent): Promise<Response> {
  const { edge, now } = visit;
  const scope = { event: event.event, https: visit.address.https };
  const credentials = readCredentials(visit.head, scope);
  const place = await edge.tickets.check(credentials, event, now);
  if (place === undefined) return noTicket(event);
  await edge.feed.whenKnown(`drip:${event.event}`, now);
  const turn = turnOf(place.number, edge.feed.drip(event.event), event);
  const { number } = place;
  const isOver = turn.kind !== "unknown" && mayBeOver(turn, now, 0);
  const order = readOrder(visit, event.event, number);
  const hasCredit =
    isOver && usableCredit(visit, { event: event.event, credentials, number }) !== undefined;
  const admitted =
    credentials.admission === undefined
      ? undefined
      : (await edge.admissions.check(credentials, event, now)).kind === "admitted";
  const more = {
    ...(admitted === undefined ? {} : { admitted }),
    ...(hasCredit ? { credit: true as const } : {}),
    ...(order === undefined ? {} : { order }),
  };
  if (turn.kind !== "committed") return personal({ number, ...more } satisfies EdgePlace, 200);
  const { opensAt, closesAt, claimBy } = turn;
  return personal({ number, opensAt, closesAt, claimBy, ...more } satisfies EdgePlace, 200);
}
