import type { PageData } from "../markup.ts";
import type { Texts } from "../texts.ts";
import { localFormats } from "./paint.browser.ts";
import { Waiting } from "./waiting.browser.ts";

document.documentElement.classList.add("js");
const read = (id: string): unknown => JSON.parse(document.getElementById(id)?.textContent ?? "");
const data = read("data") as PageData;
const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
new Waiting(
  data,
  { texts: read("texts") as Texts, formats: localFormats(data.locale) },
  performance.timeOrigin + (navigation?.responseStart ?? performance.now()),
).start();
