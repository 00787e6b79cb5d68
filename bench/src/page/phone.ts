/** The holding page of the real Worker in a real Chromium that is as slow as a poor phone. */
import { existsSync } from "node:fs";

import { cookieName } from "@vestibule/contracts/names";
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  type Page,
  chromium,
} from "playwright-core";

import { EVENT, HOST, PAGE_PATH } from "../edge-world.ts";
import type { Bench } from "../row.ts";

export const PAGE_URL: string = `http://${HOST}${PAGE_PATH}`;

const CANDIDATES = [
  process.env["VESTIBULE_CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** What Lighthouse takes for a phone: a quarter of a desk's speed, 1.6 Mbit/s, a round trip of 150 ms. */
const CPU_SLOWER = 4;
const NETWORK = {
  offline: false,
  latency: 150,
  downloadThroughput: 200_000,
  uploadThroughput: 93_750,
};
const STATE_MS_MAX = 30_000;

export interface Phone {
  readonly page: Page;
  readonly devtools: CDPSession;
  close(): Promise<void>;
}

export interface Fan {
  readonly visitor: string;
  readonly ticket: string;
}

/** @throws Error where there is no Chromium */
export async function launchChromium(bench: Bench, port: number): Promise<Browser> {
  const executablePath = CANDIDATES.find((path) => path !== undefined && existsSync(path));
  if (executablePath === undefined) {
    throw new Error("there is no Chromium here: name one in VESTIBULE_CHROMIUM");
  }
  const browser = await chromium.launch({
    executablePath,
    args: [...FLAGS, `--host-resolver-rules=MAP ${HOST} 127.0.0.1:${port}`],
  });
  bench.processes.finally(() => browser.close());
  return browser;
}

/** A phone that has never seen the page; with a place when it is a fan's. */
export async function newPhone(
  browser: Browser,
  { fan, isSlow }: { fan?: Fan; isSlow: boolean },
): Promise<Phone> {
  const context = await browser.newContext({
    ...{ viewport: { width: 360, height: 740 }, deviceScaleFactor: 3 },
    ...{ isMobile: true, hasTouch: true, locale: "en-GB" },
  });
  if (fan !== undefined) await showPlace(context, fan);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  if (isSlow) {
    await devtools.send("Network.enable");
    await devtools.send("Network.emulateNetworkConditions", NETWORK);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: CPU_SLOWER });
  }
  return { page, devtools, close: () => context.close() };
}

export async function openPage(page: Page, state: string): Promise<void> {
  await page.goto(PAGE_URL);
  await page.locator(`main[data-state="${state}"]`).waitFor({ timeout: STATE_MS_MAX });
}

async function showPlace(context: BrowserContext, { visitor, ticket }: Fan): Promise<void> {
  const cookie = (kind: "visitor" | "ticket", value: string) => ({
    ...{ name: cookieName(kind, EVENT, { https: false }), value },
    url: `http://${HOST}`,
  });
  await context.addCookies([cookie("visitor", visitor), cookie("ticket", ticket)]);
}
