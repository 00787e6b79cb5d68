/** The page as text. Everything that is not ours is escaped; nothing is written into a script (AO-06). */
import type { PlaceData } from "@vestibule/client/place";
import type { View } from "@vestibule/client/view";
import { EDGE_PREFIX } from "@vestibule/contracts/names";
import { escape } from "./escape.ts";
import { iconOf } from "./icon.ts";
import type { Language } from "./languages.ts";
import type { OwnTexts } from "./own-texts.ts";
import type { Words } from "./words.ts";

/** What the script starts from. It asks for the drip itself. */
export interface PageData extends PlaceData {
  /** Of the answer to a form: the address to load instead of sending that again. */
  readonly back?: string | undefined;
  readonly title: string;
  /** In which figures and times are written: the page's language, or its way in the visitor's country. */
  readonly locale: string;
  /** Of events that ask for work before a place: said while it is done. */
  readonly proving?: string | undefined;
  /** The organizer's words in this language. */
  readonly own?: OwnTexts | undefined;
}

/** What an event's own looks make of a page (`look.ts`): its style sheet, and regions of HTML that are what they should be. */
export interface LookParts {
  /** Before the one that all pages share. */
  readonly css: string;
  /** Of the header, before and after the line of the organizer's own words; and of the foot. */
  readonly header: string;
  readonly before: string;
  readonly after: string;
}

export interface PageParts {
  readonly language: Language;
  readonly view: View;
  readonly words: Words;
  readonly look: LookParts;
  /** The organizer's words under the title, in this language. */
  readonly under: string;
  readonly returnPath: string;
  /** A form for the shop has come here instead: its sender is told. */
  readonly unsent: boolean;
  /** The event asks for work before a place, which takes a script. */
  readonly isProving: boolean;
  readonly data: PageData;
}

/** Without what is the same in every page of a language: its style sheet, its texts for the script, and that (`page-body.ts`). */
export function pageHtml(parts: PageParts): string {
  const { view, words, look, data, language, under } = parts;
  const { page } = language;
  const { headline, lead, number, notice, title } = words;
  return `<!doctype html>
<html lang="${language.tag}" dir="${language.direction}">
<meta name="viewport" content="width=device-width">
<title>${escape(title)}</title>
<link rel="icon" href="${iconOf(view.state)}">
<style>${look.css}</style>
<style></style>
<body>
<header>${look.header}${under === "" ? "" : `<p class="soft">${escape(under)}</p>`}${look.before}</header>
<main data-state="${view.state}">
<div class="say" role="status"><h1 id="headline">${headline}</h1><p id="lead">${escape(lead)}</p></div>
${turnHtml(parts)}
${
  parts.unsent
    ? `<p class="notice">${page.unsent}</p>
`
    : ""
}<div class="figures">
<p class="place" id="place"${hidden(number === "")}><span>${page.place}</span><b id="number"${number.length > 7 ? ' class="long"' : ""}>${number}</b></p>
<div class="line" id="line"${hidden(number === "")}><svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true"><rect id="fill" width="${view.behind.toFixed(3)}" height="1"/></svg></div>
<dl id="facts"${hidden(words.facts.length === 0)}>${[0, 1].map((i) => factHtml(words, i)).join("")}</dl>
<p id="offer"${hidden(words.offer === "")}>${escape(words.offer)}</p>
</div>
<p class="notice" id="notice" dir="auto"${hidden(notice === "")}>${escape(notice)}</p>
<noscript>${plainHtml(parts)}</noscript>
${actionsHtml(parts)}
${moreHtml(parts)}
</main>
<footer><p id="kept"${hidden(!words.kept)}>${page.kept}</p>${look.after}${languageHtml(parts)}</footer>
<script type="application/json" id="data">${jsonForHtml(data)}</script>
<script type="application/json" id="texts"></script>
<script></script>
`;
}

function factHtml({ facts }: Words, index: number): string {
  const fact = facts[index];
  const { label, value } = fact ?? { label: "", value: "" };
  return `<div${hidden(fact === undefined)}><dt>${label}</dt><dd>${value}</dd></div>`;
}

