/** The edge's own endpoints, below `/_vestibule`. One file per verb. */
import { Hono } from "hono/tiny";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { brokenPlain } from "../answering.ts";
import { isHeadTooLarge } from "../admission/credentials.ts";
import { codeOf, problem, timing } from "../problem.ts";
import { allowedOrigin, isPreflight, preflight, shareWith } from "../routing/cross-origin.ts";
import { type Visit, findEvent, keepDripFresh } from "../visit.ts";
import { getAlerts } from "./get-alerts.ts";
import { getEvent } from "./get-event.ts";
import { getHealth } from "./get-health.ts";
import { getMe } from "./get-me.ts";
import { postLanguage } from "./post-language.ts";
import { leave } from "./leave.ts";
import { postAdmission } from "./post-admission.ts";
import { postPurchase } from "./post-purchase.ts";
import { postTicket } from "./post-ticket.ts";

type Verb = (visit: Visit, event: ManifestEvent) => Response | Promise<Response>;

export const api: Hono<{ Bindings: Visit }> = new Hono<{ Bindings: Visit }>();

/** Every refusal is counted, by its code. */
api.use(async (c, next) => {
  await next();
  c.env.edge.seen.refused(codeOf(c.res));
});
/**
 * An event's own pages can read whatever is answered about it, refusals included (HP-04); that there is no such event,
 * the pages of any.
 */
api.use("/_vestibule/events/:event/*", async (c, next) => {
  const { request, edge } = c.env;
  const event = await findEvent(c.env, c.req.param("event"));
  const origin = allowedOrigin(request, event ?? edge.routes());
  if (isPreflight(request)) return preflight(request, origin);
  await next();
  shareWith(c.res, origin);
  return undefined;
});
api.use((c, next) =>
  isHeadTooLarge(c.env.head) ? Promise.resolve(problem("head-too-large")) : next(),
);
api.get("/_vestibule/health", (c) => getHealth(c.env));
endpoint("", { GET: (_visit, event) => getEvent(event) });
endpoint("/tickets", { POST: postTicket });
endpoint("/me", { GET: getMe, DELETE: leave });
endpoint("/leave", { POST: leave });
endpoint("/admissions", { POST: postAdmission });
endpoint("/purchases", { POST: postPurchase });
api.all("/_vestibule/events/:event/drip", () => methodNotAllowed("GET, HEAD"));
api.all("/_vestibule/health", () => methodNotAllowed("GET"));
api.get("/_vestibule/alerts.js", () => getAlerts());
api.all("/_vestibule/alerts.js", () => methodNotAllowed("GET, HEAD"));
api.post("/_vestibule/language", (c) => postLanguage(c.env));
api.all("/_vestibule/language", () => methodNotAllowed("POST"));
api.notFound(() => problem("not-found"));
api.onError((error, c) => brokenPlain(c.env.edge, error));

function endpoint(path: string, verbs: Readonly<Record<string, Verb>>): void {
  api.all(`/_vestibule/events/:event${path}`, async (c) => {
    const visit = c.env;
    const routes = visit.edge.routes();
    if (routes === undefined || !visit.edge.verifies) {
      return problem("unavailable", { retryAfterSeconds: 5 });
    }
    const event = routes.event(c.req.param("event"));
    if (event === undefined) return problem("event-not-found");
    const verb = verbs[isHead(visit) ? "GET" : visit.method];
    if (verb === undefined) return methodNotAllowed(Object.keys(verbs).join(", "));
    await keepDripFresh(visit, event.event);
    const answer = await verb(visit, event);
    if (!answer.headers.has("server-timing"))
      answer.headers.set("Server-Timing", timing(path.slice(1) || "event"));
    return answer;
  });
}

function isHead({ method }: Visit): boolean {
  return method === "HEAD";
}

function methodNotAllowed(allow: string): Response {
  return problem("method-not-allowed", { headers: { Allow: allow } });
}
