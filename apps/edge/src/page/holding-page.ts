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
import { accentFor } from "./accent.ts";
import { type PageData, pageHtml } from "./markup.ts";
import { pageBody } from "./page-body.ts";
import { texts } from "./texts.en.ts";
import { type Formats, wordsOf } from "./words.ts";

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

const NONCE_BYTES = 16;

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
  // A name for the browser, before it joins: so that several tabs opened at once are one visitor.
  const isNew =
    credentials.visitor === undefined && !credentials.tokenMode && request.method === "GET";
  // Drawn at once, since each drawing is a call into the runtime.
  const random = edge.randomness.bytes(NONCE_BYTES + (isNew ? VISITOR_BYTES : 0));
  const nonce = encodeBase64url(random.subarray(0, NONCE_BYTES));
  const html = pageHtml({
    view,
    words: wordsOf(view, formatsOf(request, now), event.title),
    eventTitle: event.title,
    accent: accentOf(event),
    returnPath,
    unsent: page.unsent === true,
    data: { settings, now, ...said, returns, back, title: event.title },
    nonce,
    script: "",
    style: "",
  });
  const response = new Response(request.method === "HEAD" ? null : pageBody(html), {
    status: page.status ?? event.holdingStatus,
    headers: headersOf(nonce),
  });
  if (isNew) {
    const value = encodeBase64url(random.subarray(NONCE_BYTES));
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

function headersOf(nonce: string): Headers {
  return new Headers({
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src 'nonce-${nonce}'`,
      "img-src data:",
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
    "X-Robots-Tag": "noindex",
    "X-Content-Type-Options": "nosniff",
    // Same-origin, so that a form without JavaScript still says where it comes from.
    "Referrer-Policy": "same-origin",
    Vary: "Accept, Sec-Fetch-Dest",
  });
}

/** Of each event of the present manifest: worked out once. */
const accents = new WeakMap<ManifestEvent, ReturnType<typeof accentFor>>();

function accentOf(event: ManifestEvent): ReturnType<typeof accentFor> {
  let accent = accents.get(event);
  if (accent === undefined) {
    accent = accentFor(event.accent);
    accents.set(event, accent);
  }
  return accent;
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

/** Made once: that takes longer than the rest of a page. */
const NUMBERS = new Intl.NumberFormat(texts.lang);

/** A moment that is further away is told with its day. */
const DAY_NEEDED_MS = 43_200_000;

/**
 * In the visitor's zone where the platform knows it, else in UTC; the zone is named, since nobody else says
 * whose it is (AO-02). The script puts the device's own in its place.
 */
function formatsOf(request: Request, now: number): Formats {
  const cf = (request as { cf?: { timezone?: unknown } }).cf;
  const zone = typeof cf?.timezone === "string" ? cf.timezone : "UTC";
  return {
    number: (n) => NUMBERS.format(n),
    time: (at) => timeFormat(zone, at - now > DAY_NEEDED_MS).format(at),
  };
}

function timeFormat(timeZone: string, withDay: boolean): Intl.DateTimeFormat {
  const options: Intl.DateTimeFormatOptions = {
    ...(withDay ? { day: "numeric", month: "short", year: "numeric" } : { second: "2-digit" }),
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" },
  };
  try {
    return new Intl.DateTimeFormat(texts.lang, { ...options, timeZone });
  } catch {
    // A zone that this runtime does not know.
    return new Intl.DateTimeFormat(texts.lang, { ...options, timeZone: "UTC" });
  }
}
