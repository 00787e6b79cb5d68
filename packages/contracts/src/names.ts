/** Header and cookie names, media types and fixed paths of the wire. */

export const VISITOR_HEADER = "Vestibule-Visitor";
export const TICKET_HEADER = "Vestibule-Ticket";
export const ADMISSION_HEADER = "Vestibule-Admission";
/** Proof that a purchase failed by a fault of ours: a claim that shows it gets a fresh slot. */
export const CREDIT_HEADER = "Vestibule-Credit";
/** A shop's own name for the user it authenticated. Believed only next to the shop's bearer token. */
export const USER_HEADER = "Vestibule-User";
/** An app that keeps no cookies sends `Vestibule-Mode: token` and gets tokens in the body. */
export const MODE_HEADER = "Vestibule-Mode";
/** A service's token: passes where a bypass rule of the event names the service. */
export const SERVICE_HEADER = "Vestibule-Service";
/** The same in the query, for callers that can be told an address and nothing else. The origin never sees it. */
export const SERVICE_PARAMETER = "vestibule-service";
/** Work that an event asks for before a new place: when it was asked for, a dot, and the counter that was found. */
export const PROOF_HEADER = "Vestibule-Proof";
export const IDEMPOTENCY_KEY_HEADER = "Idempotency-Key";

export const PROBLEM_MEDIA_TYPE = "application/problem+json";
export const STATEMENT_MEDIA_TYPE = "application/jwt";

/** All of the edge's own endpoints are below this path. */
export const EDGE_PREFIX = "/_vestibule";

/**
 * `order` is the shop's to set: what this browser has bought (`orderCookie`). `gone` says that it has left the line, and takes
 * no place by itself.
 */
export type CookieKind = "visitor" | "ticket" | "admission" | "credit" | "order" | "gone";

/**
 * Cookie name of one event. `__Host-` needs https, a `Secure` attribute and `Path=/` (RFC 6265bis);
 * plain http, for development on loopback, drops the prefix.
 */
export function cookieName(kind: CookieKind, event: string, options: { https: boolean }): string {
  return `${options.https ? "__Host-" : ""}vst-${kind}-${event}`;
}

/** Name of the cookie that keeps the language which a visitor chose on the page, for all events. */
export function languageCookieName(options: { https: boolean }): string {
  return `${options.https ? "__Host-" : ""}vst-language`;
}

/**
 * Value of the `order` cookie: the place in line that bought, and the path at which the shop shows the order,
 * outside of the protected paths. Whoever comes back to the line is led there.
 */
export function orderCookie({ number, path }: { number: number; path: string }): string {
  return `${number}.${encodeURIComponent(path)}`;
}
