/**
 * A logo's SVG: drawings, and nothing that runs, moves, loads or multiplies. In `<img>`, where it is shown, a browser runs no script
 * of it and loads nothing for it: this holds wherever else it may come to stand.
 */
import { SaxesParser, type SaxesTagNS } from "saxes";

const SVG = "http://www.w3.org/2000/svg";
const XLINK = "http://www.w3.org/1999/xlink";
const MISTAKES_MAX = 12;

/** No `use`, `pattern`, `mask` or filter: a few of them in each other draw more than a phone can. No animation: nothing moves. */
const ELEMENTS: ReadonlySet<string> = new Set([
  ...["svg", "g", "defs", "title", "desc", "path", "rect", "circle", "ellipse", "line", "polyline"],
  ...["polygon", "text", "tspan", "linearGradient", "radialGradient", "stop", "clipPath"],
]);
/** Where text is more than space between elements. */
const TEXT: ReadonlySet<string> = new Set(["title", "desc", "text", "tspan"]);
const PRESENTATION =
  "alignment-baseline baseline-shift clip-path clip-rule color cx cy d display dominant-baseline dx dy fill fill-opacity fill-rule " +
  "font-family font-size font-style font-weight fx fy gradientTransform gradientUnits height id lengthAdjust letter-spacing offset " +
  "opacity points preserveAspectRatio r rx ry spreadMethod stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset " +
  "stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width text-anchor textLength transform version viewBox " +
  "width word-spacing x x1 x2 y y1 y2 clipPathUnits vector-effect role";
const ATTRIBUTES: ReadonlySet<string> = new Set(PRESENTATION.split(" "));
/** What a value may call: nothing that loads (`url`, `src`, `image-set`, and what browsers learn next). */
const FUNCTIONS = /^(?:matrix|translate|scale|rotate|skewX|skewY|rgba?|hsla?|calc)$/;
const REFERENCE = /^url\(#[\w.-]+\)$/;

interface Read {
  /** Written anew: comments and space between elements are gone. */
  readonly text: string;
  /** Each once, in words. */
  readonly mistakes: readonly string[];
}

export function readSvg(source: string): Read {
  const mistakes = new Set<string>();
  const wrong = (what: string): void => void (mistakes.size < MISTAKES_MAX && mistakes.add(what));
  const open: string[] = [];
  let text = "";
  const parser = new SaxesParser({ xmlns: true });
  parser.on("error", () => wrong("It is not well-formed XML"));
  parser.on("doctype", () => wrong("It must have no document type"));
  parser.on("cdata", () => wrong("It must have no CDATA section"));
  parser.on("processinginstruction", () => wrong("It must have no processing instruction"));
  parser.on("opentag", (tag) => {
    const { local, uri, isSelfClosing } = tag;
    if (uri !== SVG || !ELEMENTS.has(local))
      wrong(`The element ${shown(tag.name)} is not allowed in it`);
    if (open.length === 0 && local !== "svg") wrong("Its outermost element must be svg");
    text += `<${local}${open.length === 0 ? ` xmlns="${SVG}"` : ""}`;
    text += attributesOf(tag, { inClip: open.includes("clipPath") || local === "clipPath", wrong });
    text += isSelfClosing ? "/>" : ">";
    open.push(local);
  });
  parser.on("closetag", ({ local, isSelfClosing }) => {
    open.pop();
    if (!isSelfClosing) text += `</${local}>`;
  });
  parser.on("text", (content) => {
    if (TEXT.has(open.at(-1) ?? "")) text += escapeXml(content);
    else if (content.trim() !== "") wrong("There is text outside of its text elements");
  });
  parser.write(source).close();
  if (text === "") wrong("It is not well-formed XML");
  return { text, mistakes: [...mistakes] };
}

function attributesOf(
  tag: SaxesTagNS,
  { inClip, wrong }: { inClip: boolean; wrong: (what: string) => void },
): string {
  let text = "";
  for (const { prefix, local, uri, name, value } of Object.values(tag.attributes)) {
    if (prefix === "xmlns" || name === "xmlns") continue;
    const isHref = local === "href" && (uri === "" || uri === XLINK);
    if (isHref && tag.local.endsWith("Gradient") && /^#[\w.-]+$/.test(value)) {
      text += ` href="${value}"`;
    } else if (uri !== "" || !ATTRIBUTES.has(local)) {
      wrong(`The attribute ${shown(name)} is not allowed in it`);
    } else if (mayLoad(value) && (inClip || !REFERENCE.test(value))) {
      wrong(`The attribute ${shown(name)} must refer to nothing but a part of the same picture`);
    } else {
      text += ` ${local}="${escapeXml(value)}"`;
    }
  }
  return text;
}

function mayLoad(value: string): boolean {
  if (/[\\@]/.test(value)) return true;
  return [...value.matchAll(/([\w-]*)\(/g)].some(([, name = ""]) => !FUNCTIONS.test(name));
}

/** A name of theirs in a sentence of ours. */
function shown(name: string): string {
  return name.replace(/[^\w:.-]/g, "").slice(0, 40);
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
