/** What a location knows of the one who asks for the page: their place, and what has become of it. */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { AdmissionCheck } from "../admission/admissions.ts";
import type { Credentials } from "../admission/credentials.ts";
import { readOrder, usableCredit } from "../admission/order.ts";
import { type Turn, isClaimed, turnOf } from "../admission/tickets.ts";
import { hasLeft } from "../api/leave.ts";
import type { Visit } from "../visit.ts";
import type { PageData } from "./markup.ts";

export type Standing = Pick<
  PageData,
  "number" | "joinedAt" | "credit" | "missed" | "owed" | "order" | "claimed" | "returns" | "gone"
>;

export interface Asker {
  readonly event: ManifestEvent;
  readonly credentials: Credentials;
  readonly check?: AdmissionCheck;
  /** What the mint has said of this place: its turn is over, or the next one is for it. */
  readonly missed?: true;
  readonly owed?: true;
}

/** Shows nothing of ours, in a cookie or a header: has no place here. */
export function isStranger({ head: { cookie, ours } }: Visit): boolean {
  return ours.length === 0 && (cookie === null || !cookie.includes("vst-"));
}

/** @param isFault nobody goes in here, by a fault of ours */
export async function readStanding(
  visit: Visit,
  { event, credentials, check, missed, owed }: Asker,
  isFault: boolean,
): Promise<Standing> {
  const { edge, now } = visit;
  const place = await edge.tickets.check(credentials, event, now);
  const number = place?.number;
  const scope = { event: event.event, https: visit.address.https };
  const credit = usableCredit(visit, { event: event.event, credentials, number });
  const turn = turnOf(number ?? 0, edge.feed.drip(event.event), event);
  return {
    ...{ number, missed, owed },
    joinedAt: place === undefined ? undefined : place.issuedAt * 1_000,
    credit: credit === undefined || missed === true || owed === true ? undefined : true,
    gone: number === undefined && hasLeft(visit.head, scope) ? true : undefined,
    order: readOrder(visit, event.event, number),
    claimed: claimedSlot(check, turn),
    // Whoever was let in before goes back there when it is over.
    returns: isFault && credentials.admission !== undefined ? true : undefined,
  };
}

/** The slot whose admission is in hand: nobody need claim it again, nor say again that they are there. */
function claimedSlot(check: AdmissionCheck | undefined, turn: Turn): PageData["claimed"] {
  if (turn.kind !== "committed" || !isClaimed(check, turn)) return undefined;
  return { opensAt: turn.opensAt, closesAt: turn.closesAt };
}
