/** A real Chromium, and everything that must not happen in it. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
  chromium,
} from "playwright-core";

import { ROOT } from "../start-system.ts";

const CANDIDATES = [
  process.env["VESTIBULE_CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];
const SHOTS = join(ROOT, "test-results", "screenshots");
const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 800 } };
const SMALLEST = { width: 320, height: 640 };

/** `undefined` where there is none. */
export const CHROMIUM = CANDIDATES.find((path) => path !== undefined && existsSync(path));
export const NO_CHROMIUM =
  "there is no Chromium here: install it (Debian: apt-get install chromium), or name one in VESTIBULE_CHROMIUM";

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors on the console, exceptions, broken policies, and requests to hosts other than ours. */
  readonly trouble: readonly string[];
  /** Every answer from 400 on, to be told of a test that failed. */
  readonly refusals: readonly string[];
}

/** A browser of its own: no cookie of anybody else's. Its clock and its figures are ours to read. */
export async function newVisitor(
  browser: Browser,
  host: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    locale: "en-GB",
    timezoneId: "UTC",
    viewport: SIZES.phone,
    ...options,
  });
  const trouble: string[] = [];
  context.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "data:" && url.host !== host) trouble.push(`request to ${url.host}`);
  });
  context.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      trouble.push(`console: ${message.text()}`);
    }
  });
  context.on("weberror", (error) => trouble.push(`exception: ${error.error().message}`));
  const refusals: string[] = [];
  context.on("response", (answer) => {
    if (answer.status() < 400) return;
    refusals.push(
      `${answer.request().method()} ${new URL(answer.url()).pathname} ${answer.status()}`,
    );
  });
  return { context, page: await context.newPage(), trouble, refusals };
}

/** Phone and desktop, light and dark, in a folder that git ignores. The page goes back to the phone. */
export async function shoot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const [size, viewport] of Object.entries(SIZES)) {
      await page.setViewportSize(viewport);
      await page.screenshot({ path: join(SHOTS, `${name}-${size}-${colorScheme}.png`) });
    }
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(SIZES.phone);
}

/** By how many pixels the page is wider than the smallest screen that counts (WCAG 2.2, 1.4.10). */
export async function overflowAtSmallest(page: Page): Promise<number> {
  const before = page.viewportSize() ?? SIZES.phone;
  await page.setViewportSize(SMALLEST);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  await page.setViewportSize(before);
  return Math.max(0, width - SMALLEST.width);
}

/** What the holding page says, as a fan reads it. */
export interface Shown {
  readonly state: string;
  readonly headline: string;
  readonly number: string;
  /** Label by value is what a fan compares: `people ahead of you` → `31`. */
  readonly facts: Readonly<Record<string, string>>;
}

/** `undefined` while there is no holding page, as in the moment between two pages. */
export async function readShown(page: Page): Promise<Shown | undefined> {
  try {
    return await page.evaluate(() => {
      const main = document.querySelector<HTMLElement>("main[data-state]");
      if (main === null) return undefined;
      const text = (node: Element | null): string => node?.textContent ?? "";
      const rows = [...document.querySelectorAll<HTMLElement>("#facts > div:not([hidden])")];
      return {
        state: main.dataset["state"] ?? "",
        headline: text(document.querySelector("#headline")),
        number: text(document.querySelector("#number")),
        facts: Object.fromEntries(
          rows.map((row) => [text(row.querySelector("dt")), text(row.querySelector("dd"))]),
        ),
      };
    });
  } catch {
    return undefined;
  }
}
