import type { PageData } from "../markup.ts";
import { Waiting } from "./waiting.browser.ts";

document.documentElement.classList.add("js");
const data = JSON.parse(document.getElementById("data")?.textContent ?? "") as PageData;
const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
new Waiting(
  data,
  performance.timeOrigin + (navigation?.responseStart ?? performance.now()),
).start();
