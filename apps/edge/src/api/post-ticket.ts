/** `POST …/tickets`: join. Only a POST ever takes a place (HP-10, QP-04). */
import { isTokenShaped } from "@vestibule/contracts/header-text";
import { VISITOR_BYTES } from "@vestibule/contracts/limits";
import type { EdgeJoinAnswer } from "@vestibule/contracts/line-api";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { type Credentials, readCredentials } from "../admission/credentials.ts";
import { type Place, turnOf } from "../admission/tickets.ts";
import { encodeBase64url } from "@vestibule/keys/base64url";
import { clearCookie } from "../cookies.ts";
import { limitJoin, limitPlace } from "../friction/limit.ts";
import { askProof } from "../friction/proof.ts";
import { COOKIES_OUTLIVE_EVENT_MS, SOLD_OUT_RETRY_SECONDS } from "../limits.ts";
import { holdingPage } from "../page/holding-page.ts";
import { problem } from "../problem.ts";
import type { Visit } from "../visit.ts";
import { type Handover, handOver, personal, refuseCrossSite, seeOther } from "./answers.ts";
import { readForm } from "./form.ts";
import { hasLeft } from "./leave.ts";
import { mintAway, mintRefusal } from "./refusals.ts";

export async function postTicket(visit: Visit, event: ManifestEvent): Promise<Response> {
  const { now, edge } = visit;
  const credentials = readCredentials(visit.head, {
    event: event.event,
    https: visit.address.https,
  });
  const crossSite = refuseCrossSite(visit, event, credentials);
  if (crossSite !== undefined) return crossSite;
  const form = await readForm(visit, event);
  if (form instanceof Response) return form;

  const visitor = credentials.visitor ?? encodeBase64url(edge.randomness.bytes(VISITOR_BYTES));
  const joining = { visit, event, credentials, visitor, returnPath: form.returnPath };
  const refusal = await refuseEarly(joining);
  if (refusal !== undefined) return refusal;

  const place = await edge.tickets.check(credentials, event, now);
  if (place !== undefined) await edge.feed.whenKnown(`drip:${event.event}`, now);
  if (place === undefined && edge.feed.drip(event.event)?.claims.state === "soldout") {
    const detail = "The sale is sold out. Joining may be possible again when something comes back.";
    const refused = problem("sold-out", { detail, retryAfterSeconds: SOLD_OUT_RETRY_SECONDS });
    return formOr(joining, refused);
  }
  const kept =
    place === undefined || !keepsPlace(visit, event, place)
      ? undefined
      : { ...place, issuedAt: place.issuedAt * 1000, status: 200 };
  if (kept !== undefined) edge.seen.counts.kept += 1;
  if (kept !== undefined && !kept.outgrown) return joined(joining, kept);
  if (place === undefined) {
    const unproven = askProof(visit, event, { visitor, tokenMode: credentials.tokenMode });
    if (unproven !== undefined) return formOr(joining, introduced(joining, unproven));
  }
  const limited = await (place === undefined
    ? limitJoin(visit, event)
    : limitPlace(visit, event, place.number));
  if (limited !== undefined) {
    return kept === undefined ? formOr(joining, limited) : joined(joining, kept);
  }
  const body = { visitor, ...(place === undefined ? {} : { ticket: place.ticket }) };
  const question = { event: event.event, what: "tickets", body, read: readTicket } as const;
  const reply = await edge.mint.post(question, visit);
  if (reply.kind === "away" && kept !== undefined) return joined(joining, kept);
  if (reply.kind === "away") return formOr(joining, mintAway(visit));
  if (reply.kind === "refused") return formOr(joining, mintRefusal(visit, reply));
  const { grant, status } = reply;
  edge.seen.counts.joined += 1;
  edge.newcomers.expect(event.event, grant.number, visit);
  return joined(joining, { ...grant, status });
}

interface Ticket {
  readonly number: number;
  readonly ticket: string;
  /** Epoch milliseconds. */
  readonly issuedAt: number;
}

function readTicket(members: Readonly<Record<string, unknown>>): Ticket | undefined {
  const { number, ticket, issuedAt } = members;
  const wellFormed = Number.isSafeInteger(number) && Number.isSafeInteger(issuedAt);
  if (!wellFormed || !isTokenShaped(ticket)) return undefined;
  return { number: number as number, ticket, issuedAt: issuedAt as number };
}

