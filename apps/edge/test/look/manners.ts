/** What every page of every scene has to hold, whatever it shows. */
import axe, { type AxeResults, type RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import { turnTo } from "./screens.ts";

const RULES: RunOptions = {
  runOnly: {
    type: "tag",
    values: [
      ...["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"],
      "best-practice",
    ],
  },
  rules: { "target-size": { enabled: true } },
};
/** Spaces that a reader may set (WCAG 2.2, 1.4.12). */
const SPACED =
  "*{line-height:1.5!important;letter-spacing:.12em!important;word-spacing:.16em!important}p{margin-bottom:2em!important}";
/** The smallest screen that counts, in CSS pixels (WCAG 2.2, 1.4.10). */
const SMALLEST = 320;
/** Where letters of twice the size have to be seen (WCAG 2.2, 1.4.4). */
const PHONE = 360;
/** The size of letters that a browser has by itself, in CSS pixels. */
const LETTERS = 16;

/** @returns what is wrong, a line each. */
export async function faultsOf(
  page: Page,
  { hasScripts }: { hasScripts: boolean },
): Promise<readonly string[]> {
  const faults = [
    ...(await markupFaults(page)),
    ...(await keyboardFaults(page)),
    ...(await widthFaults(page)),
  ];
  const judged = hasScripts ? page : await withScripts(page);
  faults.push(...(await axeFaults(judged, "light")), ...(await axeFaults(judged, "dark")));
  if (judged !== page) await judged.context().close();
  return faults;
}

async function markupFaults(page: Page): Promise<readonly string[]> {
  const count = (selector: string) => page.locator(selector).count();
  const live = await count(
    '[aria-live="polite"],[aria-live="assertive"],[role="alert"],[role="log"],[role="status"]:not([aria-live])',
  );
  const refreshes = await count('meta[http-equiv="refresh" i]');
  const handlers = await page.evaluate(
    () =>
      [...document.querySelectorAll("*")].filter((node) =>
        node.getAttributeNames().some((name) => name.startsWith("on")),
      ).length,
  );
  return [
    ...(live === 1 ? [] : [`${live} live regions`]),
    ...(refreshes === 0 ? [] : ["loads itself again"]),
    ...(handlers === 0 ? [] : [`${handlers} inline handlers`]),
  ];
}

/** Whoever presses Tab comes to every control that is shown, once, in the order in which they are read. */
async function keyboardFaults(page: Page): Promise<readonly string[]> {
  // From the top, wherever something was pressed before.
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute("tabindex");
  });
  const controls = await page.evaluate(() => {
    const shown = [
      ...document.querySelectorAll<HTMLElement>("a[href],button,input,select,textarea,summary"),
    ].filter((node) => node.checkVisibility() && !node.matches('[type="hidden"],:disabled'));
    for (const [index, node] of shown.entries()) node.dataset["control"] = String(index);
    return shown.length;
  });
  const reached: string[] = [];
  for (let press = 0; press < controls; press += 1) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const node = document.activeElement as HTMLElement | null;
      return node?.dataset["control"] ?? node?.tagName ?? "";
    });
    reached.push(at);
  }
  await page.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    for (const node of document.querySelectorAll<HTMLElement>("[data-control]")) {
      delete node.dataset["control"];
    }
  });
  const wanted = Array.from({ length: controls }, (_, index) => String(index));
  return reached.join() === wanted.join() ? [] : [`Tab reaches ${reached.join()} of ${controls}`];
}

async function widthFaults(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  const look = async (width: number, said: string) => {
    await turnTo(page, { name: said, width });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    if (wide > width) faults.push(`is ${wide} px wide on a screen of ${width} px${said}`);
  };
  await look(SMALLEST, "");
  await wear(page, SPACED);
  await look(SMALLEST, ", with a reader's own spaces");
  await wear(page, "");
  const devtools = await page.context().newCDPSession(page);
  const setLetters = (standard: number) =>
    devtools.send("Page.setFontSizes", { fontSizes: { standard, fixed: standard } });
  await setLetters(2 * LETTERS);
  await look(PHONE, ", with letters of twice the size");
  await setLetters(LETTERS);
  await devtools.detach();
  return faults;
}

/** A style sheet beside the page's own, by a way that no content policy forbids; "": none. */
export async function wear(page: Page, css: string): Promise<void> {
  await page.evaluate((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [sheet];
  }, css);
}

async function axeFaults(page: Page, colorScheme: "light" | "dark"): Promise<readonly string[]> {
  await turnTo(page, { name: colorScheme, width: PHONE, media: { colorScheme } });
  await page.evaluate(axe.source);
  const found = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(RULES)})`);
  return found.violations.map(
    ({ id, help, nodes }) =>
      `axe, ${colorScheme}: ${id}: ${help}: ${nodes.map((node) => node.html).join(" ")}`,
  );
}

/** What a browser without scripts shows, in one with: axe needs timers, which the former has not. */
async function withScripts(plain: Page): Promise<Page> {
  const html = (await plain.content())
    .replaceAll(/<script[^]*?<\/script>/g, "")
    .replaceAll(/(<\/?)noscript>/g, "$1div>");
  const context = await plain.context().browser()?.newContext();
  if (context === undefined) throw new Error("a browser");
  const page = await context.newPage();
  await page.setContent(html);
  return page;
}