/** What the page cannot do by itself without its script. */
const PLAIN: Partial<Record<Words["action"], "plain" | "plainJoin" | "plainTake">> = {
  again: "plain",
  join: "plainJoin",
  take: "plainTake",
};

function plainHtml({ words, language, isProving }: PageParts): string {
  const isClosed = isProving && words.action === "join";
  const text = isClosed ? "plainProof" : PLAIN[words.action];
  return text === undefined ? "" : `<p class="notice">${language.page[text]}</p>`;
}

/** A form for whoever has no script: the script sends the same itself, and hides what it does without a press (`nojs`). */
function formHtml(
  { view, returnPath }: PageParts,
  { id, to, label, shown }: { id: string; to: string; label: string; shown: boolean },
): string {
  const action = `${EDGE_PREFIX}/events/${view.settings.event}/${to}`;
  return (
    `<form method="post" action="${action}" id="${id}"${id === "take" ? ' class="nojs"' : ""}${hidden(!shown)}>` +
    `<input type="hidden" name="return" value="${escape(returnPath)}">` +
    `<button${id === "confirm" ? ' name="confirmed" value="true"' : ""}>${label}</button></form>`
  );
}

/** What a turn asks for, where it is said, so that the button is on the smallest screen. */
function turnHtml(parts: PageParts): string {
  const { words, language } = parts;
  const form = (id: "confirm" | "enter") =>
    formHtml(parts, {
      ...{ id, to: "admissions", label: language.page[id] },
      shown: words.action === id,
    });
  return form("confirm") + form("enter");
}

/** What the script may show is there, and hidden; what is of no use to it only where it shows. */
function actionsHtml(parts: PageParts): string {
  const { action, order } = parts.words;
  const { texts, page } = parts.language;
  const back = escape(parts.returnPath);
  const isAgain = action === "join-again";
  const form = (id: string, to: string, label: string, shown: boolean) =>
    formHtml(parts, { id, to, label, shown });
  return (
    `<p class="go" id="order"${hidden(order === undefined)}><a href="${escape(order ?? back)}">${page.order}</a></p>` +
    form(
      "join",
      "tickets",
      isAgain ? texts.joinAgain : page.join,
      isAgain || (action === "join" && !parts.isProving),
    ) +
    (action === "take" ? form("take", "admissions", page.take, true) : "") +
    (action === "again" ? `<p class="go again nojs"><a href="${back}">${page.again}</a></p>` : "")
  );
}

/** With the script it acts when a language is chosen; who chooses by keys, or has no script, presses the button. */
function languageHtml({ language, returnPath }: PageParts): string {
  const { page, options } = language;
  return (
    `<form method="post" action="${EDGE_PREFIX}/language" id="speak">` +
    `<input type="hidden" name="return" value="${escape(returnPath)}">` +
    `<label for="language">${page.language}</label><select name="language" id="language" autocomplete="off">${options}</select>` +
    `<button class="nojs">${page.change}</button></form>`
  );
}

/** To be told of the turn, which takes a script; and to leave the line. Both quiet, and the latter asked once more. */
function moreHtml(parts: PageParts): string {
  const { page } = parts.language;
  const label = page.leaveYes;
  return (
    `<div class="go" id="more"${hidden(!parts.words.leaves)}>` +
    // Where a browser has to do some work, its script has the room.
    (parts.isProving ? "" : `<button id="alert" hidden>${page.alert}</button>`) +
    `<details><summary>${page.leave}</summary>${formHtml(parts, { id: "leave", to: "leave", label, shown: true })}</details></div>`
  );
}

function hidden(yes: boolean): string {
  return yes ? " hidden" : "";
}

/** JSON that cannot end its script element, nor be read as markup (HTML standard, section 4.12.1.3). */
export function jsonForHtml(data: unknown): string {
  return JSON.stringify(data).replace(/[<>&\u2028\u2029]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
