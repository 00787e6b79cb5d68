/**
 * Tells a fan of the turn who looks elsewhere: by sound, and by a notification where they allow it. A script of its own, `GET
 * /_vestibule/alerts.js`, which the page fetches when its button is pressed; from then on the button is this one's.
 */
import type { PageData } from "../../markup.ts";
import type { AlertTexts } from "../../texts.ts";
import { element } from "../element.browser.ts";
import { type Due, alertsOf } from "./due.ts";
import { isNews, keepOn, wasOn } from "./kept.browser.ts";
import { askToNotify, mayNotify, notify, withdraw } from "./notices.browser.ts";
import { beep, isMute, wakeSound } from "./sound.browser.ts";

/** What the page's script calls with every view. */
export interface Alerting {
  vstAlert?: (...view: [Due["state"], Due["slot"], said: boolean, now: number]) => void;
}

/** By language: the build writes them here. */
declare const ALERT_TEXTS: Readonly<Record<string, AlertTexts>>;

const { settings, title } = JSON.parse(element("data").textContent ?? "") as PageData;
const { lang } = document.documentElement;
const texts = ALERT_TEXTS[lang] as AlertTexts;
const button = element("alert");
const note = document.createElement("p");
note.id = "alerts";
note.className = "soft";
note.style.marginTop = "0.5rem";
button.after(note);
button.setAttribute("aria-describedby", note.id);

/** Timers of browsers take 31 bits. */
const TIMER_MS_MAX = 2 ** 31 - 1;

let isOn = false;
let timer = 0;
let last: { readonly view: Due; readonly at: number } | undefined;

function look(): void {
  clearTimeout(timer);
  if (!isOn || last === undefined) return;
  const now = last.view.now + performance.now() - last.at;
  const alerts = alertsOf({ ...last.view, now }, document.hidden);
  const next = alerts.find(({ at }) => at > now);
  if (next !== undefined) timer = setTimeout(look, Math.min(next.at - now, TIMER_MS_MAX));
  const news = alerts.filter(({ at, name }) => at <= now && isNews(settings.event, name));
  // Whoever wakes up late is told once.
  if (news.length > 0) tell(news.map(({ name }) => name).join("-"));
}

/** Nothing of it matters to the place: what fails, fails quietly. */
function tell(name: string): void {
  try {
    beep();
    const body = element("headline").textContent ?? "";
    notify(title, { body, lang, tag: `vst-${settings.event}-${name}` });
  } catch {
    // the sound, then
  }
}

function paint(): void {
  button.setAttribute("aria-pressed", String(isOn));
  button.style.background = isOn ? "var(--accent)" : "";
  button.style.color = isOn ? "var(--accent-ink)" : "";
  const said = [mayNotify() ? texts.both : texts.sound, ...(isMute() ? [texts.press] : [])];
  note.textContent = isOn ? said.join(" ") : "";
}

function turn(on: boolean): void {
  isOn = on;
  keepOn(on);
  paint();
  if (!on) withdraw();
  look();
}

/** Heard once, so that it is known; and what the browser asks is asked by this press only. */
async function press(): Promise<void> {
  turn(!isOn);
  if (!isOn) return;
  const asking = askToNotify();
  await wakeSound();
  beep();
  paint();
  await asking;
  paint();
}

(globalThis as Alerting).vstAlert = (state, slot, said, now) => {
  last = { view: { state, slot, said, now, settings }, at: performance.now() };
  look();
};
// oxlint-disable-next-line unicorn/prefer-add-event-listener -- one handler, in the place of the last
button.onclick = () => void press();
document.addEventListener("visibilitychange", () => {
  if (document.hidden) look();
  else withdraw();
});
addEventListener("focus", withdraw);
for (const first of ["pointerup", "keyup"])
  addEventListener(first, () => {
    if (isOn && isMute()) void wakeSound().then(paint);
  });
if (wasOn()) {
  turn(true);
  void wakeSound().then(paint);
} else void press();
