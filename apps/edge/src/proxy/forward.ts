/**
 * Forwarding to the origin. Method, query, headers, streamed body, status, every `Set-Cookie`,
 * redirects and upgrades pass as they are: the origin's response object itself is returned, so that
 * nothing can be lost by copying it (EP-01 to EP-07). A header that was sent twice may arrive as one,
 * joined by a comma, and names in lower case: that means the same (RFC 9110 sections 5.1 and 5.3).
 */
import { ADMISSION_HEADER, VISITOR_HEADER } from "@vestibule/contracts/names";
import type { Answering } from "../answering.ts";
import { answerWithin } from "../deadline.system.ts";
import type { HeaderTexts } from "../head.ts";
import { problem } from "../problem.ts";
import type { Visit } from "../visit.ts";
import { clientBody, isWithoutBody } from "./client-body.ts";

const [ADMISSION, VISITOR] = [ADMISSION_HEADER.toLowerCase(), VISITOR_HEADER.toLowerCase()];

export interface Onward {
  /** As the origin is to see it; the query goes along as it is. */
  readonly path: string;
  /** The `Cookie` header, ours taken out. */
  readonly cookie: string | undefined;
  /** Of the verified fan, for the shop's server. */
  readonly admitted?: { readonly admission: string; readonly visitor: string };
}

/**
 * The origin's answer, errors included. When the origin cannot be reached: 502; when it sends no
 * response head in time: 504. When the client's own body is malformed: 400. None is ever answered with
 * the holding page (AO-10). Never rejects.
 */
export function forward(visit: Visit, onward: Onward): Answering {
  const { edge, method, address } = visit;
  const body = clientBody(visit);
  const url = edge.config.originUrl + onward.path + address.search;
  const headers = forwardedHeaders(visit, onward);
  const asked =
    method === "GET"
      ? edge.fetch(url, { headers, redirect: "manual" })
      : edge.fetch(url, {
          ...{ method, headers, redirect: "manual" },
          body: body.stream,
          signal: body.broken,
        });
  const answered = answerWithin(edge.config.originDeadlineMs, asked, {
    late() {
      return problem("origin-timeout", { retryAfterSeconds: 5 });
    },
    failed() {
      return body.broken?.aborted === true
        ? problem("bad-request", { detail: "The body did not arrive as it should have." })
        : problem("origin-unreachable", { retryAfterSeconds: 5 });
    },
  });
  return answered as Answering;
}

/**
 * A client cannot claim to be admitted, or to come by another address: what is known here is added. As
 * texts, which cost the runtime least; what texts would change is copied instead.
 */
function forwardedHeaders(visit: Visit, onward: Onward): HeaderTexts | Headers {
  const { head, method } = visit;
  const { others } = head;
  const isWithoutLength = head.hasLength && isWithoutBody(method);
  if (others !== undefined) {
    if (isWithoutLength) delete others["content-length"];
    if (onward.cookie !== undefined) others["cookie"] = onward.cookie;
    return addKnown(others, visit, onward);
  }
  const headers = new Headers(head.headers);
  for (const name of head.claims) headers.delete(name);
  if (isWithoutLength) headers.delete("content-length");
  if (onward.cookie === undefined) headers.delete("cookie");
  else if (onward.cookie !== head.cookie) headers.set("cookie", onward.cookie);
  const known = Object.entries(addKnown({}, visit, onward));
  for (const [name, value] of known) headers.set(name, value);
  return headers;
}

function addKnown(texts: HeaderTexts, { head, address }: Visit, { admitted }: Onward): HeaderTexts {
  if (head.client !== null) texts["x-forwarded-for"] = head.client;
  texts["x-forwarded-host"] = address.host;
  texts["x-forwarded-proto"] = address.https ? "https" : "http";
  if (admitted !== undefined) {
    texts[ADMISSION] = admitted.admission;
    texts[VISITOR] = admitted.visitor;
  }
  return texts;
}