interface Joining {
  readonly visit: Visit;
  readonly event: ManifestEvent;
  readonly credentials: Credentials;
  readonly visitor: string;
  readonly returnPath: string | undefined;
}

/** What needs no mint to be refused. */
async function refuseEarly(joining: Joining): Promise<Response | undefined> {
  const { visit, event, credentials, returnPath } = joining;
  const { edge, now, request } = visit;
  const ended = edge.feed.drip(event.event)?.claims.state === "ended" || now >= event.endsAt;
  if (ended) return formOr(joining, problem("event-ended"));
  const joinableAt = event.joinableAt ?? event.startsAt ?? 0;
  if (now + edge.config.skewSeconds * 1000 < joinableAt) {
    const retryAfterSeconds = Math.min(3_600, (joinableAt - now) / 1000);
    return formOr(joining, problem("too-early", { retryAfterSeconds, extensions: { joinableAt } }));
  }
  // Browsers say where a request comes from. One that comes without the cookie that the page (or the
  // answer below) has set keeps no cookies, and would be given a new place with every request.
  const browser = request.headers.has("sec-fetch-site") || returnPath !== undefined;
  if (!browser || credentials.tokenMode || credentials.visitor !== undefined) return undefined;
  const refusal =
    returnPath === undefined
      ? problem("bad-request", {
          detail: "Send this again with the cookie that comes with this answer.",
          extensions: { reason: "cookies-off" },
        })
      : await holdingPage(visit, {
          ...{ event, credentials, returnPath },
          ...{ condition: "cookies", status: 400 },
        });
  // The page brings its own.
  return returnPath === undefined ? introduced(joining, refusal) : refusal;
}

/** With a name for whoever has none yet: they are known by it when they come again. */
function introduced({ visit, event, credentials, visitor }: Joining, refusal: Response): Response {
  if (credentials.visitor !== undefined) return refusal;
  const until = event.endsAt + COOKIES_OUTLIVE_EVENT_MS;
  const tokens: Handover[] = [{ kind: "visitor", value: visitor, until }];
  return handOver(refusal, tokens, { visit, event, tokenMode: credentials.tokenMode });
}

/**
 * True while the place is surely still good: then no mint is asked, however often the page is
 * reloaded (QP-07). A place that the line has passed is the mint's to judge.
 */
function keepsPlace({ edge, now }: Visit, event: ManifestEvent, place: Place): boolean {
  const turn = turnOf(place.number, edge.feed.drip(event.event), event);
  if (turn.kind === "committed") return now <= turn.claimBy;
  return turn.kind !== "passed";
}

function joined(
  { visit, event, credentials, visitor, returnPath }: Joining,
  grant: Ticket & { readonly status: number },
): Response {
  const { number, ticket, issuedAt, status } = grant;
  const { tokenMode } = credentials;
  const body: EdgeJoinAnswer = {
    ...{ event: event.event, number, issuedAt },
    ...(tokenMode ? { visitor, ticket } : {}),
  };
  const response = returnPath === undefined ? personal(body, status) : seeOther(returnPath);
  const until = event.endsAt + COOKIES_OUTLIVE_EVENT_MS;
  const tokens: Handover[] = [
    { kind: "visitor", value: visitor, until },
    { kind: "ticket", value: ticket, until },
  ];
  const scope = { event: event.event, https: visit.address.https };
  if (hasLeft(visit.head, scope)) response.headers.append("Set-Cookie", clearCookie("gone", scope));
  return handOver(response, tokens, { visit, event, tokenMode });
}

/** Somebody without JavaScript gets the page, which says the same in words. */
async function formOr(
  { visit, event, credentials, returnPath }: Joining,
  refusal: Response,
): Promise<Response> {
  if (returnPath === undefined) return refusal;
  const away = refusal.status === 503;
  const page = await holdingPage(visit, {
    ...{ event, credentials, returnPath, status: refusal.status },
    ...(away ? { condition: "unreachable" as const } : {}),
  });
  const retryAfter = refusal.headers.get("retry-after");
  if (retryAfter !== null) page.headers.set("Retry-After", retryAfter);
  return page;
}
