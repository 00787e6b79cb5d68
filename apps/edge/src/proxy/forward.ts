/**
 * Forwarding to the origin. Method, path, query, headers, streamed body, status, every `Set-Cookie`,
 * redirects and upgrades pass as they are: the origin's response object itself is returned, so that
 * nothing can be lost by copying it (EP-01 to EP-07). What the runtime does not carry stands in
 * docs/operating.md.
 */
import { ADMISSION_HEADER, VISITOR_HEADER } from "@vestibule/contracts/names";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { Answering } from "../answering.ts";
import { answerWithin } from "../deadline.system.ts";
import type { HeaderTexts } from "../head.ts";
import { ORIGIN_RETRY_SECONDS } from "../limits.ts";
import { refuse } from "../problem.ts";
import { allowedOrigin, shareWith } from "../routing/cross-origin.ts";
import type { Visit } from "../visit.ts";
import { clientBody, isWithoutBody } from "./client-body.ts";
import { sayKnown } from "./known-headers.ts";
import { addressOrigin, originBase } from "./origin-address.ts";
import { originAnswer } from "./origin-answer.ts";

const [ADMISSION, VISITOR] = [ADMISSION_HEADER.toLowerCase(), VISITOR_HEADER.toLowerCase()];

/** By these some servers take another method than the one that was asked with; some of them read `_` as `-`. */
const METHOD_OVERRIDE = /^x[-_](?:http[-_]method(?:[-_]override)?|method[-_]override)$/;

export interface Onward {
  /** The `Cookie` header, ours taken out. */
  readonly cookie: string | undefined;
  /** Of the verified fan, for the shop's server. */
  readonly admitted?: { readonly admission: string; readonly visitor: string };
  /** Whose pages may read our own refusals; those of any event when absent. */
  readonly event?: ManifestEvent;
  /** It passes for its method: the origin must not take another one. */
  readonly isForMethod?: boolean;
}

/**
 * The origin's answer, errors included. When the origin cannot be reached, or answers rubbish: 502; when it sends
 * no response head in time: 504. When the client's own body is malformed: 400; when it stops coming: 408. None is ever
 * answered with the holding page (AO-10). Never rejects.
 */
export function forward(visit: Visit, onward: Onward): Answering {
  const { edge, method, address } = visit;
  const { config } = edge;
  const body = clientBody(visit);
  const init: RequestInit = { headers: forwardedHeaders(visit, onward), redirect: "manual" };
  if (method !== "GET") init.method = method;
  if (body !== undefined) {
    init.body = body.stream;
    init.signal = body.broken;
  }
  addressOrigin(init, config);
  const asked = edge.fetch(originBase(config, address) + address.pathname + address.search, init);
  const answered = answerWithin(config.originDeadlineMs, asked, {
    moves: body?.moves,
    answered: (response) =>
      originAnswer(visit, response) ?? refusal(visit, onward, "origin-unreachable"),
    late: () =>
      refusal(visit, onward, body?.isAwaited() === true ? "request-timeout" : "origin-timeout"),
    failed: () =>
      refusal(visit, onward, body?.broken.aborted === true ? "bad-request" : "origin-unreachable"),
  });
  return answered as Answering;
}

type Refusal = "bad-request" | "origin-timeout" | "origin-unreachable" | "request-timeout";

/** The shop's own pages can read it, wherever among its hosts they are (HP-04). */
function refusal(visit: Visit, { event }: Onward, code: Refusal): Response {
  if (code === "origin-timeout" || code === "origin-unreachable") {
    visit.edge.seen.tell("originErrors", { kind: code, event: event?.event });
  }
  const refused = refuse(
    visit.edge,
    code,
    code === "bad-request"
      ? { detail: "The body did not arrive as it should have." }
      : { retryAfterSeconds: ORIGIN_RETRY_SECONDS },
  );
  return shareWith(refused, allowedOrigin(visit.request, event ?? visit.edge.routes()));
}

/**
 * A client cannot claim to be admitted, or to come by another address: what is known here is added. As
 * texts, which cost the runtime least; what texts would change is copied instead.
 */
function forwardedHeaders(visit: Visit, onward: Onward): HeaderTexts | Headers {
  const { head, method } = visit;
  const { others } = head;
  const isWithoutLength = head.length !== undefined && isWithoutBody(method);
  if (others !== undefined) {
    if (isWithoutLength) delete others["content-length"];
    if (onward.isForMethod === true) {
      for (const name of Object.keys(others)) if (METHOD_OVERRIDE.test(name)) delete others[name];
    }
    if (onward.cookie !== undefined) others["cookie"] = onward.cookie;
    return addKnown(others, visit, onward);
  }
  const headers = new Headers(head.headers);
  for (const name of head.claims) headers.delete(name);
  if (isWithoutLength) headers.delete("content-length");
  if (onward.isForMethod === true) {
    for (const name of [...headers.keys()]) if (METHOD_OVERRIDE.test(name)) headers.delete(name);
  }
  if (onward.cookie === undefined) headers.delete("cookie");
  else if (onward.cookie !== head.cookie) headers.set("cookie", onward.cookie);
  const known = Object.entries(addKnown({}, visit, onward));
  for (const [name, value] of known) headers.set(name, value);
  return headers;
}

function addKnown(texts: HeaderTexts, visit: Visit, { admitted }: Onward): HeaderTexts {
  sayKnown(texts, visit);
  if (admitted !== undefined) {
    texts[ADMISSION] = admitted.admission;
    texts[VISITOR] = admitted.visitor;
  }
  return texts;
}
