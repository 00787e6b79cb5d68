/** `POST …/admissions`: claim. The ticket is verified here, and whoever is not committed is answered here. */
import { isTokenShaped } from "@vestibule/contracts/header-text";
import { EDGE_PREFIX } from "@vestibule/contracts/names";
import type { ConfirmPresence, EdgeClaimAnswer } from "@vestibule/contracts/line-api";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { etaRange } from "@vestibule/drip/estimate";
import { readCredentials } from "../admission/credentials.ts";
import { readOrder, usableCredit } from "../admission/order.ts";
import { type Place, type Turn, asksPresence, mayBeOver, turnOf } from "../admission/tickets.ts";
import { clearCookie } from "../cookies.ts";
import { dripView } from "../drip-poll.ts";
import { limitPlace } from "../friction/limit.ts";
import { SOLD_OUT_RETRY_SECONDS, WAITING_RETRY_SECONDS } from "../limits.ts";
import type { MintRefusal } from "../mint-client.ts";
import { type HoldingPage, holdingPage } from "../page/holding-page.ts";
import { problem } from "../problem.ts";
import type { Visit } from "../visit.ts";
import { handOver, personal, refuseCrossSite, seeOther } from "./answers.ts";
import { readClaim } from "./form.ts";
import { mintAway, mintRefusal } from "./refusals.ts";

export async function postAdmission(visit: Visit, event: ManifestEvent): Promise<Response> {
  const { edge, now } = visit;
  const scope = { event: event.event, https: visit.address.https };
  const credentials = readCredentials(visit.head, scope);
  const crossSite = refuseCrossSite(visit, event, credentials);
  if (crossSite !== undefined) return crossSite;
  const form = await readClaim(visit, event);
  if (form instanceof Response) return form;
  const { returnPath, confirmed } = form;
  const answer = await claim();
  if (returnPath === undefined) return answer;
  const { status } = answer;
  const isHeld = edge.feed.drip(event.event)?.claims.heldSince !== undefined;
  const told = isHeld ? undefined : TOLD[status];
  // What the page at the return path knows by itself is said there, once.
  const page =
    told === undefined
      ? seeOther(returnPath)
      : await holdingPage(visit, { event, credentials, status, returnPath, ...told });
  for (const cookie of answer.headers.getSetCookie()) page.headers.append("Set-Cookie", cookie);
  const retryAfter = answer.headers.get("retry-after");
  if (told !== undefined && retryAfter !== null) page.headers.set("Retry-After", retryAfter);
  return page;

  async function claim(): Promise<Response> {
    const place = await edge.tickets.check(credentials, event, now);
    if (place === undefined) return noTicket(event);
    await edge.feed.whenKnown(`drip:${event.event}`, now);
    const { number } = place;
    const shown = usableCredit(visit, { event: event.event, credentials, number });
    const drip = edge.feed.drip(event.event);
    const turn = turnOf(place.number, drip, event);
    const credit = mayBeOver(turn, now, edge.config.skewSeconds * 1000) ? shown : undefined;
    const refusal = refuseHere(visit, event, { place, turn, credit, confirmed });
    const order = readOrder(visit, event.event, number);
    // Whoever has bought in it is told where the order is.
    const isOver = problem("slot-over", order === undefined ? {} : { extensions: { order } });
    if (refusal !== undefined) return refusal.status === isOver.status ? isOver : refusal;
    const limited = await limitPlace(visit, event, number);
    if (limited !== undefined) return limited;
    const { visitor, ticket } = place;
    const body = {
      ...{ visitor, ticket },
      ...(credit === undefined ? {} : { credit }),
      // To a mint that asks for it, or may: one that knows nothing of it would refuse the member.
      ...(confirmed && (drip === undefined || asksPresence(drip)) ? { confirmed } : {}),
    };
    const question = { event: event.event, what: "admissions", body, read: readAdmission } as const;
    const reply = await edge.mint.post(question, visit);
    if (reply.kind === "away") return mintAway(visit);
    if (reply.kind === "refused") {
      const answer = reply.code === "slot-over" ? isOver : mintRefusal(visit, reply);
      if (credit !== undefined && !credentials.tokenMode && isSpent(reply)) {
        answer.headers.append("Set-Cookie", clearCookie("credit", scope));
      }
      return answer;
    }
    const { opensAt, closesAt, admission } = reply.grant;
    edge.seen.counts.claimed += 1;
    const { tokenMode } = credentials;
    const told: EdgeClaimAnswer = { opensAt, closesAt, ...(tokenMode ? { admission } : {}) };
    const until = closesAt + edge.config.skewSeconds * 1000;
    const tokens = [{ kind: "admission" as const, value: admission, until }];
    return handOver(personal(told, 201), tokens, { visit, event, tokenMode });
  }
}

