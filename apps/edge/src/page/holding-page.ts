/** The holding page: one response, everything in it, readable before and without its script. */
import { type Condition, type PageSettings, viewOf } from "@vestibule/client/view";
import { VISITOR_BYTES } from "@vestibule/contracts/limits";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { encodeBase64url } from "@vestibule/keys/base64url";
import type { AdmissionCheck } from "../admission/admissions.ts";
import type { Credentials } from "../admission/credentials.ts";
import { readOrder, usableCredit } from "../admission/order.ts";
import { type Turn, isClaimed, turnOf } from "../admission/tickets.ts";
import { setCookie } from "../cookies.ts";
import { dripView } from "../drip-poll.ts";
import { COOKIES_OUTLIVE_EVENT_MS } from "../limits.ts";
import { safeReturnPath } from "../routing/return-path.ts";
import type { Visit } from "../visit.ts";
import { chosenLanguage } from "./choice.ts";
import { lookOf } from "./look.ts";
import { type PageData, pageHtml } from "./markup.ts";
import { pageBody } from "./page-body.ts";
import { type PageBytes, sharedPage } from "./page-memo.ts";
import { wordsOf } from "./words.ts";
import { formatsOf, zoneOf } from "./zoned.ts";

export interface HoldingPage {
  readonly event: ManifestEvent;
  readonly credentials: Credentials;
  readonly check?: AdmissionCheck;
  readonly condition?: Condition;
  /** Instead of the event's own. */
  readonly status?: number;
  /** Where link and forms lead back to, instead of this very page. */
  readonly returnPath?: string;
  /** What the mint has said of this place: its turn is over, or the next one is for it. */
  readonly missed?: true;
  readonly owed?: true;
  /** A form for the shop has come here instead. */
  readonly unsent?: true;
}

/** Takes no place, whatever it is asked for: only the script's, or the form's, POST does (HP-10). */
export async function holdingPage(visit: Visit, page: HoldingPage): Promise<Response> {
  const { edge, request, now } = visit;
  const { event, credentials, missed, owed } = page;
  await edge.feed.whenKnown(`drip:${event.event}`, now);
  // Nothing else would be of use: nobody goes in here. But for cookies, whose want outlasts it.
  const isFault = edge.feed.clock.isWrong && page.condition !== "cookies";
  const condition = isFault ? "clock" : page.condition;
  // Whoever was let in before goes back there when it is over.
  const returns = isFault && credentials.admission !== undefined ? true : undefined;
  const place = await edge.tickets.check(credentials, event, now);
  const known = edge.feed.drip(event.event);
  const settings = settingsOf(event);
  const number = place?.number;
  const shown = usableCredit(visit, { event: event.event, credentials, number });
  const credit = shown === undefined || missed === true || owed === true ? undefined : true;
  const order = readOrder(visit, event.event, number);
  const claimed = claimedSlot(page.check, turnOf(number ?? 0, known, event));
  const said = { number, condition, credit, missed, owed, order, claimed };
  const drip = known === undefined ? undefined : dripView(event.event, known);
  const view = viewOf({ settings, now, drip, ...said });
  const returnPath = page.returnPath ?? returnPathOf(visit, event);
  // The answer to a form is not to be asked for again: it lives where its link leads.
  const back = request.method === "POST" ? returnPath : undefined;
  const { css, headers } = await lookOf(event);
  const { language, locale } = chosenLanguage(visit, event);
  // Asked for only where a moment is told: it is a call into the runtime.
  const zone = view.target === undefined ? "UTC" : zoneOf(request);
  const write = (): PageBytes => {
    const formats = formatsOf(zone, { locale, now });
    const html = pageHtml({
      ...{ view, language, css, returnPath, eventTitle: event.title },
      words: wordsOf(view, { texts: language.texts, formats }, event.title),
      unsent: page.unsent === true,
      data: { settings, now, ...said, returns, back, title: event.title, locale },
    });
    return pageBody(html, language.bytes);
  };
  const isOwn = [number, credit, missed, owed, returns, back, page.unsent].some(
    (own) => own !== undefined,
  );
  const rest = `${condition ?? ""} ${locale} ${zone} ${returnPath}`;
  const body = isOwn ? write() : sharedPage({ event, drip: known, now, rest }, write);
  const response = new Response(request.method === "HEAD" ? null : body, {
    status: page.status ?? event.holdingStatus,
    headers,
  });
  response.headers.set("Content-Language", language.tag);
  // A name for the browser, before it joins: so that several tabs opened at once are one visitor.
  if (credentials.visitor === undefined && !credentials.tokenMode && request.method === "GET") {
    const value = encodeBase64url(edge.randomness.bytes(VISITOR_BYTES));
    const maxAgeSeconds = (event.endsAt + COOKIES_OUTLIVE_EVENT_MS - now) / 1000;
    const cookie = { event: event.event, value, maxAgeSeconds, https: visit.address.https };
    response.headers.append("Set-Cookie", setCookie("visitor", cookie));
  }
  return response;
}

/** The slot whose admission is in hand: nobody need claim it again, nor say again that they are there. */
function claimedSlot(check: AdmissionCheck | undefined, turn: Turn): PageData["claimed"] {
  if (turn.kind !== "committed" || !isClaimed(check, turn)) return undefined;
  return { opensAt: turn.opensAt, closesAt: turn.closesAt };
}

function settingsOf(event: ManifestEvent): PageSettings {
  return {
    event: event.event,
    homePath: event.homePath,
    lifetimeSeconds: event.lifetimeSeconds,
    claimWindowSeconds: event.claimWindowSeconds,
    endsAt: event.endsAt,
    startsAt: event.startsAt,
    joinableAt: event.joinableAt,
  };
}

/** This very page, unless its address is an endpoint of ours, a trick, or one that a form was sent to. */
function returnPathOf({ address, method }: Visit, event: ManifestEvent): string {
  if (method === "POST") return event.homePath;
  const { pathname, search, origin } = address;
  return safeReturnPath(pathname + search, origin) ?? event.homePath;
}
