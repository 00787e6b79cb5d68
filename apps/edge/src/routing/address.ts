/** The public address of a request, as the visitor sees it. */
import { type ReadPath, plainPath, readPath } from "./path.ts";

export interface Address {
  readonly https: boolean;
  /** Lower case, with a port that is not the scheme's own. */
  readonly host: string;
  readonly origin: string;
  /** As `URL` has it: dot segments resolved. */
  readonly pathname: string;
  /** With its `?`; empty when there is none. */
  readonly search: string;
  /** The path as it was sent, read. */
  readonly path: ReadPath;
}

/**
 * Addresses on which `URL` changes nothing, which is almost all: a name in lower case without `xn--` or
 * a last label that could be an IP address, a port of three or four digits that is not the scheme's own, a
 * plain path, a query of characters that need no escape.
 */
const PLAIN =
  /^(https?):\/\/((?![^/]*xn--)(?:[a-z0-9-]{1,63}\.)*[a-z][a-z0-9-]{0,62}(?::(?!443\/)[1-9][0-9]{2,3})?)(\/[^?#]*)(\?[A-Za-z0-9\-._~!$&()*+,=:@/?%;]+)?$/;

/** `undefined` when it is no address at all, as with `OPTIONS *`. */
export function readAddress(text: string): Address | undefined {
  const [, scheme, host, pathname, search = ""] = PLAIN.exec(text) ?? [];
  const path = pathname === undefined ? undefined : plainPath(pathname);
  if (host === undefined || pathname === undefined || path === undefined) return readUrl(text);
  const origin = `${scheme}://${host}`;
  return { https: scheme === "https", host, origin, pathname, search, path };
}

/** The same by the runtime's own parser, for everything unusual. */
export function readUrl(text: string): Address | undefined {
  try {
    const { protocol, host, origin, pathname, search } = new URL(text);
    const path = readPath(rawPath(text), pathname);
    return { https: protocol === "https:", host, origin, pathname, search, path };
  } catch {
    return undefined;
  }
}

/** The path as it was sent: `URL` would already have resolved some of it. */
function rawPath(url: string): string {
  const from = url.indexOf("/", url.indexOf("://") + 3);
  if (from === -1) return "/";
  const end = url.slice(from).search(/[?#]/);
  return end === -1 ? url.slice(from) : url.slice(from, from + end);
}
