/** What somebody without a good admission gets: a page, a problem, or the answer to a preflight. */
import { EDGE_PREFIX } from "@vestibule/contracts/names";
import { PROBLEMS } from "@vestibule/contracts/problems";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { AdmissionCheck } from "./admission/admissions.ts";
import type { Credentials } from "./admission/credentials.ts";
import { AWAY_RETRY_SECONDS_MIN, WAITING_RETRY_SECONDS } from "./limits.ts";
import { holdingPage } from "./page/holding-page.ts";
import { clockWrong } from "./api/refusals.ts";
import { problem, refuse } from "./problem.ts";
import { wantsPage } from "./routing/accept.ts";
import { allowedOrigin, isPreflight, preflight, shareWith } from "./routing/cross-origin.ts";
import type { Visit } from "./visit.ts";

/**
 * Never a place in line, never a call to the mint; no 5xx unless we cannot verify at all, or not by our clock; a write
 * never gets a 2xx (HP-01).
 */
export async function deny(
  visit: Visit,
  found: { event: ManifestEvent; credentials: Credentials; check: AdmissionCheck },
): Promise<Response> {
  const { request } = visit;
  const { event } = found;
  const { edge } = visit;
  if (found.check.kind === "cannot-verify") {
    return refuse(edge, "unavailable", { retryAfterSeconds: AWAY_RETRY_SECONDS_MIN });
  }
  if (wantsPage(visit)) {
    const { holdingStatus } = event;
    edge.seen.counts.heldPage += 1;
    if (visit.method !== "POST") return holdingPage(visit, found);
    // A form that came too late or too early: it is not carried out, and never sent again by us.
    const code = found.check.kind === "wrong-clock" ? "clock-wrong" : "waiting";
    const status = holdingStatus < 400 ? PROBLEMS[code].status : holdingStatus;
    const page = await holdingPage(visit, { ...found, status, unsent: true });
    page.headers.set("Retry-After", String(WAITING_RETRY_SECONDS));
    return page;
  }
  const origin = allowedOrigin(request, event);
  if (isPreflight(request)) return preflight(request, origin);
  if (found.check.kind === "wrong-clock") {
    edge.seen.refused("clock-wrong");
    return shareWith(clockWrong(visit, { Vary: "Accept" }), origin);
  }
  edge.seen.counts.heldProblem += 1;
  const held = found.check.kind === "held";
  const refusal = problem("waiting", {
    detail: held
      ? "The sale is paused. Places in line are kept."
      : "Join the line, and come back with an admission when it is your turn.",
    retryAfterSeconds: WAITING_RETRY_SECONDS,
    extensions: {
      event: event.event,
      join: `${EDGE_PREFIX}/events/${event.event}/tickets`,
      drip: `${EDGE_PREFIX}/events/${event.event}/drip`,
    },
    headers: { Vary: "Accept" },
  });
  return shareWith(refusal, origin);
}
