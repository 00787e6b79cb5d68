/**
 * The one normalization of paths (design section 6). A path is read as the origin will read it, or it
 * is called ambiguous: what some servers decode once more, or split differently, is never guessed. What is forwarded is
 * the path as it was sent and the runtime's parser left it, which is one of the readings.
 */
import { DECODE_ROUNDS_MAX, PATH_CHARS_MAX, READINGS_MAX } from "../limits.ts";

export interface ReadPath {
  /** Unreserved characters decoded, dot segments resolved, `//` merged, other escapes upper case. */
  readonly normal: string;
  /** What else an origin might make of it; empty when there is one reading only. */
  readonly otherReadings: readonly string[];
  /** It holds a control character or a byte that cannot be: never forwarded when protected. */
  readonly malformed: boolean;
  /** Too long, broken, or too much disguised, to be read in full: it may be anything. */
  readonly isUnread: boolean;
  /** It has a `//`, which not every server takes for one `/`. */
  readonly isDoubled: boolean;
}

/** Almost every path is plain: no escape, no doubled slash, and no segment that ends in a dot; nothing to decide. */
const PLAIN = /^(?:\/[A-Za-z0-9\-._~!$&'()*+,=:@]+)*\/?$/;

const NONE: readonly string[] = [];

/** No path at all (RFC 3986 section 2.1): each decoder makes something else of it. */
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

/** A control character, or a byte that starts no character (RFC 3629 section 3). */
const BROKEN = /%[01][0-9A-Fa-f]|%7[Ff]|%[Cc][01]/;

/** An ASCII character written with more bytes than it needs, which lax decoders still read as such. */
const OVERLONG =
  /(?:[\u00c0\u00c1]|\u00e0[\u0080\u0081]|\u00f0\u0080[\u0080\u0081]|\u00f8\u0080{2}[\u0080\u0081]|\u00fc\u0080{3}[\u0080\u0081])[^\u0100-\uffff]/g;

/**
 * @param raw the path as it was sent, from its first `/`, without query
 * @param parsed what the URL parser of the runtime made of it, which is what is forwarded
 */
export function readPath(raw: string, parsed = raw): ReadPath {
  const plain = plainPath(raw);
  if (plain !== undefined) return plain;
  const unread = {
    normal: "/",
    otherReadings: NONE,
    malformed: true,
    isDoubled: false,
    isUnread: true,
  };
  if (raw.length > PATH_CHARS_MAX || BROKEN_ESCAPE.test(raw)) return unread;
  const malformed = BROKEN.test(raw) || hasControl(raw);
  const normal = resolve(decodeUnreserved(raw));
  const others = new Set<string>();
  let isDoubled = false;
  const sent = new Set([raw, parsed]);
  let texts = new Set([...sent].map(decodeUnreserved));
  const seen = new Set<string>();
  let left = READINGS_MAX;
  for (let round = 0; round <= DECODE_ROUNDS_MAX && texts.size > 0; round += 1) {
    const next = new Set<string>();
    for (const form of formsOf(texts)) {
      if (seen.has(form)) continue;
      seen.add(form);
      isDoubled ||= form.includes("//");
      for (const reading of readingsOf(form)) others.add(reading);
      left -= 1;
      if (left === 0) return unread;
      for (const decoded of [decodeOnce(form), decodeUnicode(form)]) {
        if (decoded !== form) next.add(decoded);
      }
    }
    texts = next;
  }
  others.delete(normal);
  return { normal, otherReadings: [...others], malformed, isDoubled, isUnread: false };
}

/** What servers make of texts before they decode them once more. */
function formsOf(texts: ReadonlySet<string>): ReadonlySet<string> {
  const forms = new Set<string>();
  for (const text of texts) {
    for (const form of [text, shortened(text)]) {
      const slashed = form.replaceAll("\\", "/");
      for (const path of [form, slashed]) forms.add(path).add(withoutParameters(path));
    }
  }
  return forms;
}

/** What path they find in it then: each of these habits alone, and together. */
function* readingsOf(form: string): Iterable<string> {
  // Some take what follows a leading `//` for a host (RFC 3986 section 4.2).
  const local = form.startsWith("//") ? [form.replace(/^\/+[^/]*/, "")] : NONE;
  for (const path of [form, ...local]) {
    for (const reading of new Set([path, withoutTrailing(path)])) {
      yield resolve(reading);
      if (reading.includes("//")) yield resolve(reading, { isEmptyCounted: true });
    }
  }
}

/** The reading of a plain path; `undefined` when it is not plain. */
export function plainPath(raw: string): ReadPath | undefined {
  if (raw.length > PATH_CHARS_MAX || raw.includes("./") || raw.endsWith(".")) return undefined;
  if (!PLAIN.test(raw)) return undefined;
  const normal = raw === "" ? "/" : raw;
  return { normal, otherReadings: NONE, malformed: false, isDoubled: false, isUnread: false };
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** RFC 3986 section 6.2.2: escapes of unreserved characters mean the character itself. */
function decodeUnreserved(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}/g, (escape) => {
    const char = String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(char) ? char : escape.toUpperCase();
  });
}

/** Each byte a character. */
export function decodeOnce(text: string): string {
  return text.replace(/%[0-9A-Fa-f]{2}/g, (escape) =>
    String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
  );
}

/** The same with `%u0064`, as some servers read it. */
function decodeUnicode(text: string): string {
  if (!/%u/i.test(text)) return decodeOnce(text);
  return text.replace(/%(?:[uU][0-9A-Fa-f]{4}|[0-9A-Fa-f]{2})/g, (escape) =>
    String.fromCharCode(Number.parseInt(escape.replace(/^%[uU]?/, ""), 16)),
  );
}

function shortened(text: string): string {
  return text.replace(OVERLONG, (form) => {
    const [lead, tail] = [form.charCodeAt(form.length - 2), form.charCodeAt(form.length - 1)];
    return String.fromCharCode(((lead & 1) << 6) | (tail & 0x3f));
  });
}

/** `;` starts a path parameter for some servers (RFC 3986 section 3.3): they route without it. */
function withoutParameters(text: string): string {
  return text.replace(/;[^/]*/g, "");
}

/** Names of files in Windows do not end in dots or spaces. */
function withoutTrailing(text: string): string {
  return text.replace(/([^/. ])[. ]+(?=\/|$)/g, "$1");
}

/**
 * Resolves dot segments (RFC 3986 section 5.2.4) and merges `//`: before that, or where `..` takes away an empty segment
 * like any other (`isEmptyCounted`), behind it.
 */
function resolve(path: string, { isEmptyCounted } = { isEmptyCounted: false }): string {
  const out: string[] = [];
  const segments = path.split("/");
  const last = segments.at(-1);
  for (const segment of segments) {
    if (segment === "..") out.pop();
    else if (segment !== "." && (segment !== "" || isEmptyCounted)) out.push(segment);
  }
  const folder = last === "" || last === "." || last === "..";
  const left = isEmptyCounted ? out.filter((segment) => segment !== "") : out;
  return `/${left.join("/")}${folder && left.length > 0 ? "/" : ""}`;
}
