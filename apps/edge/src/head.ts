/** What the head of a request says to us. Read once: each look into `Headers` is a call into the runtime. */
import { CONNECTION_NAMES_MAX } from "./limits.ts";

/** Values by name, in lower case. */
export type HeaderTexts = Record<string, string>;

export interface Head {
  readonly headers: Headers;
  readonly cookie: string | null;
  /** `CF-Connecting-IP`: the client's address, as the network says. */
  readonly client: string | null;
  /** Names of the `Vestibule-*` headers that the client sent, lower case. Browsers send none. */
  readonly ours: readonly string[];
  /**
   * Names of the headers that are not forwarded: ours; those by which a proxy tells a server for whom, for which host
   * and for which path it asks (servers that read `_` as `-` read them all the same); and those that are for the next
   * hop only, which is us.
   */
  readonly claims: readonly string[];
  /** `Content-Length`, in bytes. */
  readonly length: number | undefined;
  /**
   * All the others but `Cookie`, to be forwarded as they are; theirs who forward, to add to. `undefined` when
   * text does not say it all: then they must be copied out of `headers`.
   */
  readonly others: HeaderTexts | undefined;
}

const CLAIM =
  /^(?:vestibule-|forwarded$|x-(?:forwarded(?:-|$)|original-|rewrite-url$|host$|real-ip$))/;
const [C, F, P, S, V, X] = [0x63, 0x66, 0x70, 0x73, 0x76, 0x78];

/** What `Connection` almost always says: it names no header that the runtime would not take out by itself. */
const PLAIN_CONNECTION = /^(?:keep-alive|close|upgrade|te|[\s,])*$/i;

/**
 * Headers that `Connection` may name and that are forwarded all the same: those that the network adds, which no client
 * can take away, those of the body's frame, and what the runtime reads itself.
 */
const NOT_FOR_ONE_HOP = /^(?:cf-|cdn-loop$|true-client-ip$|content-|cookie$|host$|upgrade$)/;

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** Stands in a text for bytes that are no UTF-8. */
const REPLACEMENT = "\ufffd";

const NONE: readonly string[] = [];

/** Without a prototype that any header's name could meet. A class, since V8 keeps objects of one small and quick. */
class Texts {
  readonly [name: string]: string;
}
Object.setPrototypeOf(Texts.prototype, null);

export function readHead(headers: Headers): Head {
  let cookie: string | null = null;
  let client: string | null = null;
  let ours: string[] | undefined;
  let claims: string[] | undefined;
  let length: number | undefined;
  let connection = "";
  let isText = true;
  const others: HeaderTexts = new Texts();
  // Not by an iterator, whose every step is an object of the runtime's.
  headers.forEach((value, name) => {
    const first = name.charCodeAt(0);
    if (value.includes(REPLACEMENT)) isText = false;
    if (first === C) {
      if (name === "cookie") {
        cookie = value;
        return;
      }
      if (name === "content-length") length = Number(value);
      else if (name === "cf-connecting-ip") client = value;
      else if (name === "connection") connection = value;
    } else if (first === V || first === X || first === F) {
      if (isClaim(name)) {
        (claims ??= []).push(name);
        if (name.startsWith("vestibule-")) (ours ??= []).push(name);
        return;
      }
    } else if (first === P && name === "proxy-connection") {
      (claims ??= []).push(name);
      return;
    } else if (first === S && name === "set-cookie") {
      // The one that may come several times and is never joined.
      isText = false;
    }
    others[name] = value;
  });
  const named = connection === "" ? NONE : headersForOneHop(connection);
  if (named.length > 0) {
    for (const name of named) delete others[name];
    claims = [...(claims ?? NONE), ...named];
  }
  return {
    headers,
    cookie,
    client,
    length,
    ours: ours ?? NONE,
    claims: claims ?? NONE,
    others: isText ? others : undefined,
  };
}

/** `null`: there is none. `name` in lower case, neither `cookie` nor one of those that are not forwarded. */
export function headerText({ headers, others }: Head, name: string): string | null {
  return others === undefined ? headers.get(name) : (others[name] ?? null);
}

/** Lower-case names of the headers that are for the next hop only, by what `Connection` says (RFC 9110 section 7.6.1). */
export function headersForOneHop(connection: string): readonly string[] {
  if (PLAIN_CONNECTION.test(connection)) return NONE;
  return connection
    .toLowerCase()
    .split(",", CONNECTION_NAMES_MAX)
    .map((name) => name.trim())
    .filter((name) => HEADER_NAME.test(name) && !NOT_FOR_ONE_HOP.test(name));
}

function isClaim(name: string): boolean {
  return CLAIM.test(name.replaceAll("_", "-"));
}
