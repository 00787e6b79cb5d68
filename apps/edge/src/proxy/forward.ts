/**
 * Forwarding to the origin. Method, query, headers, streamed body, status, every `Set-Cookie`,
 * redirects and upgrades pass as they are: the origin's response object itself is returned, so that
 * nothing can be lost by copying it (EP-01 to EP-07).
 */
import { ADMISSION_HEADER, VISITOR_HEADER } from "@vestibule/contracts/names";
import { answerWithin } from "../deadline.system.ts";
import { problem } from "../problem.ts";
import type { Visit } from "../visit.ts";
import { clientBody, isWithoutBody } from "./client-body.ts";

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
export function forward(visit: Visit, onward: Onward): Promise<Response> {
  const { edge, request, address } = visit;
  const body = clientBody(visit);
  const asked = edge.fetch(edge.config.originUrl + onward.path + address.search, {
    method: request.method,
    headers: forwardedHeaders(visit, onward),
    body: body.stream,
    redirect: "manual",
    signal: body.broken,
  });
  return answerWithin(edge.config.originDeadlineMs, asked, {
    late: () => problem("origin-timeout", { retryAfterSeconds: 5 }),
    failed: () =>
      body.broken?.aborted === true
        ? problem("bad-request", { detail: "The body did not arrive as it should have." })
        : problem("origin-unreachable", { retryAfterSeconds: 5 }),
  });
}

function forwardedHeaders(
  { request, head, address }: Visit,
  { cookie, admitted }: Onward,
): Headers {
  const headers = new Headers(head.headers);
  // A client cannot claim to be admitted, or to come by another address: what is known here is added below.
  for (const name of head.claims) headers.delete(name);
  if (head.hasLength && isWithoutBody(request)) headers.delete("Content-Length");
  if (cookie !== undefined && cookie !== head.cookie) headers.set("cookie", cookie);
  else if (cookie === undefined && head.cookie !== null) headers.delete("cookie");
  const client = headers.get("CF-Connecting-IP");
  if (client !== null) headers.set("X-Forwarded-For", client);
  headers.set("X-Forwarded-Host", address.host);
  headers.set("X-Forwarded-Proto", address.https ? "https" : "http");
  if (admitted !== undefined) {
    headers.set(ADMISSION_HEADER, admitted.admission);
    headers.set(VISITOR_HEADER, admitted.visitor);
  }
  return headers;
}
