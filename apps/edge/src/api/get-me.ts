/** `GET …/me`: this visitor's place, verified here, without a mint. */
import { type PageState, viewOf } from "@vestibule/client/view";
import type { EdgePlace } from "@vestibule/contracts/line-api";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { readCredentials } from "../admission/credentials.ts";
import { readOrder, usableCredit } from "../admission/order.ts";
import { asksPresence, isClaimed, mayBeOver, turnOf } from "../admission/tickets.ts";
import { dripView } from "../drip-poll.ts";
import type { Visit } from "../visit.ts";
import { personal } from "./answers.ts";
import { noTicket } from "./post-admission.ts";

/** In these somebody waits for a turn that is not set. */
const WAITS: ReadonlySet<PageState> = new Set(["waiting", "near", "paused"]);

export async function getMe(visit: Visit, event: ManifestEvent): Promise<Response> {
  const { edge, now } = visit;
  const scope = { event: event.event, https: visit.address.https };
  const credentials = readCredentials(visit.head, scope);
  const place = await edge.tickets.check(credentials, event, now);
  if (place === undefined) return noTicket(event);
  await edge.feed.whenKnown(`drip:${event.event}`, now);
  const drip = edge.feed.drip(event.event);
  const turn = turnOf(place.number, drip, event);
  const { number } = place;
  const isOver = turn.kind !== "unknown" && mayBeOver(turn, now, 0);
  const order = readOrder(visit, event.event, number);
  const hasCredit =
    isOver && usableCredit(visit, { event: event.event, credentials, number }) !== undefined;
  const check =
    credentials.admission === undefined
      ? undefined
      : await edge.admissions.check(credentials, event, now);
  const admitted = turn.kind === "committed" && isClaimed(check, turn);
  const view = viewOf({
    ...{ settings: event, now, number, order, credit: hasCredit },
    drip: drip === undefined ? undefined : dripView(event.event, drip),
    claimed: admitted ? turn : undefined,
    condition: edge.feed.clock.isWrong ? "clock" : undefined,
  });
  const { state, ahead, eta } = view;
  const more = {
    state,
    ...(WAITS.has(state) && ahead !== undefined ? { ahead } : {}),
    ...(WAITS.has(state) && eta !== undefined ? { wait: eta } : {}),
    ...(check === undefined ? {} : { admitted: check.kind === "admitted" }),
    ...(hasCredit ? { credit: true as const } : {}),
    ...(order === undefined ? {} : { order }),
  };
  if (turn.kind !== "committed") return personal({ number, ...more } satisfies EdgePlace, 200);
  const { opensAt, closesAt, claimBy } = turn;
  const isAsked = asksPresence(drip) && now <= claimBy && !admitted;
  const times = { opensAt, closesAt, claimBy, ...(isAsked ? { confirm: true as const } : {}) };
  return personal({ number, ...times, ...more } satisfies EdgePlace, 200);
}
