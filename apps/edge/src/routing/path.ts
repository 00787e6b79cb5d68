/**
 * The one normalization of paths (design section 6). A path is read as the origin will read it, or it
 * is called ambiguous: what some servers decode once more, or split differently, is never guessed. What is forwarded is
 * the path as it was sent and the runtime's parser left it, which is one of the readings.
 */
import { DECODE_ROUNDS_MAX, PATH_CHARS_MAX } from "../limits.ts";

export interface ReadPath {
  /** Unreserved characters decoded, dot segments resolved, `//` merged, other escapes upper case. */
  readonly normal: string;
  /** What else an origin might make of it; empty when there is one reading only. */
  readonly otherReadings: readonly string[];
  /** Too long, or it holds a control character or a broken escape: never forwarded when protected. */
  readonly malformed: boolean;
  /** It has a `//`, which not every server takes for one `/`. */
  readonly isDoubled: boolean;
}

/** Almost every path is plain: no escape, no dot segment, no doubled slash, nothing to decide. */
const PLAIN = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9\-._~!$&'()*+,=:@]+)*\/?$/;

const NONE: readonly string[] = [];

/** A broken escape, a control character, or a byte that starts no character (RFC 3629 section 3). */
const BROKEN = /%(?![0-9A-Fa-f]{2})|%[01][0-9A-Fa-f]|%7[Ff]|%[Cc][01]/;

/** An ASCII character written with more bytes than it needs, which lax decoders still read as such. */
const OVERLONG =
  /(?:[\u00c0\u00c1]|\u00e0[\u0080\u0081]|\u00f0\u0080[\u0080\u0081]|\u00f8\u0080{2}[\u0080\u0081]|\u00fc\u0080{3}[\u0080\u0081])[^\u0100-\uffff]/g;

/**
 * @param raw the path as it was sent, from its first `/`, without query
 * @param parsed what the URL parser of the runtime made of it
 */
export function readPath(raw: string, parsed = raw): ReadPath {
  const plain = plainPath(raw);
  if (plain !== undefined) return plain;
  if (raw.length > PATH_CHARS_MAX) {
    const normal = raw.slice(0, PATH_CHARS_MAX);
    return { normal, otherReadings: [], malformed: true, isDoubled: false };
  }
  const malformed = BROKEN.test(raw) || hasControl(raw);
  const normal = resolve(decodeUnreserved(raw));
  const others = new Set<string>([resolve(decodeUnreserved(parsed))]);
  let isDoubled = false;
  // `;` starts a path parameter for some servers (RFC 3986 section 3.3): they route without it.
  for (let text = decodeUnreserved(raw), round = 0; round <= DECODE_ROUNDS_MAX; round += 1) {
    for (const form of [text, shortened(text)]) {
      const slashed = form.replaceAll("\\", "/");
      for (const reading of [form, slashed, slashed.replace(/;[^/]*/g, "")]) {
        others.add(resolve(reading));
      }
      isDoubled ||= slashed.includes("//");
      // Some take what follows a leading `//` for a host (RFC 3986 section 4.2).
      if (slashed.startsWith("//")) others.add(resolve(slashed.replace(/^\/+[^/]*/, "")));
    }
    const next = decodeOnce(text);
    if (next === text) break;
    text = next;
  }
  others.delete(normal);
  return { normal, otherReadings: [...others], malformed, isDoubled };
}

/** The reading of a plain path; `undefined` when it is not plain. */
export function plainPath(raw: string): ReadPath | undefined {
  if (raw.length > PATH_CHARS_MAX || !PLAIN.test(raw)) return undefined;
  const normal = raw === "" ? "/" : raw;
  return { normal, otherReadings: NONE, malformed: false, isDoubled: false };
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

/** `%64`, and `%u0064` as some servers read it. */
function decodeOnce(text: string): string {
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

/** Merges `//` and resolves dot segments (RFC 3986 section 5.2.4). */
function resolve(path: string): string {
  const out: string[] = [];
  const segments = path.split("/");
  const last = segments.at(-1);
  for (const segment of segments) {
    if (segment === "..") out.pop();
    else if (segment !== "" && segment !== ".") out.push(segment);
  }
  const folder = last === "" || last === "." || last === "..";
  return `/${out.join("/")}${folder && out.length > 0 ? "/" : ""}`;
}
