/** Our cookies: read without parsing those of others, set with every attribute, taken out on the way to the origin. */
import { type CookieKind, cookieName, languageCookieName } from "@vestibule/contracts/names";
import { LANGUAGE_COOKIE_SECONDS } from "./limits.ts";

/**
 * The value of `name`; `undefined` when it is not there, or there with different values: nobody can say
 * which of them is the visitor's. Other cookies may be as malformed as they like.
 */
export function readCookie(header: string, name: string): string | undefined {
  const wanted = `${name}=`;
  let value: string | undefined;
  for (let at = header.indexOf(wanted); at !== -1; at = header.indexOf(wanted, at + 1)) {
    if (!startsCookie(header, at)) continue;
    const from = at + wanted.length;
    const end = header.indexOf(";", from);
    const found = unquoted(end === -1 ? header.slice(from) : header.slice(from, end));
    if (value !== undefined && value !== found) return undefined;
    value = found;
  }
  return value;
}

/** A cookie starts at the header's start or after a semicolon, white space apart (RFC 6265 section 5.4). */
function startsCookie(header: string, at: number): boolean {
  let before = at - 1;
  while (header[before] === " " || header[before] === "\t") before -= 1;
  return before < 0 || header[before] === ";";
}

function unquoted(text: string): string {
  const value = text.trim();
  const isQuoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"');
  return isQuoted ? value.slice(1, -1) : value;
}

const OURS =
  /^[ \t]*(?:__Host-)?vst-(?:(?:visitor|ticket|admission|credit|order|gone)-|language\s*(?:=|$))/;

/**
 * The header without our cookies; `undefined` when nothing is left. Several `Cookie` headers reach us as
 * one, joined by a comma: what follows one counts as a cookie here, so that none of ours gets through.
 */
export function withoutOurCookies(header: string): string | undefined {
  if (!header.includes("vst-")) return header;
  let rest = "";
  let separator = "";
  for (const [, before = "", cookie = ""] of header.matchAll(/(^|[;,])([^;,]*)/g)) {
    if (separator !== ";") separator = before;
    if (OURS.test(cookie)) continue;
    rest += rest === "" ? cookie.trimStart() : separator + cookie;
    separator = "";
  }
  return rest.trim() === "" ? undefined : rest;
}

/**
 * `Set-Cookie` for one event. `__Host-` and `Secure` on https; plain http exists for development on
 * loopback only. `Lax`, because people come back from a payment provider's site (EP-12).
 */
export function setCookie(
  kind: CookieKind,
  cookie: { event: string; value: string; maxAgeSeconds: number; https: boolean },
): string {
  const { event, value, https } = cookie;
  return text(kind, { event, value, https, maxAge: Math.max(1, Math.floor(cookie.maxAgeSeconds)) });
}

/** `Set-Cookie` that makes a browser forget it. */
export function clearCookie(kind: CookieKind, of: { event: string; https: boolean }): string {
  return text(kind, { ...of, value: "", maxAge: 0 });
}

function text(
  kind: CookieKind,
  { event, value, maxAge, https }: { event: string; value: string; maxAge: number; https: boolean },
): string {
  return written({ name: cookieName(kind, event, { https }), value, maxAge, https });
}

/** `Set-Cookie` of the language that somebody has chosen, for all events. */
export function setLanguageCookie(tag: string, { https }: { https: boolean }): string {
  const name = languageCookieName({ https });
  return written({ name, value: tag, maxAge: LANGUAGE_COOKIE_SECONDS, https });
}

function written(cookie: { name: string; value: string; maxAge: number; https: boolean }): string {
  const { name, value, maxAge, https } = cookie;
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${https ? "; Secure" : ""}`;
}
