/** What the edge rows have in common: one open event, and requests as a browser sends them. */
import type { DripClaims, ManifestClaims } from "@vestibule/contracts/statements";
import { cookieName } from "@vestibule/contracts/names";

export const EVENT = "bench";
export const ISSUER = "https://mint.bench.example";
export const HOST = "bench.example";
export const PAGE_PATH = "/events/bench/seats?row=7";
export const LIFETIME_SECONDS = 3_600;
/** Far more than the requests of a run: each token has a number of its own. */
export const SERVING = 1_000_000;

const VISITOR_COOKIE = cookieName("visitor", EVENT, { https: false });
export const ADMISSION_COOKIE = cookieName("admission", EVENT, { https: false });

const DAY_MS = 86_400_000;
const SEGMENT_MS = 30_000;
const SEGMENTS_BEHIND = 6;
const SEGMENTS_AHEAD = 2;
const RATE_PER_MINUTE = 600;

/** The head of a GET, for the load generator. */
export function getHead(path: string, cookie?: string): string {
  return [
    `GET ${path} HTTP/1.1`,
    `Host: ${HOST}`,
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language: en",
    ...(cookie === undefined ? [] : [`Cookie: ${cookie}`]),
    "",
    "",
  ].join("\r\n");
}

/** An admitted browser, with a cookie of the shop's own beside ours. */
export function admittedHead(visitor: string, token: string): string {
  return getHead(PAGE_PATH, admittedCookie(visitor, token));
}

export function admittedCookie(visitor: string, token: string): string {
  return `shop=4f9a7c12; ${VISITOR_COOKIE}=${visitor}; ${ADMISSION_COOKIE}=${token}`;
}

export function manifestClaims(nowMs: number): ManifestClaims {
  const now = Math.floor(nowMs / 1_000);
  return {
    iss: ISSUER,
    iat: now,
    exp: now + 7 * 86_400,
    seq: now,
    events: [
      {
        event: EVENT,
        title: "The spring concert",
        hosts: [HOST],
        paths: ["/events/bench*"],
        bypass: [],
        homePath: "/events/bench",
        lifetimeSeconds: LIFETIME_SECONDS,
        claimWindowSeconds: 180,
        holdingStatus: 200,
        accent: "#0b6e4f",
        endsAt: nowMs + DAY_MS,
      },
    ],
  };
}

/** A drip in the middle of a sale: segments for the claim window and for the horizon. */
export function dripClaims(nowMs: number): DripClaims {
  const now = Math.floor(nowMs / 1_000);
  const perSegment = (RATE_PER_MINUTE * SEGMENT_MS) / 60_000;
  const current = Math.floor(nowMs / SEGMENT_MS);
  const segments = Array.from({ length: SEGMENTS_BEHIND + SEGMENTS_AHEAD }, (_, index) => {
    const offset = index - SEGMENTS_BEHIND;
    const from = (current + offset) * SEGMENT_MS;
    return {
      base: SERVING + offset * perSegment,
      count: perSegment,
      from,
      until: from + SEGMENT_MS,
    };
  });
  return {
    iss: ISSUER,
    aud: EVENT,
    iat: now,
    exp: now + 3_600,
    at: nowMs,
    seq: nowMs,
    state: "open",
    segments,
    serving: SERVING,
    committed: SERVING + SEGMENTS_AHEAD * perSegment - 1,
    skips: [],
    issued: SERVING + 250_000,
    rate: RATE_PER_MINUTE,
    notice: "",
    cuts: [],
    endsAt: nowMs + DAY_MS,
  };
}