interface Admission {
  /** Epoch milliseconds. */
  readonly opensAt: number;
  readonly closesAt: number;
  readonly admission: string;
}

function readAdmission(members: Readonly<Record<string, unknown>>): Admission | undefined {
  const { opensAt, closesAt, admission } = members;
  if (typeof opensAt !== "number" || typeof closesAt !== "number") return undefined;
  return isTokenShaped(admission) ? { opensAt, closesAt, admission } : undefined;
}

/** What somebody without JavaScript could not hear otherwise: the statement says nothing of a number it has passed. */
const TOLD: Readonly<
  Record<number, Pick<HoldingPage, "condition" | "missed" | "owed"> | undefined>
> = {
  410: { missed: true },
  425: { owed: true },
  503: { condition: "unreachable" },
};

/** The credit is used, or was refused for good. */
function isSpent({ code, body }: MintRefusal): boolean {
  return code === "slot-over" || (code === "too-early" && body["creditUsed"] === true);
}

/** 403: nobody's place was shown. Joining is the way forward. */
export function noTicket(event: ManifestEvent): Response {
  return problem("forbidden", {
    detail: "No valid ticket of this visitor came with the request. Join the line first.",
    extensions: { reason: "no-ticket", join: `${EDGE_PREFIX}/events/${event.event}/tickets` },
  });
}

interface Claim {
  readonly place: Place;
  readonly turn: Turn;
  readonly credit: string | undefined;
  readonly confirmed: boolean;
}

/** Whoever cannot be granted anything now is answered without a mint (law 11, MH-06). */
function refuseHere(
  { edge, now }: Visit,
  event: ManifestEvent,
  { place, turn, credit, confirmed }: Claim,
): Response | undefined {
  const drip = edge.feed.drip(event.event);
  if (drip?.claims.state === "ended") return problem("event-ended");
  if (turn.kind === "held") {
    const detail = "The sale is paused. Your place is kept.";
    return problem("held", { detail, retryAfterSeconds: WAITING_RETRY_SECONDS });
  }
  const isOver = turn.kind === "committed" && mayBeOver(turn, now, -edge.config.skewSeconds * 1000);
  if (isOver && credit === undefined) return problem("slot-over");
  if (turn.kind === "committed" && !confirmed && asksPresence(drip) && now <= turn.claimBy) {
    const { opensAt, closesAt, claimBy } = turn;
    const extensions: ConfirmPresence = { opensAt, closesAt, claimBy };
    const detail = "Send this again with `confirmed: true` when the fan has said they are there.";
    return problem("confirm-presence", { detail, extensions: { ...extensions } });
  }
  if (turn.kind !== "waiting" || drip === undefined) return undefined;
  if (drip.claims.state === "soldout") {
    const detail = "The sale is sold out. Your place is kept, in case something comes back.";
    return problem("sold-out", { detail, retryAfterSeconds: SOLD_OUT_RETRY_SECONDS });
  }
  const eta = etaRange(place.number, dripView(event.event, drip), now);
  const waitMs = eta === undefined ? WAITING_RETRY_SECONDS * 1000 : eta.fromMs / 2;
  const retryAfterSeconds = Math.min(60, Math.max(2, waitMs / 1000));
  return problem("too-early", { retryAfterSeconds });
}
