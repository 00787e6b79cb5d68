/**
 * Who may call from where. The hosts of an event are the sites that belong together: a page of one may
 * call, and read the answers of, another. Everybody else gets no CORS header, and no action by cookie.
 */

/** Sites that belong together: those of an event, or of all events. */
interface Sites {
  readonly hosts: readonly string[];
}

/**
 * The exact `Origin` when it is a host of these, by the scheme of the sale itself: whoever can
 * change a plain-http page of the same host is not ours. `undefined` when absent or foreign, or when no site is known.
 */
export function allowedOrigin(request: Request, sites: Sites | undefined): string | undefined {
  const origin = request.headers.get("origin");
  if (origin === null || sites === undefined) return undefined;
  try {
    const url = new URL(origin);
    const known = sites.hosts.includes(url.host) && request.url.startsWith(`${url.protocol}//`);
    return known && url.origin === origin ? origin : undefined;
  } catch {
    return undefined;
  }
}

/** Adds what a page of an allowed origin needs to read this answer, refusals included (HP-04). */
export function shareWith(response: Response, origin: string | undefined): Response {
  const { headers } = response;
  headers.append("Vary", "Origin");
  if (origin === undefined) return response;
  headers.set("Access-Control-Allow-Origin", origin);
  headers.set("Access-Control-Allow-Credentials", "true");
  headers.set(
    "Access-Control-Expose-Headers",
    "Retry-After, Vestibule-Visitor, Vestibule-Ticket, Vestibule-Admission",
  );
  return response;
}

/** True for the question that a browser asks before a cross-origin request (Fetch standard). */
export function isPreflight(request: Request): boolean {
  return (
    request.method === "OPTIONS" &&
    request.headers.has("origin") &&
    request.headers.has("access-control-request-method")
  );
}

/** Answered here, also while everything behind it is held: a preflight carries no cookie (HP-03). */
export function preflight(request: Request, origin: string | undefined): Response {
  const response = new Response(null, { status: 204, headers: { "Cache-Control": "no-store" } });
  shareWith(response, origin);
  if (origin === undefined) return response;
  const method = request.headers.get("access-control-request-method") ?? "";
  const headers = request.headers.get("access-control-request-headers") ?? "";
  if (/^[A-Za-z]{1,16}$/.test(method)) response.headers.set("Access-Control-Allow-Methods", method);
  if (/^[A-Za-z0-9\-, ]{1,512}$/.test(headers)) {
    response.headers.set("Access-Control-Allow-Headers", headers);
  }
  response.headers.append("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers");
  return response;
}

/**
 * May this POST act by the cookies it carries? Browsers say where a POST comes from (`Sec-Fetch-Site`,
 * `Origin`). Whoever says neither is no browser of today: allowed without our cookies, and with them
 * only in a form that a page elsewhere could not have sent without asking (a JSON body).
 */
export function isSameSite(
  request: Request,
  { origin, sites, byCookie }: { origin: string; sites: Sites | undefined; byCookie: boolean },
): boolean {
  const { headers } = request;
  const sentFrom = headers.get("origin");
  if (sentFrom !== null && allowedOrigin(request, sites) !== undefined) return true;
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" && (sentFrom === null || sentFrom === origin);
  if (sentFrom !== null) return sentFrom === origin;
  return !byCookie || isJson(headers.get("content-type"));
}

/** `application/json`, with or without parameters. */
export function isJson(contentType: string | null): boolean {
  return contentType !== null && /^application\/json\s*(;|$)/i.test(contentType.trim());
}
