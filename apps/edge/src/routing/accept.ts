/** Content negotiation (RFC 9110 section 12.5.1) for one question: a page, or a problem document? */
import { type Head, headerText } from "../head.ts";
import { ACCEPTS_MAX, ACCEPT_CHARS_MAX, ACCEPT_PARTS_MAX } from "../limits.ts";

/** One part of an accept header: what it names, in lower case, and how well it is liked, 0 to 1. */
export interface Range {
  readonly name: string;
  readonly q: number;
}

/**
 * True when a page is what the client prefers: HTML is acceptable, and it is either liked better than
 * JSON or named as such. Thus a wildcard or no header at all, which is what scripts send, gets JSON.
 */
export function prefersPage(accept: string | null): boolean {
  if (accept === null) return false;
  const ranges = accept.split(",", ACCEPT_PARTS_MAX).map(parseRange);
  // A wildcard that takes in every format of applications says nothing of pages: XHTML must be named.
  const xhtml = ranges.filter(({ name }) => name === "application/xhtml+xml");
  const html = Math.max(quality(ranges, "text/html"), quality(xhtml, "application/xhtml+xml"));
  const json = Math.max(
    quality(ranges, "application/json"),
    quality(ranges, "application/problem+json"),
  );
  if (html <= 0) return false;
  if (html !== json) return html > json;
  return ranges.some(
    ({ name, q }) => q > 0 && /^(text\/html|text\/\*|application\/xhtml\+xml)$/.test(name),
  );
}

/** The most specific range decides; ranges that do not name the type count as 0. */
function quality(ranges: readonly Range[], type: string): number {
  const group = `${type.split("/", 1)[0]}/*`;
  for (const wanted of [type, group, "*/*"]) {
    const found = ranges.filter(({ name }) => name === wanted);
    if (found.length > 0) return Math.max(...found.map(({ q }) => q));
  }
  return 0;
}

export function parseRange(part: string): Range {
  const [range = "", ...parameters] = part.split(";");
  let q = 1;
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=", 2);
    if (name.trim().toLowerCase() === "q") q = parseQuality(value.trim());
  }
  return { name: range.trim().toLowerCase(), q };
}

function parseQuality(text: string): number {
  return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(text) ? Number(text) : 0;
}

/** Destinations of a fetch that show a document (Fetch Metadata). */
const DOCUMENTS = new Set(["document", "iframe", "frame", "fencedframe"]);

/** Methods by which a browser goes to a page: a link, a look at its head, a form. */
const NAVIGATING = new Set(["GET", "HEAD", "POST"]);

/**
 * A browser on its way to a page, also by a form: it wants HTML, and it is not the sub-resource of another page
 * (HP-12) nor a script's.
 */
export function wantsPage({ method, head }: { method: string; head: Head }): boolean {
  if (!NAVIGATING.has(method)) return false;
  if (headerText(head, "upgrade") !== null) return false;
  const mode = headerText(head, "sec-fetch-mode");
  if (method === "POST" && mode !== null && mode !== "navigate") return false;
  const destination = headerText(head, "sec-fetch-dest");
  if (destination !== null && !DOCUMENTS.has(destination)) return false;
  const accept = headerText(head, "accept");
  if (accept === null) return false;
  let prefers = known.get(accept);
  if (prefers === undefined) {
    prefers = prefersPage(accept);
    if (known.size < ACCEPTS_MAX && accept.length <= ACCEPT_CHARS_MAX) known.set(accept, prefers);
  }
  return prefers;
}

/** What browsers send is always the same few texts. */
const known = new Map<string, boolean>();
