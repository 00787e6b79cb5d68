/** What the head of a request says to us. Read once: each look into `Headers` is a call into the runtime. */

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
   * Names of the headers that are not forwarded: ours, and those by which a proxy tells a server for whom,
   * for which host and for which path it asks. Servers that read `_` as `-` read them all the same.
   */
  readonly claims: readonly string[];
  /** A `Content-Length` came along. */
  readonly hasLength: boolean;
  /**
   * All the others but `Cookie`, to be forwarded as they are; theirs who forward, to add to. `undefined` when
   * text does not say it all: then they must be copied out of `headers`.
   */
  readonly others: HeaderTexts | undefined;
}

const CLAIM =
  /^(?:vestibule-|forwarded$|x-(?:forwarded(?:-|$)|original-|rewrite-url$|host$|real-ip$))/;
const [C, F, S, V, X] = [0x63, 0x66, 0x73, 0x76, 0x78];

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
  let hasLength = false;
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
      if (name === "content-length") hasLength = true;
      else if (name === "cf-connecting-ip") client = value;
    } else if (first === V || first === X || first === F) {
      if (isClaim(name)) {
        (claims ??= []).push(name);
        if (name.startsWith("vestibule-")) (ours ??= []).push(name);
        return;
      }
    } else if (first === S && name === "set-cookie") {
      // The one that may come several times and is never joined.
      isText = false;
    }
    others[name] = value;
  });
  return {
    headers,
    cookie,
    client,
    hasLength,
    ours: ours ?? NONE,
    claims: claims ?? NONE,
    others: isText ? others : undefined,
  };
}

function isClaim(name: string): boolean {
  return CLAIM.test(name.replaceAll("_", "-"));
}
