import { createLineClient } from "@vestibule/client/line-client";
import { Waiting } from "@vestibule/client/waiting";
import type { PageData } from "../markup.ts";
import type { Texts } from "../texts.ts";
import { wordsOf } from "../words.ts";
import type { Alerting } from "./alerts/main.ts";
import type { Proving } from "./prove/main.ts";
import { element } from "./element.browser.ts";
import { device } from "./device.browser.ts";
import { linePorts } from "./line-ports.browser.ts";
import { listen } from "./listen.browser.ts";
import { loadAgain, moveIn } from "./moving-in.browser.ts";
import { listenToSwitch } from "./switch.browser.ts";
import { localFormats, paint } from "./paint.browser.ts";
import { listenToTabs, tellTabs } from "./tabs.browser.ts";

document.documentElement.classList.add("js");
const read = (id: string): unknown => JSON.parse(element(id).textContent ?? "");
const data = read("data") as PageData;
const { settings, back, title } = data;
const texts = read("texts") as Texts;
const speech = { texts, formats: localFormats(data.locale), own: data.own, proving: data.proving };
// Reloaded by hand it would send the form again.
if (back !== undefined) history.replaceState(null, "", back);

const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
const receivedAt = performance.timeOrigin + (navigation?.responseStart ?? performance.now());
const waiting = new Waiting(data, receivedAt, {
  device,
  // There in the pages of events that ask for it: its script stands before this one.
  prove: (globalThis as Proving).vstProve,
  line: createLineClient(settings.event, linePorts),
  shell: {
    show(view, isNews) {
      // Until there is news the page says what the server wrote.
      if (!isNews) return;
      paint(view, wordsOf(view, speech, title), texts);
      (globalThis as Alerting).vstAlert?.(view.state, view.slot, view.said, view.now);
    },
    tell: (what, value) => tellTabs(settings.event, `${what} ${value}`),
    enter: () => moveIn(settings.event, back),
    goBack: () => loadAgain(back),
  },
});
listen(waiting);
listenToSwitch();
listenToTabs(settings.event, {
  stay: (opensAt) => waiting.stay(opensAt),
  other: (number) => {
    if (!waiting.isAt(number)) loadAgain(back);
  },
});
waiting.start();
