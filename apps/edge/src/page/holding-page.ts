/** The holding page: one response, everything in it, readable before and without its script. */
import type { Condition } from "@vestibule/client/view";
import { VISITOR_BYTES } from "@vestibule/contracts/limits";
import { encodeBase64url } from "@vestibule/keys/base64url";
import { setCookie } from "../cookies.ts";
import { COOKIES_OUTLIVE_EVENT_MS } from "../limits.ts";
import type { Visit } from "../visit.ts";
import { chosenLanguage } from "./choice.ts";
import { lookOf } from "./look.ts";
import { type PageBytes, sharedPage } from "./page-memo.ts";
import { type Asker, type Standing, isStranger, readStanding } from "./standing.ts";
import { strangersZone, writePage } from "./write-page.ts";

export interface HoldingPage extends Asker {
  readonly condition?: Condition;
  /** Instead of the event's own. */
  readonly status?: number;
  /** Where link and forms lead back to, instead of this very page. */
  readonly returnPath?: string;
  /** A form for the shop has come here instead. */
  readonly unsent?: true;
}

const NOTHING: Standing = {};

/** Takes no place, whatever it is asked for: only the script's, or the form's, POST does (HP-10). */
export async function holdingPage(visit: Visit, page: HoldingPage): Promise<Response> {
  const { edge, method, now } = visit;
  const { event, credentials } = page;
  if (edge.feed.drip(event.event) === undefined) {
    await edge.feed.whenKnown(`drip:${event.event}`, now);
  }
  // Nothing else would be of use: nobody goes in here. But for cookies, whose want outlasts it.
  const isFault = edge.feed.clock.isWrong && page.condition !== "cookies";
  const standing = isStranger(visit) ? NOTHING : await readStanding(visit, page, isFault);
  const choice = chosenLanguage(visit, event);
  const known = lookOf(event, choice);
  const look = known instanceof Promise ? await known : known;
  const telling = {
    ...{ event, standing, choice, look, returnPath: page.returnPath },
    drip: edge.feed.drip(event.event),
    condition: isFault ? "clock" : page.condition,
    unsent: page.unsent === true,
  } as const;
  const write = (): PageBytes => writePage(visit, telling);
  const { drip, condition } = telling;
  const { pathname, search } = visit.address;
  const body =
    standing === NOTHING && method !== "POST"
      ? sharedPage(
          { event, drip, now },
          [condition, choice.locale, strangersZone(visit, event), pathname + search],
          write,
        )
      : write();
  const response = new Response(method === "HEAD" ? null : body, {
    status: page.status ?? event.holdingStatus,
    headers: look.headers,
  });
  response.headers.set("Content-Language", choice.language.tag);
  // A name for the browser, before it joins: so that several tabs opened at once are one visitor.
  if (credentials.visitor === undefined && !credentials.tokenMode && method === "GET") {
    const value = encodeBase64url(edge.randomness.bytes(VISITOR_BYTES));
    const maxAgeSeconds = (event.endsAt + COOKIES_OUTLIVE_EVENT_MS - now) / 1000;
    const cookie = { event: event.event, value, maxAgeSeconds, https: visit.address.https };
    response.headers.append("Set-Cookie", setCookie("visitor", cookie));
  }
  return response;
}
