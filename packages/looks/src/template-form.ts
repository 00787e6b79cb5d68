/**
 * The form in which a checked template is kept: what a location asks of it before it writes it into a page. Whatever has this form
 * loads nothing, runs nothing, sends nothing, and closes no element of ours.
 */

export const ELEMENTS: readonly string[] = [
  ...["a", "b", "br", "div", "em", "h2", "h3", "hr", "i", "li", "ol", "p", "small", "span"],
  ...["strong", "ul"],
];

/** What the page's style sheet has for templates. */
export const CLASSES: readonly string[] = ["row", "center", "soft", "large", "card"];

/** Everything of it is visible ASCII: a browser reads it as it stands. */
export const LINK = "https:\\/\\/[A-Za-z0-9][A-Za-z0-9.:-]*(?:[/?#][!#-;=?-_a-z~]*)?";
/** A link opens beside the room, which stays, and is not told of it. */
export const LINK_EXTRAS = { target: "_blank", rel: "noopener noreferrer" } as const;

const ATTRIBUTE = `(?:class|lang|dir)="[A-Za-z0-9 -]*"`;
const EXTRAS = `target="${LINK_EXTRAS.target}" rel="${LINK_EXTRAS.rel}"`;
const OPENING = `(?:${ELEMENTS.filter((name) => name !== "a").join("|")})(?: ${ATTRIBUTE})*`;
const OPENING_LINK = `a href="${LINK}" ${EXTRAS}(?: ${ATTRIBUTE})*`;
const FORM = new RegExp(`^(?:[^<>]|<(?:${OPENING}|${OPENING_LINK}|/(?:${ELEMENTS.join("|")}))>)*$`);

export const ROOM = "{{room}}";

/** The regions before and after the room, as HTML; `undefined` for what has not the form. */
export function templateRegions(
  template: string,
): { readonly before: string; readonly after: string } | undefined {
  const [before, after, ...more] = template.split(ROOM);
  if (before === undefined || after === undefined || more.length > 0) return undefined;
  return isBalanced(before) && isBalanced(after) ? { before, after } : undefined;
}

/** Each element that is opened is closed in its region: neither ends, or swallows, what is around it. */
function isBalanced(html: string): boolean {
  if (!FORM.test(html)) return false;
  const open: string[] = [];
  for (const [, slash, name = ""] of html.matchAll(/<(\/?)([a-z0-9]+)/g)) {
    if (slash === "/") {
      if (open.pop() !== name) return false;
    } else if (name !== "br" && name !== "hr") open.push(name);
  }
  return open.length === 0;
}
