/** The request table of design section 6, from the hottest row to the rarest. */
import { EDGE_PREFIX } from "@vestibule/contracts/names";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { AdmissionCheck } from "./admission/admissions.ts";
import { isHeadTooLarge } from "./admission/credentials.ts";
import { type Scope, type Shown, cookieLeft } from "./admission/shown.ts";
import { type Answering, answering, broken } from "./answering.ts";
import { api } from "./api/app.ts";
import { type DripPoll, createDripPoll, pollStaleMs } from "./drip-poll.ts";
import { AWAY_RETRY_SECONDS_MIN } from "./limits.ts";
import { refuse } from "./problem.ts";
import { forward } from "./proxy/forward.ts";
import { deny } from "./deny.ts";
import { pass, withoutService } from "./pass.ts";
import { allowedOrigin, shareWith } from "./routing/cross-origin.ts";
import type { RouteTable } from "./routing/route-table.ts";
import {
  type Background,
  type Called,
  type Edge,
  type Visit,
  atItsTime,
  findEvent,
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
      const { url, method } = request;
      const polled = poll.eventOf({ url, method });
      if (polled !== undefined) {
        const hit = poll.answer(request, polled, { now, background });
        if (hit !== undefined) return hit;
      }
      // As in `answering`, for what breaks before anything is waited for.
      try {
        const answered = answer(edge, poll, { request, url, method, background, now, polled });
        if (edge.seen.turn(now)) background.waitUntil(flushAfter(answered, edge));
        return answered;
      } catch (error) {
        return broken({ edge, request }, error);
      }
    },
  };
}

/** What this request adds is written too, where requests are rare. */
async function flushAfter(answered: Response | Answering, { seen }: Edge): Promise<void> {
  await answered;
  seen.flush();
}

/**
 * No promise where nothing is waited for: an admitted fan is on the way to the origin at once. On that way no
 * function is made that is given to a name either: the bundler keeps names, by a call for each.
 */
function answer(
  edge: Edge,
  poll: DripPoll,
  call: Called & { polled: string | undefined },
): Response | Answering {
  const { polled } = call;
  const visit = readVisit(edge, call);
  if (visit === undefined)
    return refuse(edge, "bad-request", { detail: "The address is not valid." });
  const asking = edge.feed.isLearnt ? keepFresh(visit) : learn(visit);
  if (polled !== undefined)
    return answering(visit, answerCold(poll, visit, { name: polled, asking }));
  return asking === undefined
    ? route(visit)
    : answering(
        visit,
        asking.then(() => route(atItsTime(visit))),
      );
}

/** A location that has never seen a manifest knows nothing to go by; nor one that has not asked what time it is. */
async function learn(visit: Visit): Promise<void> {
  const { edge, background, now } = visit;
  const first = Promise.all([
    edge.feed.whenKnown("keys", now),
    edge.feed.whenKnown("manifest", now),
    edge.feed.clock.whenAsked(),
  ]);
  // It goes on when this client hangs up: others may be waiting for what it finds.
  background.waitUntil(first);
  await first;
}

async function answerCold(
  poll: DripPoll,
  asked: Visit,
  { name, asking }: { name: string; asking: Promise<unknown> | undefined },
): Promise<Response> {
  await asking;
  const visit = atItsTime(asked);
  const { edge, request, now, background } = visit;
  const away = () => refuse(edge, "unavailable", { retryAfterSeconds: AWAY_RETRY_SECONDS_MIN });
  const event = await findEvent(visit, name);
  if (event === undefined) {
    const routes = edge.routes();
    if (routes === undefined) return away();
    return shareWith(refuse(edge, "event-not-found"), allowedOrigin(request, routes));
  }
  const before = edge.feed.drip(name);
  await edge.feed.whenKnown(`drip:${name}`, now);
  await keepDripFresh(visit, name, pollStaleMs(edge.feed.drip(name), now));
  const found = poll.answer(request, name, { now, background, waited: true });
  if (found === undefined) return shareWith(away(), allowedOrigin(request, event));
  const isNews = edge.feed.drip(name) !== before;
  const why = before === undefined ? "miss" : "stale";
  found.headers.set("Cache-Status", `vestibule; fwd=${why}; ${isNews ? "stored" : "detail=kept"}`);
  return found;
}

