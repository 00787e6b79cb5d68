/** Answers to one person: nothing of them may be kept by a cache (EP-10). */
import {
  ADMISSION_HEADER,
  CREDIT_HEADER,
  TICKET_HEADER,
  VISITOR_HEADER,
  type CookieKind,
} from "@vestibule/contracts/names";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { Credentials } from "../admission/credentials.ts";
import { setCookie } from "../cookies.ts";
import { problem } from "../problem.ts";
import { isSameSite } from "../routing/cross-origin.ts";
import type { Visit } from "../visit.ts";

/** What we give; the order is the shop's to tell, and `gone` is no token. */
type Token = Exclude<CookieKind, "order" | "gone">;

const HEADERS: Record<Token, string> = {
  visitor: VISITOR_HEADER,
  ticket: TICKET_HEADER,
  admission: ADMISSION_HEADER,
  credit: CREDIT_HEADER,
};

/** A token for its owner, and the second from which it is of no more use. */
export interface Handover {
  readonly kind: Token;
  readonly value: string;
  /** Epoch milliseconds. */
  readonly until: number;
}

export function personal(body: unknown, status: number): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "private, no-store" },
  });
}

/** 303 back to a page of ours, after a form without JavaScript. */
export function seeOther(path: string): Response {
  return new Response(null, {
    status: 303,
    headers: { Location: path, "Cache-Control": "private, no-store" },
  });
}

/** Gives the tokens as cookies, or as headers to whoever asked for that. */
export function handOver(
  response: Response,
  tokens: readonly Handover[],
  { visit, event, tokenMode }: { visit: Visit; event: ManifestEvent; tokenMode: boolean },
): Response {
  for (const { kind, value, until } of tokens) {
    if (tokenMode) {
      response.headers.set(HEADERS[kind], value);
      continue;
    }
    const maxAgeSeconds = (until - visit.now) / 1000;
    const cookie = { event: event.event, value, maxAgeSeconds, https: visit.address.https };
    response.headers.append("Set-Cookie", setCookie(kind, cookie));
  }
  return response;
}

/** 403 when a POST would act by cookies that another site made the browser send. */
export function refuseCrossSite(
  { request, address }: Visit,
  event: ManifestEvent,
  { byCookie, tokenMode }: Credentials,
): Response | undefined {
  if (tokenMode && !byCookie) return undefined;
  const fine = isSameSite(request, { origin: address.origin, sites: event, byCookie });
  return fine ? undefined : problem("cross-site");
}
