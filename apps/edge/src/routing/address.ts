/** The public address of a request, as the visitor sees it. */
import { type ReadPath, plainPath, readPath } from "./path.ts";

export interface Address {
  readonly https: boolean;
  /** Lower case, with a port that is not the scheme's own. */
  readonly host: string;
  readonly origin: string;
  /** As `URL` has it: dot segments resolved. */
  readonly pathname: string;
  /** With its `?`, which may stand alone; empty when there is none. */
  readonly search: string;
  /** The path as it was sent, read. */
  readonly path: ReadPath;
}

/*
 * Addresses on which `URL` changes nothing, which is almost all: a name in lower case without `xn--` or
 * a last label that could be an IP address, a port of three or four digits that is not the scheme's own, a
 * plain path, a query of characters that need no escape.
 */
const PLAIN_ORIGIN =
  /^(https?):\/\/((?!.*xn--)(?:[a-z0-9-]{1,63}\.)*[a-z][a-z0-9-]{0,62}(?::(?!443$)[1-9][0-9]{2,3})?)$/;
const PLAIN_SEARCH = /^\?[A-Za-z0-9\-._~!$&()*+,=:@/?%;]+$/;

/** The least that an origin takes: `http://` and a letter. */
const ORIGIN_CHARS_MIN = 8;

type PlainOrigin = Pick<Address, "https" | "host" | "origin">;

/** Most requests of an isolate are for one origin: the last plain one is not taken apart again. */
let last: PlainOrigin | undefined;

/** `undefined` when it is no address at all, as with `OPTIONS *`. */
export function readAddress(text: string): Address | undefined {
  const slash = text.indexOf("/", ORIGIN_CHARS_MIN);
  if (slash === -1) return readUrl(text);
  const plain = plainOrigin(text, slash);
  if (plain === undefined) return readUrl(text);
  const query = text.indexOf("?", slash);
  const pathname = query === -1 ? text.slice(slash) : text.slice(slash, query);
  const search = query === -1 ? "" : text.slice(query);
  const path = plainPath(pathname);
  if (path === undefined || (search !== "" && !PLAIN_SEARCH.test(search))) return readUrl(text);
  const { https, host, origin } = plain;
  return { https, host, origin, pathname, search, path };
}

/** What `text` says before its path, which begins at `slash`; `undefined` when it is not plain. */
function plainOrigin(text: string, slash: number): PlainOrigin | undefined {
  if (last?.origin.length === slash && text.startsWith(last.origin)) return last;
  const origin = text.slice(0, slash);
  const [, scheme, host] = PLAIN_ORIGIN.exec(origin) ?? [];
  if (host === undefined) return undefined;
  last = { https: scheme === "https", host, origin };
  return last;
}

/** The same by the runtime's own parser, for everything unusual. */
export function readUrl(text: string): Address | undefined {
  try {
    const { protocol, host, origin, pathname, href } = new URL(text);
    const path = readPath(rawPath(text), pathname);
    // `URL.search` says nothing of a `?` with nothing behind it.
    const search = /^[^?#]*(\?[^#]*)/.exec(href)?.[1] ?? "";
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
