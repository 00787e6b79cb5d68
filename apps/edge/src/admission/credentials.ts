/** What a visitor shows: cookies of a browser, or headers of an app. Never a mixture of both. */
import { HASH_TEXT } from "@vestibule/contracts/hash-text";
import { isTokenShaped } from "@vestibule/contracts/header-text";
import { COOKIE_CHARS_MAX, TOKEN_CHARS_MAX } from "@vestibule/contracts/limits";
import {
  ADMISSION_HEADER,
  CREDIT_HEADER,
  MODE_HEADER,
  TICKET_HEADER,
  VISITOR_HEADER,
  cookieName,
} from "@vestibule/contracts/names";
import { readCookie } from "../cookies.ts";
import type { Head } from "../head.ts";

export interface Credentials {
  readonly visitor: string | undefined;
  readonly ticket: string | undefined;
  readonly admission: string | undefined;
  /** They came in headers, or the client asked for tokens instead of cookies. */
  readonly tokenMode: boolean;
  /** A cookie of ours was used. */
  readonly byCookie: boolean;
}

/** Names of the headers that show something, as `Head.ours` has them. */
const SHOWN: ReadonlySet<string> = new Set(
  [VISITOR_HEADER, TICKET_HEADER, ADMISSION_HEADER, CREDIT_HEADER].map((name) =>
    name.toLowerCase(),
  ),
);

/** Heads with more than this are answered 431, without any cryptography (EP-13). */
export function isHeadTooLarge({ headers, cookie, ours }: Head): boolean {
  if (cookie !== null && cookie.length > COOKIE_CHARS_MAX) return true;
  return ours.some((name) => SHOWN.has(name) && (headers.get(name)?.length ?? 0) > TOKEN_CHARS_MAX);
}

/** Ill-formed values count as absent. */
export function readCredentials(
  head: Head,
  { event, https }: { event: string; https: boolean },
): Credentials {
  const { headers, cookie, ours } = head;
  if (ours.length > 0) {
    const visitor = headers.get(VISITOR_HEADER);
    const ticket = headers.get(TICKET_HEADER);
    const admission = headers.get(ADMISSION_HEADER);
    if (visitor !== null || ticket !== null || admission !== null) {
      return wellFormed({ visitor, ticket, admission }, { tokenMode: true, byCookie: false });
    }
    const tokenMode = headers.get(MODE_HEADER)?.trim().toLowerCase() === "token";
    if (tokenMode) return wellFormed({}, { tokenMode, byCookie: false });
  }
  if (cookie === null || !cookie.includes("vst-")) {
    return wellFormed({}, { tokenMode: false, byCookie: false });
  }
  const visitor = readCookie(cookie, cookieName("visitor", event, { https }));
  const ticket = readCookie(cookie, cookieName("ticket", event, { https }));
  const admission = readCookie(cookie, cookieName("admission", event, { https }));
  const byCookie = visitor !== undefined || ticket !== undefined || admission !== undefined;
  return wellFormed({ visitor, ticket, admission }, { tokenMode: false, byCookie });
}

/**
 * The credit beside them, shown in the same way. Read only where it can be of use: whoever is on the way to
 * the shop needs none. Nothing here says that it is genuine: only the mint knows its key.
 */
export function readCredit(
  { headers, cookie }: Head,
  { event, https }: { event: string; https: boolean },
  { tokenMode }: Credentials,
): string | undefined {
  const text = tokenMode
    ? (headers.get(CREDIT_HEADER) ?? undefined)
    : readCookie(cookie ?? "", cookieName("credit", event, { https }));
  return isTokenShaped(text) ? text : undefined;
}

function wellFormed(
  shown: Partial<Record<"visitor" | "ticket" | "admission", string | null | undefined>>,
  how: { tokenMode: boolean; byCookie: boolean },
): Credentials {
  const visitor = shown.visitor ?? undefined;
  const ticket = shown.ticket ?? undefined;
  const admission = shown.admission ?? undefined;
  return {
    visitor: visitor !== undefined && HASH_TEXT.test(visitor) ? visitor : undefined,
    ticket: isTokenShaped(ticket) ? ticket : undefined,
    admission: isTokenShaped(admission) ? admission : undefined,
    ...how,
  };
}
