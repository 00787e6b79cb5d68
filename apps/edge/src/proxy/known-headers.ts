/** What the edge itself says to the origin about a request, in the headers that the origin expects. */
import type { HeaderTexts } from "../head.ts";
import type { Visit } from "../visit.ts";

/** Puts one header down; none where nothing is known. */
type Say = (texts: HeaderTexts, visit: Visit) => void;

const SAYINGS = {
  /** The one address that the network says. */
  "x-forwarded-for": (texts, { head }) => {
    if (head.client !== null) texts["x-forwarded-for"] = head.client;
  },
  "x-forwarded-host": (texts, { address }) => {
    texts["x-forwarded-host"] = address.host;
  },
  "x-forwarded-proto": (texts, { address }) => {
    texts["x-forwarded-proto"] = protocol(address.https);
  },
  "x-forwarded-port": (texts, { address: { host, https } }) => {
    texts["x-forwarded-port"] = /:(\d+)$/.exec(host)?.[1] ?? (https ? "443" : "80");
  },
  "x-real-ip": (texts, { head }) => {
    if (head.client !== null) texts["x-real-ip"] = head.client;
  },
  /** RFC 7239: what is no token is quoted, an IPv6 address in brackets. */
  forwarded: (texts, { head: { client }, address: { host, https } }) => {
    const by = client === null ? "" : `for=${client.includes(":") ? `"[${client}]"` : client};`;
    texts["forwarded"] = `${by}host="${host}";proto=${protocol(https)}`;
  },
} as const satisfies Record<string, Say>;

export type KnownHeader = keyof typeof SAYINGS;

export const KNOWN_HEADERS: readonly KnownHeader[] = Object.keys(SAYINGS) as KnownHeader[];
export const KNOWN_HEADERS_DEFAULT: readonly KnownHeader[] = [
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
];

export function isKnownHeader(name: string): name is KnownHeader {
  return Object.hasOwn(SAYINGS, name);
}

export function sayKnown(texts: HeaderTexts, visit: Visit): void {
  for (const name of visit.edge.config.knownHeaders) SAYINGS[name](texts, visit);
}

function protocol(https: boolean): string {
  return https ? "https" : "http";
}
