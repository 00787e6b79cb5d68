/**
 * `GET /_vestibule/events/{event}/drip`: what every waiting page asks for. The same bytes for everyone,
 * encoded once per statement; no cookie, no signature check, no mint call on a hit (law 11).
 */
import { DRIP_LAST_CALL_REFRESH_MS } from "@vestibule/contracts/limits";
import type { DripView } from "@vestibule/contracts/statements";
import { lastCallInMs } from "@vestibule/drip/last-call";
import type { KnownDrip } from "@vestibule/feed/mint-feed";
import type { Thing } from "@vestibule/feed/thing";
import type { EpochMs } from "@vestibule/kernel/units";
import { DRIP_STALE_MS } from "@vestibule/feed/limits";
import { allowedOrigin, shareWith } from "./routing/cross-origin.ts";
import type { Background, Edge } from "./visit.ts";

const PREFIX = "/_vestibule/events/";
const SUFFIX = "/drip";

const CACHED = "public, max-age=1, stale-while-revalidate=5, stale-if-error=300";
/** In a last call a cache on the way may add its second, and no more. */
const CACHED_LAST_CALL = "public, max-age=1, stale-if-error=300";
/** What is wrong here says nothing of other locations behind the same cache, nor of this one a moment later. */
const CACHED_FAULT = "public, max-age=1, must-revalidate";

interface Encoded {
  readonly drip: KnownDrip;
  readonly fault: DripView["fault"];
  readonly body: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly headers: Headers;
}

export interface DripPoll {
  /**
   * The event that this request polls, or `undefined`. Looks at the text of the URL only: everything
   * after the authority must be exactly the endpoint, a query string apart.
   */
  eventOf(request: Pick<Request, "url" | "method">): string | undefined;
  /** `undefined` when this location knows no statement of the event, or must wait for a newer one first. */
  answer(
    request: Request,
    event: string,
    at: { now: EpochMs; background: Background; waited?: boolean },
  ): Response | undefined;
}

export function createDripPoll(edge: Edge): DripPoll {
  const encoded = new Map<string, Encoded>();
  return {
    eventOf({ url, method }) {
      if (method !== "GET" && method !== "HEAD") return undefined;
      const path = url.indexOf("/", 8);
      if (!url.startsWith(PREFIX, path)) return undefined;
      const query = url.indexOf("?", path);
      const end = (query === -1 ? url.length : query) - SUFFIX.length;
      const from = path + PREFIX.length;
      if (end <= from || !url.startsWith(SUFFIX, end)) return undefined;
      const event = url.slice(from, end);
      return event.includes("/") ? undefined : event;
    },
    answer(request, event, { now, background, waited = false }) {
      const { feed } = edge;
      const drip = feed.drip(event);
      if (drip === undefined) return undefined;
      const thing = `drip:${event}` as const;
      const isDue = feed.refreshDue(thing, now);
      if (!waited && feed.isStale(thing, now, isDue ? pollStaleMs(drip, now) : DRIP_STALE_MS)) {
        return undefined;
      }
      if (isDue) background.waitUntil(tend(edge, thing, now));
      let ready = encoded.get(event);
      const fault = feed.clock.isWrong ? "clock" : undefined;
      if (ready?.drip !== drip || ready.fault !== fault) {
        ready = encode(event, drip, fault);
        encoded.set(event, ready);
        // The feed forgets events that left the manifest; so does this.
        for (const name of encoded.keys()) if (feed.drip(name) === undefined) encoded.delete(name);
      }
      edge.seen.counts.polls += 1;
      return respond(edge, request, ready);
    },
  };
}

/** Where nobody does anything but poll, the counters are written by whoever asks for the next statement. */
async function tend({ feed, seen }: Edge, thing: Thing, now: EpochMs): Promise<void> {
  await feed.tend(thing, now);
  if (seen.turn(now)) seen.flush();
}

/**
 * How old a copy a poll may be answered with, unless a newer one is on its way. In a last call a location that is seldom
 * asked would answer with what the poll before has fetched; where many ask, the one that finds it due waits, and nobody else.
 */
export function pollStaleMs(drip: KnownDrip | undefined, now: EpochMs): number {
  const isLastCall = drip !== undefined && lastCallInMs(drip.claims, now) === 0;
  return isLastCall ? DRIP_LAST_CALL_REFRESH_MS : DRIP_STALE_MS;
}

/** The statement as plain JSON. `iss`, `aud` and `keysSeq` are the location's business. */
export function dripView(event: string, { claims }: KnownDrip): DripView {
  const { iss: _issuer, aud: _audience, keysSeq: _keysSeq, ...rest } = claims;
  return { event, ...rest };
}

function encode(event: string, drip: KnownDrip, fault: DripView["fault"]): Encoded {
  const view: DripView = { ...dripView(event, drip), ...(fault === undefined ? {} : { fault }) };
  const body = new Uint8Array(new TextEncoder().encode(JSON.stringify(view)));
  const { seq, at } = drip.claims;
  const etag = fault === undefined ? `"${seq}-${at}"` : `"${seq}-${at}-${fault}"`;
  const well = drip.claims.lastCall === undefined ? CACHED : CACHED_LAST_CALL;
  const headers = new Headers({
    "Content-Type": "application/json",
    "Cache-Control": fault === undefined ? well : CACHED_FAULT,
    ETag: etag,
    // RFC 9211. Whoever waited for a newer one is told so instead.
    "Cache-Status": "vestibule; hit",
    Vary: "Origin",
  });
  return { drip, fault, body, etag, headers };
}

function respond(edge: Edge, request: Request, { body, etag, headers, drip }: Encoded): Response {
  const origin = request.headers.get("origin");
  const unchanged = isUnchanged(request.headers.get("if-none-match"), etag);
  if (origin === null && !unchanged && request.method === "GET")
    return new Response(body, { headers });
  const init = { status: unchanged ? 304 : 200, headers };
  const response = new Response(unchanged || request.method === "HEAD" ? null : body, init);
  if (origin === null) return response;
  const event = edge.routes()?.event(drip.claims.aud);
  response.headers.delete("Vary");
  return event === undefined ? response : shareWith(response, allowedOrigin(request, event));
}

function isUnchanged(condition: string | null, etag: string): boolean {
  if (condition === null) return false;
  return condition
    .split(",")
    .some((tag) => tag.trim().replace(/^W\//, "") === etag || tag.trim() === "*");
}
