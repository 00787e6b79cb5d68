/** Puts words on the page. Touches only what changed, so that a reader is told of changes only. */
import { type Spoken, maySay } from "@vestibule/client/spoken";
import type { View } from "@vestibule/client/view";
import { DAY_NEEDED_MS, type Formats, figuresOf } from "../formats.ts";
import { element } from "./element.browser.ts";
import { iconOf } from "../icon.ts";
import type { Texts } from "../texts.ts";
import { type Words, pair } from "../words.ts";

function say(node: Element | null | undefined, text: string): void {
  if (node && node.textContent !== text) node.textContent = text;
}

function show(node: HTMLElement, yes: boolean): void {
  if (node.hidden === yes) node.hidden = !yes;
}

let said: Spoken = { words: "", about: "", at: 0 };
export function paint(view: View, words: Words, texts: Texts): void {
  if (document.title !== words.title) document.title = words.title;
  const main = document.querySelector("main") as HTMLElement;
  if (main.dataset["state"] !== view.state) {
    main.dataset["state"] = view.state;
    document.querySelector("link")?.setAttribute("href", iconOf(view.state));
  }
  const lead = words.action === "take" ? pair(texts, words.lead, texts.byItself) : words.lead;
  const both = words.headline + lead;
  // Whoever is asked, or has a place at last, is told at once how it stands; and why a wait has grown, or may be in vain.
  const stands = `${view.state} ${words.number} ${view.unlikely} ${view.told?.grew}`;
  const about = view.state === "confirm" ? both : stands;
  const saying = { words: both, about, at: view.now };
  if (maySay(saying, said)) {
    said = saying;
    say(element("headline"), words.headline);
    say(element("lead"), lead);
  }
  const number = element("number");
  say(number, words.number);
  number.classList.toggle("long", words.number.length > 7);
  show(element("place"), words.number !== "");
  show(element("line"), words.number !== "");
  // By steps that are seen: each moves the line for a second, which is work for the device.
  const [fill, width] = [element("fill"), view.behind.toFixed(3)];
  if (fill.getAttribute("width") !== width) fill.setAttribute("width", width);
  show(element("facts"), words.facts.length > 0);
  for (const [index, box] of [...element("facts").children].entries()) {
    const fact = words.facts[index];
    show(box as HTMLElement, fact !== undefined);
    say(box.querySelector("dt"), fact?.label ?? "");
    say(box.querySelector("dd"), fact?.value ?? "");
  }
  for (const [id, text] of [
    ["offer", words.offer],
    ["notice", words.notice],
  ] as const) {
    say(element(id), text);
    show(element(id), text !== "");
  }
  const isAgain = words.action === "join-again";
  show(element("join"), isAgain);
  for (const id of ["confirm", "enter"] as const) show(element(id), words.action === id);
  const { order } = words;
  show(element("order"), order !== undefined);
  if (order !== undefined) element("order").querySelector("a")?.setAttribute("href", order);
  // A first place is taken without a press.
  say(element("join").querySelector("button"), texts.joinAgain);
  show(element("kept"), words.kept);
  show(element("more"), words.leaves);
}

/** In the device's own zone. */
export function localFormats(locale: string): Formats {
  const time = new Intl.DateTimeFormat(locale, { timeStyle: "medium" });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
  return {
    ...figuresOf(locale),
    time: (at, now) => (at - now > DAY_NEEDED_MS ? day : time).format(at),
  };
}
