/**
 * Forwarding to the origin. Method, query, headers, streamed body, status, every `Set-Cookie`,
 * redirects and upgrades pass as they are: the origin's response object itself is returned, so that
 * nothing can be lost by copying it (EP-01 to EP-07).
 */
import { ADMISSION_HEADER, VISITOR_HEADER } from "@vestibule/contracts/names";
import { withoutOurCookies } from "../cookies.ts";
import { settledWithin } from "../deadline.system.ts";
import { problem } from "../problem.ts";

export interface ForwardOptions {
  readonly originUrl: string;
  readonly deadlineMs: number;
  /** Path and query as the origin is to see them. */
  readonly target: string;
  /** As the visitor sees it: goes into `X-Forwarded-Host` and `X-Forwarded-Proto`. */
  readonly public: { readonly host: string; readonly protocol: string };
  /** Of the verified fan, for the shop's server. */
  readonly admitted: { readonly admission: string; readonly visitor: string } | undefined;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/**
 * The origin's answer, errors included. When the origin cannot be reached: 502; when it sends no
 * response head in time: 504. Neither is ever answered with the holding page (AO-10).
 */
export async function forward(request: Request, options: ForwardOptions): Promise<Response> {
  const { originUrl, target, deadlineMs } = options;
  const init: RequestInit = {
    method: request.method,
    headers: forwardedHeaders(request.headers, options),
    body: request.body,
    redirect: "manual",
  };
  try {
    const answer = await settledWithin(deadlineMs, options.fetch(originUrl + target, init));
    return answer ?? problem("origin-timeout", { retryAfterSeconds: 5 });
  } catch {
    return problem("origin-unreachable", { retryAfterSeconds: 5 });
  }
}

function forwardedHeaders(from: Headers, options: ForwardOptions): Headers {
  const headers = new Headers(from);
  // A client cannot claim to be admitted: only what was verified here is added below.
  for (const name of from.keys()) {
    if (name.startsWith("vestibule-")) headers.delete(name);
  }
  const cookies = from.get("cookie");
  if (cookies !== null) {
    const rest = withoutOurCookies(cookies);
    if (rest === undefined) headers.delete("cookie");
    else if (rest !== cookies) headers.set("cookie", rest);
  }
  headers.set("X-Forwarded-Host", options.public.host);
  headers.set("X-Forwarded-Proto", options.public.protocol);
  if (options.admitted !== undefined) {
    headers.set(ADMISSION_HEADER, options.admitted.admission);
    headers.set(VISITOR_HEADER, options.admitted.visitor);
  }
  return headers;
}
