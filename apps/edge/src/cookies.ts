/** Our cookies: read without parsing those of others, set with every attribute, taken out on the way to the origin. */
import { type CookieKind, cookieName } from "@vestibule/contracts/names";

/** The value of `name`, or `undefined`. Other cookies may be as malformed as they like. */
export function readCookie(header: string, name: string): string | undefined {
  const wanted = `${name}=`;
  for (let at = header.indexOf(wanted); at !== -1; at = header.indexOf(wanted, at + 1)) {
    const before = at === 0 ? ";" : header[at - 1];
    if (before !== ";" && before !== " " && before !== "\t") continue;
    const from = at + wanted.length;
    const end = header.indexOf(";", from);
    const value = (end === -1 ? header.slice(from) : header.slice(from, end)).trim();
    return value.length >= 2 && value.startsWith('"') && value.endsWith('"')
      ? value.slice(1, -1)
      : value;
  }
  return undefined;
}

const OURS = /^(?:__Host-)?vst-(?:visitor|ticket|admission)-/;

/** The header without our cookies; `undefined` when nothing is left. */
export function withoutOurCookies(header: string): string | undefined {
  if (!header.includes("vst-")) return header;
  const rest = header
    .split(";")
    .map((part) => part.trim())
    .filter((part) => part !== "" && !OURS.test(part));
  return rest.length === 0 ? undefined : rest.join("; ");
}

/** True when a cookie of ours, for any event, came with the request. */
export function hasOurCookie(header: string): boolean {
  return header.includes("vst-") && header.split(";").some((part) => OURS.test(part.trim()));
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
  const maxAge = Math.max(1, Math.floor(cookie.maxAgeSeconds));
  const name = cookieName(kind, event, { https });
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${https ? "; Secure" : ""}`;
}
