/** The request table of design section 6, from the hottest row to the rarest. */
import { EDGE_PREFIX } from "@vestibule/contracts/names";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { EpochMs } from "@vestibule/kernel/units";
import { isHeadTooLarge, readCredentials } from "./admission/credentials.ts";
import { api } from "./api/app.ts";
import { type DripPoll, coldDrip, createDripPoll } from "./drip-poll.ts";
import { AWAY_RETRY_SECONDS_MIN } from "./limits.ts";
import { problem } from "./problem.ts";
import { forward } from "./proxy/forward.ts";
import { deny } from "./deny.ts";
import { readPath } from "./routing/path.ts";
import {
  type Background,
  type Edge,
  type Visit,
  keepDripFresh,
  keepFresh,
  readVisit,
} from "./visit.ts";

export interface EdgeHandler {
  /** A poll of a known event is answered at once, without a promise. */
  fetch(request: Request, background: Background): Response | Promise<Response>;
}

export function createHandler(edge: Edge): EdgeHandler {
  const poll = createDripPoll(edge);
  return {
    fetch(request, background) {
      const now = edge.clock.now();
      const polled = poll.eventOf(request);
      if (polled !== undefined) {
        const hit = poll.answer(request, polled, { now, background });
        if (hit !== undefined) return hit;
      }
      // A broken invariant of ours is a 500 and never opens anything.
      return answer(edge, poll, { request, background, now, polled }).catch(() =>
        problem("internal"),
      );
    },
  };
}

async function answer(
  edge: Edge,
  poll: DripPoll,
  call: { request: Request; background: Background; now: EpochMs; polled: string | undefined },
): Promise<Response> {
  const { polled } = call;
  const visit = readVisit(edge, call);
  if (visit === undefined) return problem("bad-request", { detail: "The address is not valid." });
  if (edge.feed.manifest() === undefined) await learn(visit);
  else keepFresh(visit);
  return polled === undefined ? route(visit) : answerCold(poll, visit, polled);
}

/** Only a location that has never seen a manifest waits; everybody else is answered from what is known. */
async function learn(visit: Visit): Promise<void> {
  const { edge, background, now } = visit;
  const first = Promise.all([
    edge.feed.whenKnown("keys", now),
    edge.feed.whenKnown("manifest", now),
  ]);
  // It goes on when this client hangs up: others may be waiting for what it finds.
  background.waitUntil(first);
  await first;
}

async function answerCold(poll: DripPoll, visit: Visit, event: string): Promise<Response> {
  const { edge, request, now, background } = visit;
  const refusal = await coldDrip(edge, event, now);
  if (refusal !== undefined) return refusal;
  await keepDripFresh(visit, event);
  return (
    poll.answer(request, event, { now, background }) ??
    problem("unavailable", { retryAfterSeconds: AWAY_RETRY_SECONDS_MIN })
  );
}

async function route(visit: Visit): Promise<Response> {
  const { edge, request, url, now } = visit;
  if (url.pathname === EDGE_PREFIX || url.pathname.startsWith(`${EDGE_PREFIX}/`)) {
    if (isHeadTooLarge(request.headers)) return problem("head-too-large");
    return api.fetch(request, visit);
  }
  const routes = edge.routes();
  if (routes === undefined) {
    // Nothing is open by accident (law 10): what is protected is not known yet.
    return problem("unavailable", { retryAfterSeconds: AWAY_RETRY_SECONDS_MIN });
  }
  const path = readPath(rawPath(request.url), url.pathname);
  const host = url.host.replace(/\.(?=:\d+$|$)/, "");
  const found = routes.match({ host, path, method: request.method, now });
  switch (found.kind) {
    case "open":
      return passOn(visit, url.pathname);
    case "ambiguous":
      return problem("bad-request", { detail: "The path can be read in more than one way." });
    case "unknown-host":
      return problem("bad-request", { detail: "No event is on sale under this host name." });
    case "protected":
      return guard(visit, found.event, path.normal);
  }
}

async function guard(visit: Visit, event: ManifestEvent, path: string): Promise<Response> {
  const { edge, request, https, now } = visit;
  if (!edge.verifies || edge.feed.keys(now) === undefined) {
    return problem("unavailable", { retryAfterSeconds: AWAY_RETRY_SECONDS_MIN });
  }
  if (isHeadTooLarge(request.headers)) return problem("head-too-large");
  const asking = keepDripFresh(visit, event.event);
  if (asking !== undefined) await asking;
  const credentials = readCredentials(request.headers, { event: event.event, https });
  const check = await edge.admissions.check(credentials, event, now);
  if (check.kind === "cannot-verify") {
    return problem("unavailable", { retryAfterSeconds: AWAY_RETRY_SECONDS_MIN });
  }
  if (check.kind === "admitted") return passOn(visit, path, check);
  return deny(visit, { event, credentials, check });
}

function passOn(
  { edge, request, url, https }: Visit,
  path: string,
  admitted?: { readonly admission: string; readonly visitor: string },
): Promise<Response> {
  return forward(request, {
    originUrl: edge.config.originUrl,
    deadlineMs: edge.config.originDeadlineMs,
    target: path + url.search,
    public: { host: url.host, protocol: https ? "https" : "http" },
    admitted,
    fetch: edge.fetch,
  });
}

/** The path as it was sent: `URL` would already have resolved some of it. */
function rawPath(url: string): string {
  const from = url.indexOf("/", url.indexOf("://") + 3);
  if (from === -1) return "/";
  const end = url.slice(from).search(/[?#]/);
  return end === -1 ? url.slice(from) : url.slice(from, from + end);
}
