/** What the head of a request says to us. Read once: each look into `Headers` is a call into the runtime. */

export interface Head {
  readonly headers: Headers;
  readonly cookie: string | null;
  /** Names of the `Vestibule-*` headers that the client sent, lower case. Browsers send none. */
  readonly ours: readonly string[];
  /**
   * Names of the headers that are not forwarded: ours, and those by which a proxy tells a server for whom,
   * for which host and for which path it asks. Servers that read `_` as `-` read them all the same.
   */
  readonly claims: readonly string[];
  /** A `Content-Length` came along. */
  readonly hasLength: boolean;
}

const CLAIM =
  /^(?:vestibule-|forwarded$|x-(?:forwarded(?:-|$)|original-|rewrite-url$|host$|real-ip$))/;
const [C, F, V, X] = [0x63, 0x66, 0x76, 0x78];

const NONE: readonly string[] = [];

export function readHead(headers: Headers): Head {
  let ours: string[] | undefined;
  let claims: string[] | undefined;
  let hasLength = false;
  for (const name of headers.keys()) {
    const first = name.charCodeAt(0);
    if (first === C) hasLength ||= name === "content-length";
    else if ((first === V || first === X || first === F) && isClaim(name)) {
      (claims ??= []).push(name);
      if (name.startsWith("vestibule-")) (ours ??= []).push(name);
    }
  }
  const cookie = headers.get("cookie");
  return { headers, cookie, ours: ours ?? NONE, claims: claims ?? NONE, hasLength };
}

function isClaim(name: string): boolean {
  return CLAIM.test(name.replaceAll("_", "-"));
}
