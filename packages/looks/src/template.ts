/** An organizer's own HTML around the room: read as a browser reads it, checked against a list of what is allowed, written anew. */
import { type DefaultTreeAdapterTypes, parseFragment, serialize } from "parse5";
import { CLASSES, ELEMENTS, LINK, LINK_EXTRAS, ROOM, templateRegions } from "./template-form.ts";

type Node = DefaultTreeAdapterTypes.ChildNode;
type Element = DefaultTreeAdapterTypes.Element;

const MISTAKES_MAX = 20;
const DEPTH_MAX = 8;
const BEFORE_ROOM = ["{{title}}", "{{logo}}"];
const ELEMENT_NAMES: ReadonlySet<string> = new Set(ELEMENTS);
const CLASS_NAMES: ReadonlySet<string> = new Set(CLASSES);
const HTTPS = new RegExp(`^${LINK}$`);

const ATTRIBUTES: Readonly<Record<string, (value: string) => string | undefined>> = {
  class: (value) =>
    value.split(" ").every((name) => CLASS_NAMES.has(name))
      ? undefined
      : `class must be of ${CLASSES.join(", ")}`,
  lang: (value) =>
    /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/.test(value)
      ? undefined
      : "lang must be a language like de or pt-BR",
  dir: (value) =>
    ["ltr", "rtl", "auto"].includes(value) ? undefined : "dir must be ltr, rtl or auto",
};

interface Read {
  readonly html: string;
  /** Each in words, with its line and column where it has one. */
  readonly mistakes: readonly string[];
}

/** Reading what it has written changes nothing. */
export function readTemplate(source: string, { hasLogo }: { hasLogo: boolean }): Read {
  const mistakes: string[] = [];
  if (!source.isWellFormed()) return { html: "", mistakes: ["Must be well-formed text"] };
  const wrong = (what: string, at?: Node): void => {
    const place = at?.sourceCodeLocation;
    const where = place ? `Line ${place.startLine}, column ${place.startCol}: ` : "";
    if (mistakes.length < MISTAKES_MAX) mistakes.push(where + what);
  };
  const tree = parseFragment(source, {
    sourceCodeLocationInfo: true,
    onParseError: ({ code, startLine, startCol }) =>
      wrong(`Line ${startLine}, column ${startCol}: it is not well-formed HTML (${code})`),
  });
  for (const node of tree.childNodes) check(node, { depth: 1, wrong });
  const html = serialize(tree);
  // As it is written, and as it is read: `&#8238;` is one, too.
  if (/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u.test(source + html))
    wrong("It must have no control characters, nor such as control the direction of text");
  placeholderMistakes(html, hasLogo).forEach((what) => wrong(what));
  const top = tree.childNodes.filter((node) => isText(node) && node.value.includes(ROOM));
  if (html.split(ROOM).length === 2 && top.length !== 1)
    wrong(`${ROOM} must stand outside of every element`);
  // What a browser makes of it is what was looked at, and a location will take it.
  const isKept = serialize(parseFragment(html)) === html && templateRegions(html) !== undefined;
  if (mistakes.length === 0 && !isKept) wrong("Its elements do not lie in each other properly");
  return { html, mistakes };
}

interface Checking {
  readonly depth: number;
  readonly wrong: (what: string, at?: Node) => void;
}

function check(node: Node, { depth, wrong }: Checking): void {
  if (isText(node)) return;
  if (!("tagName" in node)) {
    wrong("only elements and text are allowed", node);
    return;
  }
  if (!ELEMENT_NAMES.has(node.tagName) || !node.namespaceURI.endsWith("/xhtml"))
    wrong(`the element ${shown(node.tagName)} is not allowed`, node);
  attributeMistakes(node).forEach((what) => wrong(what, node));
  if (depth > DEPTH_MAX) {
    wrong(`at most ${DEPTH_MAX} elements may lie in each other`, node);
    return;
  }
  for (const child of node.childNodes) check(child, { depth: depth + 1, wrong });
}

/** A link gets what every link has, first and in this order. */
function attributeMistakes(element: Element): readonly string[] {
  const mistakes: string[] = [];
  const kept: Element["attrs"] = [];
  let href: string | undefined;
  for (const attribute of element.attrs) {
    const { name, value } = attribute;
    const isLink = element.tagName === "a";
    if (isLink && name === "href") href = value;
    else if (isLink && Object.hasOwn(LINK_EXTRAS, name)) {
      if (value !== LINK_EXTRAS[name as "rel"])
        mistakes.push(`${name} of a link must be "${LINK_EXTRAS[name as "rel"]}", or absent`);
    } else {
      const allowed = Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : undefined;
      const mistake = allowed
        ? allowed(value)
        : `the attribute ${shown(name)} is not allowed on ${shown(element.tagName)}`;
      if (mistake !== undefined) mistakes.push(mistake);
      kept.push(attribute);
    }
  }
  if (element.tagName !== "a") return mistakes;
  if (href === undefined || !HTTPS.test(href))
    mistakes.push("href of a link must be an address like https://shop.example/help");
  const extras = Object.entries(LINK_EXTRAS).map(([name, value]) => ({ name, value }));
  element.attrs = [{ name: "href", value: href ?? "" }, ...extras, ...kept];
  return mistakes;
}

function placeholderMistakes(html: string, hasLogo: boolean): readonly string[] {
  const found = html.match(/\{\{[^{}]{0,20}\}?\}?/g) ?? [];
  const mistakes = [...new Set(found)]
    .filter((name) => name !== ROOM && !BEFORE_ROOM.includes(name))
    .map((name) => `${name.replace(/[^\w{}]/g, "")} is none of ${ROOM}, ${BEFORE_ROOM.join(", ")}`);
  const count = (name: string) => html.split(name).length - 1;
  if (count(ROOM) !== 1) mistakes.push(`It must say ${ROOM} once, where the room stands`);
  for (const name of BEFORE_ROOM) {
    if (count(name) > 1) mistakes.push(`${name} may stand in it once`);
    if (count(name) > 0 && html.indexOf(name) > html.indexOf(ROOM))
      mistakes.push(`${name} must stand before ${ROOM}`);
  }
  if (count("{{logo}}") > 0 && !hasLogo) mistakes.push("There is no logo for {{logo}}");
  return mistakes;
}

function isText(node: Node): node is DefaultTreeAdapterTypes.TextNode {
  return node.nodeName === "#text";
}

/** A name of theirs in a sentence of ours. */
function shown(name: string): string {
  return name.replace(/[^\w:-]/g, "").slice(0, 40);
}