function route(visit: Visit): Response | Answering {
  const { edge, request, method, address, now } = visit;
  const { path, pathname } = address;
  if (pathname === EDGE_PREFIX || pathname.startsWith(`${EDGE_PREFIX}/`)) {
    const answered = api.fetch(request, visit);
    return answered instanceof Promise ? answering(visit, answered) : answered;
  }
  const routes = edge.routes();
  if (routes === undefined) {
    // Nothing is open by accident (law 10): what is protected is not known yet.
    return refuse(edge, "unavailable", { retryAfterSeconds: AWAY_RETRY_SECONDS_MIN });
  }
  const host = withoutRootDot(address.host);
  const found = routes.match({ host, path, method, now });
  switch (found.kind) {
    case "open": {
      const { exemption } = found;
      const cookie = cookieLeft(visit.head);
      if (exemption === undefined) return forward(visit, { cookie });
      edge.exempted.count(exemption);
      return forward(withoutService(visit), { cookie, isForMethod: exemption.isForMethod });
    }
    case "ambiguous":
      return unroutable(
        visit,
        routes,
        "The path is too long or broken, or can be read in more than one way.",
      );
    case "unknown-host":
      return unroutable(visit, routes, "No event is on sale under this host name.");
    case "protected": {
      const { event, conditional: rules } = found;
      if (rules === undefined) return guard(withoutService(visit), event);
      return pass(visit, { event: event.event, rules }, (left) => guard(left, event));
    }
  }
}

function unroutable({ edge, request }: Visit, routes: RouteTable, detail: string): Response {
  return shareWith(refuse(edge, "bad-request", { detail }), allowedOrigin(request, routes));
}

/** `shop.example.` and `shop.example` are the same host. */
function withoutRootDot(host: string): string {
  const mayHave = host.endsWith(".") || host.includes(".:");
  return mayHave ? host.replace(/\.(?=:\d+$|$)/, "") : host;
}

function guard(visit: Visit, event: ManifestEvent): Response | Answering {
  const { edge, head, now } = visit;
  if (!edge.verifies || edge.feed.keys(now) === undefined) {
    const away = refuse(edge, "unavailable", { retryAfterSeconds: AWAY_RETRY_SECONDS_MIN });
    return shareWith(away, allowedOrigin(visit.request, event));
  }
  if (isHeadTooLarge(head)) {
    return shareWith(refuse(edge, "head-too-large"), allowedOrigin(visit.request, event));
  }
  const asking = keepDripFresh(visit, event.event);
  return asking === undefined
    ? check(visit, event)
    : answering(
        visit,
        asking.then(() => check(atItsTime(visit), event)),
      );
}

interface Asked {
  readonly event: ManifestEvent;
  readonly scope: Scope;
  readonly shown: Shown;
}

function check(visit: Visit, event: ManifestEvent): Answering {
  const { edge, address, head, now } = visit;
  const scope = { event: event.event, https: address.https };
  const shown = edge.shown.read(head, scope);
  const asked = { event, scope, shown };
  const found = edge.admissions.check(shown.credentials, event, now);
  return found instanceof Promise
    ? answering(
        visit,
        found.then((later) => decide(visit, asked, later)),
      )
    : decide(visit, asked, found);
}

function decide(visit: Visit, { event, scope, shown }: Asked, found: AdmissionCheck): Answering {
  const { credentials, cookieLeft: cookie } = shown;
  if (found.kind !== "admitted")
    return answering(visit, deny(visit, { event, credentials, check: found }));
  const { edge } = visit;
  edge.seen.counts.admitted += 1;
  edge.shown.keep(visit.head, scope, shown);
  return forward(visit, { cookie, admitted: found, event });
}
