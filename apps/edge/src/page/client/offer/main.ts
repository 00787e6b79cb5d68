/**
 * The button that has the turn told by sound and notification: a script of its own before the page's, in the pages of events that
 * ask for no work. What tells is fetched with the first press, for a page has no room for it; or at once where it was on before.
 */
import { element } from "../element.browser.ts";
import type { Alerting } from "../alerts/main.ts";

const button = element("alert");
const turnOn = async (press?: Event): Promise<void> => {
  try {
    if (!press && !localStorage.getItem("vst-alert")) return;
    const script = document.createElement("script");
    script.textContent = await (await fetch("/_vestibule/alerts.js")).text();
    document.body.append(script);
    // The policy lets our own text run, and not that of another version: then the page has to be loaded again.
    button.hidden = !(globalThis as Alerting).vstAlert;
  } catch {
    // no network, or nothing that is kept: another press tries again
  }
};
button.hidden = false;
// One handler: what is fetched puts its own in this one's place.
// oxlint-disable-next-line unicorn/prefer-add-event-listener -- one handler, in the place of the last
button.onclick = turnOn;
void turnOn();
