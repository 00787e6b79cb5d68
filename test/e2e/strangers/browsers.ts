/** In a real browser: another site cannot show the page as its own, nor act for a visitor; and no organizer's text runs. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { type Browser, type BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { CHROMIUM, NO_CHROMIUM, launchBrowser } from "../support/browser.ts";
import type { StrangersWorld } from "./world.ts";

export function browsers(of: () => StrangersWorld): void {
  describe.skipIf(CHROMIUM === undefined && process.env["CI"] === undefined)(
    "in a real browser",
    () => {
      let browser: Browser;
      beforeAll(async () => {
        if (CHROMIUM === undefined) throw new Error(NO_CHROMIUM);
        browser = await launchBrowser();
      });
      afterAll(() => browser?.close());

      test("another site can neither frame the page, nor join or choose for whoever comes by", async () => {
        const { site } = of();
        const evil = await startEvilSite(site);
        const context = await browser.newContext();
        onTestFinished(() => context.close());
        const page = await context.newPage();

        await page.goto(`${evil}/frames`, { waitUntil: "load" });
        expect(await page.frameLocator("#harmless").locator("h1").textContent()).toBe("framed");
        expect(await page.frameLocator("#room").locator("main").count()).toBe(0);

        for (const form of ["join", "language"]) {
          const tab = await context.newPage();
          const answered = tab.waitForResponse((reply) => reply.request().method() === "POST");
          const [answer] = await Promise.all([answered, tab.goto(`${evil}/${form}`)]);
          expect(answer.status()).toBe(403);
          await tab.close();
        }
        expect(await names(context)).not.toContain("vst-ticket-held");
        expect(await names(context)).not.toContain("vst-language");
      });

      test("whatever an organizer writes is text, wherever it stands", async () => {
        const { cache } = of();
        const visitor = await browser.newContext({ locale: "en-GB" });
        onTestFinished(() => visitor.close());
        const page = await visitor.newPage();
        const trouble: string[] = [];
        page.on("pageerror", ({ message }) => trouble.push(message));
        page.on("console", (message) => {
          if (/policy|refused/i.test(message.text())) trouble.push(message.text());
        });
        page.on("request", (request) => {
          const { host, protocol } = new URL(request.url());
          if (host !== `127.0.0.1:${cache.port}` && protocol !== "data:")
            trouble.push(request.url());
        });
        await page.goto(`${of().site}/events/marked`);
        await page.locator('main[data-state="paused"]').waitFor();
        const shown = await page.locator("body").innerText();
        for (const part of ["title", "notice", "reason", "words"]) {
          expect(shown).toContain(`<img src=x onerror=pwned("${part}")>`);
        }
        expect(await page.evaluate("typeof globalThis.pwned")).toBe("undefined");
        expect(await page.locator("img[src='x'], script:not([type])").count()).toBe(1);
        expect(trouble).toEqual([]);
      });
    },
  );
}

/** On another site than the shop: `localhost` is not `127.0.0.1`. */
async function startEvilSite(shop: string): Promise<string> {
  const pages: Record<string, string> = {
    "/frames": `<iframe id="harmless" src="/harmless"></iframe>
      <iframe id="room" src="${shop}/events/held"></iframe>`,
    "/harmless": "<h1>framed</h1>",
    "/join": form(`${shop}/_vestibule/events/held/tickets`, ""),
    "/language": form(`${shop}/_vestibule/language`, '<input name="language" value="de">'),
  };
  const server = createServer((asked, answer) => {
    answer.writeHead(200, { "Content-Type": "text/html" }).end(pages[asked.url ?? ""]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

function form(action: string, fields: string): string {
  return `<form method="post" action="${action}">${fields}</form>
    <script>document.forms[0].submit()</script>`;
}

async function names(context: BrowserContext): Promise<readonly string[]> {
  return (await context.cookies()).map(({ name }) => name);
}
