/**
 * Whether a form post comes from our own pages. Browsers say so in `Sec-Fetch-Site`, older ones in
 * `Origin`; a request with neither is no browser's, and carries nobody's cookies by accident.
 */
export function isSameSite(headers: {
  readonly secFetchSite: string | undefined;
  readonly origin: string | undefined;
  /** The host that the visitor sees: what the edge says, else the request's own. */
  readonly host: string | undefined;
}): boolean {
  const { secFetchSite, origin, host } = headers;
  if (secFetchSite !== undefined) return secFetchSite === "same-origin";
  if (origin === undefined) return true;
  return URL.parse(origin)?.host === host;
}
