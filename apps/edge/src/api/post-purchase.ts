/** `POST …/purchases`: verified here to keep junk away, then forwarded; the purchase API decides. */
import {
  ADMISSION_HEADER,
  IDEMPOTENCY_KEY_HEADER,
  VISITOR_HEADER,
} from "@vestibule/contracts/names";
import { isTokenShaped } from "@vestibule/contracts/header-text";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { CREDIT_SECONDS } from "@vestibule/contracts/limits";
import { readAtMost } from "@vestibule/feed/read-at-most";
import { readCredentials, readCredit } from "../admission/credentials.ts";
import { clearCookie } from "../cookies.ts";
import { isHeldForAll } from "@vestibule/token/cuts";
import { DeadlineError, withDeadline } from "../deadline.system.ts";
import { readJsonObject } from "../json-object.ts";
import { PURCHASE_DEADLINE_MS, UPSTREAM_BYTES_MAX, WAITING_RETRY_SECONDS } from "../limits.ts";
import { problem } from "../problem.ts";
import { isJson } from "../routing/cross-origin.ts";
import type { Visit } from "../visit.ts";
import { type Handover, handOver, refuseCrossSite } from "./answers.ts";
import { readText } from "./form.ts";
import { clockWrong, spreadSeconds } from "./refusals.ts";

/** Of the purchase API's answer, besides status and body. */
const PASSED_ON = ["Content-Type", "Retry-After", "RateLimit", "RateLimit-Policy", "Location"];

export async function postPurchase(visit: Visit, event: ManifestEvent): Promise<Response> {
  const { edge, request, now } = visit;
  const scope = { event: event.event, https: visit.address.https };
  const credentials = readCredentials(visit.head, scope);
  const crossSite = refuseCrossSite(visit, event, credentials);
  if (crossSite !== undefined) return crossSite;
  if (!isJson(request.headers.get("content-type"))) return problem("unsupported-media-type");
  const check = await edge.admissions.check(credentials, event, now);
  const held = { detail: "The sale is paused.", retryAfterSeconds: WAITING_RETRY_SECONDS };
  if (check.kind === "held") return problem("held", held);
  if (check.kind === "wrong-clock") return clockWrong(visit);
  if (check.kind !== "admitted") {
    return problem("admission-required", { headers: { "WWW-Authenticate": ADMISSION_HEADER } });
  }
  if (isHeldForAll(edge.feed.drip(event.event)?.claims)) return problem("held", held);
  const body = await readText(request);
  if (body instanceof Response) return body;
  const { answer, credit, isSold } = await send(visit, { event: event.event, body, ...check });
  if (credentials.tokenMode) return answer;
  // Whoever has bought needs no other turn.
  if (isSold === true && readCredit(visit.head, scope, credentials) !== undefined) {
    answer.headers.append("Set-Cookie", clearCookie("credit", scope));
  }
  if (credit === undefined) return answer;
  const until = now + CREDIT_SECONDS * 1000;
  const kept: Handover[] = [{ kind: "credit", value: credit, until }];
  return handOver(answer, kept, { visit, event, tokenMode: false });
}

interface Sold {
  readonly answer: Response;
  /** Given when the purchase failed by a fault of ours: the browser keeps it until it is claimed with. */
  readonly credit?: string;
  /** Bought now, or before with the same admission. */
  readonly isSold?: boolean;
}

interface Purchase {
  readonly event: string;
  readonly body: string;
  readonly admission: string;
  readonly visitor: string;
}

async function send(visit: Visit, purchase: Purchase): Promise<Sold> {
  const { edge, now } = visit;
  const { purchaseUrl } = edge.config;
  if (purchaseUrl === undefined) {
    return { answer: problem("unavailable", { retryAfterSeconds: 30 }) };
  }
  // It let a deadline pass a moment ago: nobody waits for it, but for one who finds out whether it is back.
  const circuit = edge.purchaseCircuit;
  if (circuit.state(now) !== "closed" && !circuit.probe(now)) return { answer: resting(visit) };
  edge.seen.counts.purchases += 1;
  const asking = ask(visit, purchaseUrl, purchase);
  // It goes on when the client hangs up: what became of it is for everybody to know, and a probe has to report.
  visit.background.waitUntil(asking);
  return asking;
}

/** Never rejects. */
async function ask(visit: Visit, purchaseUrl: string, purchase: Purchase): Promise<Sold> {
  const { edge, request } = visit;
  const circuit = edge.purchaseCircuit;
  const mark = circuit.mark();
  const headers = new Headers({
    "Content-Type": "application/json",
    Accept: "application/json",
    [ADMISSION_HEADER]: purchase.admission,
    [VISITOR_HEADER]: purchase.visitor,
  });
  const key = request.headers.get(IDEMPOTENCY_KEY_HEADER);
  if (key !== null) headers.set(IDEMPOTENCY_KEY_HEADER, key);
  try {
    const url = `${purchaseUrl}/v1/events/${purchase.event}/purchases`;
    const { answer, bytes } = await withDeadline(PURCHASE_DEADLINE_MS, async (signal) => {
      const answer = await edge.fetch(url, {
        ...{ method: "POST", headers, body: purchase.body, redirect: "manual", signal },
      });
      return { answer, bytes: await readAtMost(answer.body?.getReader(), UPSTREAM_BYTES_MAX) };
    });
    circuit.answered(edge.clock.now());
    const members = bytes && readJsonObject(new TextDecoder().decode(bytes));
    if (bytes === undefined || members === undefined) return { answer: away() };
    const response = new Response(bytes, { status: answer.status });
    for (const name of PASSED_ON) {
      const value = answer.headers.get(name);
      if (value !== null) response.headers.set(name, value);
    }
    response.headers.set("Cache-Control", "private, no-store");
    const { status } = answer;
    // Of a refusal: proof that it is our fault, or the order that there is already.
    const { credit, orderId } = members;
    return {
      answer: response,
      isSold: status === 201 || (status === 409 && orderId !== undefined),
      ...(status >= 500 && isTokenShaped(credit) ? { credit } : {}),
    };
  } catch (error) {
    const failedAt = edge.clock.now();
    if (error instanceof DeadlineError) circuit.timedOut(failedAt, mark);
    else circuit.answered(failedAt);
    return { answer: away() };
  }
}

/** Nothing was sent: the purchase API is not asked at the moment. */
function resting(visit: Visit): Response {
  return problem("unavailable", {
    detail: "Nothing was bought. Send this again in a moment.",
    retryAfterSeconds: spreadSeconds(visit),
  });
}

/** No answer, one that was cut off, that is longer than any of the purchase API's, or no JSON: a proxy's page before it. */
function away(): Response {
  return problem("unavailable", {
    detail: "Nothing was bought, or send this again with the same Idempotency-Key.",
    retryAfterSeconds: 5,
  });
}
