/**
 * Forwarding to the origin. Method, query, headers, streamed body, status, every `Set-Cookie`,
 * redirects and upgrades pass as they are: the origin's response object itself is returned, so that
 * nothing can be lost by copying it (EP-01 to EP-07).
 */
import { ADMISSION_HEADER, VISITOR_HEADER } from "@vestibule/contracts/names";
import { withoutOurCookies } from "../cookies.ts";
import { answerWithin } from "../deadline.system.ts";
import { problem } from "../problem.ts";
import type { Visit } from "../visit.ts";

/** Of the verified fan, for the shop's server. */
export interface Admitted {
  readonly admission: string;
  readonly visitor: string;
}

/**
 * The origin's answer, errors included. When the origin cannot be reached: 502; when it sends no
 * response head in time: 504. Neither is ever answered with the holding page (AO-10). Never rejects.
 * @param path as the origin is to see it; the query goes along as it is
 */
export function forward(visit: Visit, path: string, admitted?: Admitted): Promise<Response> {
  const { edge, request, address } = visit;
  const asked = edge.fetch(edge.config.originUrl + path + address.search, {
    method: request.method,
    headers: forwardedHeaders(visit, admitted),
    body: request.body,
    redirect: "manual",
  });
  return answerWithin(edge.config.originDeadlineMs, asked, {
    late: () => problem("origin-timeout", { retryAfterSeconds: 5 }),
    failed: () => problem("origin-unreachable", { retryAfterSeconds: 5 }),
  });
}

function forwardedHeaders({ head, address }: Visit, admitted: Admitted | undefined): Headers {
  const headers = new Headers(head.headers);
  // A client cannot claim to be admitted: only what was verified here is added below.
  for (const name of head.ours) headers.delete(name);
  if (head.cookie !== null) {
    const rest = withoutOurCookies(head.cookie);
    if (rest === undefined) headers.delete("cookie");
    else if (rest !== head.cookie) headers.set("cookie", rest);
  }
  headers.set("X-Forwarded-Host", address.host);
  headers.set("X-Forwarded-Proto", address.https ? "https" : "http");
  if (admitted !== undefined) {
    headers.set(ADMISSION_HEADER, admitted.admission);
    headers.set(VISITOR_HEADER, admitted.visitor);
  }
  return headers;
}
