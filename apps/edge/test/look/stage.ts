/**
 * One scene in a real Chromium: the Worker's own code answers, and every clock stands still, so that a page of a
 * scene is the same one whenever it is looked at.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { orderCookie } from "@vestibule/contracts/names";
import { type Browser, type BrowserContext, type Page, chromium } from "playwright-core";
import { EVENT, NOW, VISITOR_A, type World, createWorld } from "../world.ts";
import type { NamedScene } from "./scenes.ts";

const CANDIDATES = [
  process.env["VESTIBULE_CHROMIUM"],
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
];
/** `undefined` where there is none. */
export const CHROMIUM = CANDIDATES.find((path) => path !== undefined && existsSync(path));
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // The same strokes on every machine.
  "--disable-lcd-text",
  "--font-render-hinting=none",
  "--force-color-profile=srgb",
  "--hide-scrollbars",
];
const STATE_MS_MAX = 20_000;

export interface LookBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

/**
 * Sees one family of fonts only, and says which when it is not there.
 * @throws Error without Chromium, or without the fonts
 */
export async function launchLook(flags: readonly string[] = []): Promise<LookBrowser> {
  const fonts = ["/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/TTF"].find((folder) =>
    existsSync(join(folder, "DejaVuSans.ttf")),
  );
  if (CHROMIUM === undefined)
    throw new Error("there is no Chromium: name one in VESTIBULE_CHROMIUM");
  if (fonts === undefined) throw new Error("DejaVu is not here (Debian: fonts-dejavu-core)");
  const folder = mkdtempSync(join(tmpdir(), "vestibule-look-"));
  const configuration = join(folder, "fonts.conf");
  writeFileSync(
    configuration,
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${fonts}</dir><cachedir>${folder}</cachedir>
<match><edit name="family" mode="prepend" binding="strong"><string>DejaVu Sans</string></edit></match>
</fontconfig>`,
  );
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [...FLAGS, ...flags],
    env: { ...process.env, FONTCONFIG_FILE: configuration },
  });
  return {
    browser,
    close: async () => {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The page's clock stands still and its dice are loaded; its timers run. */
const STAND_STILL = `{
  const now = ${NOW};
  const Real = Date;
  globalThis.Date = class extends Real {
    constructor(...given) { super(...(given.length === 0 ? [now] : given)); }
    static now() { return now; }
  };
  Object.defineProperty(performance, "timeOrigin", { value: now });
  performance.now = () => 0;
  performance.getEntriesByType = () => [];
  Math.random = () => 0;
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
    console.error("content policy: " + violatedDirective + " " + blockedURI));
}`;

export interface Staged {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly world: World;
  /** What must not happen: errors, broken policies, strangers' addresses, another state. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

/** The scene, at its end: in its state. */
export async function stage(
  browser: Browser,
  scene: NamedScene,
  { locale }: { locale: string },
): Promise<Staged> {
  const { world, base, close } = await serve(scene);
  const context = await browser.newContext({
    viewport: { width: 360, height: 740 },
    javaScriptEnabled: scene.script !== false,
    deviceScaleFactor: 1,
    timezoneId: "UTC",
    locale,
  });
  await context.addInitScript(STAND_STILL);
  await addCookies(context, { scene, world, base });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== base && protocol !== "data:") faults.push(`asks ${request.url()}`);
  });
  page.on("console", (message) => {
    const isRefusal = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isRefusal) faults.push(message.text());
  });
  await play(page, { scene, base }).catch(async (error: unknown) => {
    const state = await page.getAttribute("main", "data-state", { timeout: 1_000 });
    faults.push(`is in state ${state}: ${String(error)}`);
  });
  return {
    ...{ page, context, world, faults },
    close: async () => {
      await context.close();
      close();
    },
  };
}

async function play(
  page: Page,
  { scene, base }: { scene: NamedScene; base: string },
): Promise<void> {
  const within = { timeout: STATE_MS_MAX };
  const polled = () => page.waitForResponse((answer) => answer.url().endsWith("/drip"), within);
  const hasScript = scene.script !== false;
  // Waited for below: a page without a script never asks.
  let looked = hasScript ? polled() : undefined;
  looked?.catch(() => undefined);
  await page.goto(`${base}/events/demo`);
  if (scene.sent) {
    const arrived = page.waitForEvent("load");
    await looked;
    looked = hasScript ? polled() : undefined;
    looked?.catch(() => undefined);
    await page.evaluate(`
      const form = document.createElement("form");
      form.method = "post";
      form.action = "/events/demo/buy";
      document.body.append(form);
      form.submit();
    `);
    await arrived;
  }
  if (looked === undefined) return;
  await (await looked).finished();
  if (scene.offline) await page.context().setOffline(true);
  const state = (wanted: string) => page.locator(`main[data-state="${wanted}"]`).waitFor(within);
  if (scene.pressed !== undefined) {
    await state(scene.pressed.before);
    const fold = page.locator(`details:has(#${scene.pressed.form}) summary`);
    if ((await fold.count()) > 0) await fold.click(within);
    await page.click(`#${scene.pressed.form} button`, within);
  }
  await state(scene.state);
}

async function addCookies(
  context: BrowserContext,
  { scene, world, base }: { scene: NamedScene; world: World; base: string },
): Promise<void> {
  if (scene.number === undefined) return;
  const values: Record<string, string> = {
    visitor: VISITOR_A,
    ticket: await world.ticket(scene.number),
  };
  const { number, claimed } = scene;
  if (scene.bought) values["order"] = orderCookie({ number, path: "/orders/AbCdEf" });
  if (scene.credit) values["credit"] = "e30.e30.c2lnbmF0dXJl";
  if (claimed !== undefined) {
    values["admission"] = await world.admission({ number, opensAt: claimed });
  }
  const cookies = Object.entries(values).map(([kind, value]) => ({
    ...{ name: `vst-${kind}-demo`, value, url: base },
  }));
  await context.addCookies(cookies);
}

async function serve(
  scene: NamedScene,
): Promise<{ world: World; base: string; close: () => void }> {
  const world = await createWorld();
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const headers = new Headers();
      for (let i = 0; i < incoming.rawHeaders.length; i += 2) {
        headers.append(incoming.rawHeaders[i] ?? "", incoming.rawHeaders[i + 1] ?? "");
      }
      if (scene.cookies === false) headers.delete("cookie");
      const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
      const url = `http://${incoming.headers.host}${incoming.url}`;
      const method = incoming.method ?? "GET";
      const request = new Request(url, { method, headers, ...body });
      const response = await world.edge.fetch(request, { waitUntil: (work) => void work });
      outgoing.writeHead(response.status, [
        ...[...response.headers].filter(([name]) => name !== "set-cookie").flat(),
        ...response.headers.getSetCookie().flatMap((cookie) => ["set-cookie", cookie]),
      ]);
      if (response.body === null) outgoing.end();
      else Readable.fromWeb(response.body as never).pipe(outgoing);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  world.manifest = [{ ...EVENT, hosts: [host], title: "Winter night train", ...scene.event }];
  world.drip = scene.drip ?? {};
  scene.prepare?.(world);
  return {
    world,
    base: `http://${host}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
