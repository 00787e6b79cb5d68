/**
 * `node apps/edge/test/look/main.ts [folder] [scene …] [--language=de]`: every state of the holding page in real Chromium, phone
 * and desktop, light and dark, on its side, with large letters, with forced colours, in print and in an organizer's looks, as
 * pictures to look at. Fails when a page logs an error, breaks its own content policy, is wider than its screen, or has a fault
 * that axe finds.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { parseArgs } from "node:util";
import { orderCookie } from "@vestibule/contracts/names";
import axe, { type AxeResults } from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { buildPageAssets } from "../../build/page-assets.ts";

await buildPageAssets();
const { EVENT, VISITOR_A, createWorld, isQuestion, refusal } = await import("../world.ts");
type World = Awaited<ReturnType<typeof createWorld>>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { language: { type: "string", default: "en-GB" } },
});
const { language } = values;
/** `wanted`: parts of the names of scenes. */
const [folder = ".cache/holding-page", ...wanted] = positionals;
const CHROMIUM = process.env["VESTIBULE_CHROMIUM"] ?? "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

interface Scene {
  readonly name: string;
  readonly number?: number;
  readonly drip?: () => Partial<World["drip"]>;
  readonly event?: () => Partial<typeof EVENT>;
  readonly prepare?: (world: World) => void;
  readonly cookies?: false;
  readonly credit?: true;
  readonly bought?: true;
  /** A form for the shop is sent, and this comes instead. */
  readonly sent?: true;
  /** This slot has been claimed. */
  readonly claimed?: () => number;
  /** The button of this form is pressed. */
  readonly pressed?: string;
  readonly offline?: true;
  readonly script?: false;
}

const NEVER = (): Promise<Response> => new Promise(() => undefined);
const noGrants = (world: World) => {
  world.mint = ({ method, url }) => (method === "POST" && !isQuestion(url) ? NEVER() : undefined);
};
const wrongClock = (world: World) => {
  world.clockOffMs = 600_000;
};
/** A whole minute: the same for page, statement and admission. */
const soon = () => Math.ceil(Date.now() / 60_000) * 60_000 + 60_000;
const past = (ms: number) => [
  { base: 1, count: 100, from: Date.now() - ms - 10_000, until: Date.now() - ms },
];
/** As the mint would keep them. */
const LOOKS = JSON.parse(readFileSync("docs/examples/looks.json", "utf8")) as object;

const SCENES: readonly Scene[] = [
  { name: "joining", prepare: noGrants },
  { name: "joining-plain", script: false },
  {
    name: "scheduled",
    event: () => ({ startsAt: Date.now() + 754_000, joinableAt: Date.now() + 754_000 }),
    drip: () => ({ state: "scheduled", startsAt: Date.now() + 754_000 }),
  },
  {
    name: "scheduled-with-place",
    number: 812,
    drip: () => ({
      state: "prequeue",
      startsAt: Date.now() + 4_754_000,
      segments: [],
      committed: 0,
      serving: 0,
    }),
  },
  { name: "waiting", number: 1_204, drip: () => ({ serving: 310 }) },
  { name: "waiting-plain", number: 1_204, script: false },
  {
    name: "waiting-far",
    number: 1_240_833,
    drip: () => ({
      rate: 6_000,
      notice: "The night train is sold out. Day trains have plenty of seats left – شكراً لصبركم.",
    }),
  },
  {
    name: "near",
    number: 112,
    drip: () => ({
      segments: [{ base: 1, count: 100, from: Date.now() - 60_000, until: Date.now() + 20_000 }],
    }),
  },
  { name: "known", number: 75, prepare: noGrants },
  { name: "turn", number: 5, prepare: noGrants },
  { name: "turn-plain", number: 5, script: false },
  {
    name: "waiting-asks",
    number: 1_204,
    drip: () => ({ presence: "confirm" }),
  },
  { name: "confirm", number: 75, drip: () => ({ presence: "confirm" }), prepare: noGrants },
  {
    name: "confirm-turn",
    number: 5,
    drip: () => ({ presence: "confirm" }),
    prepare: noGrants,
  },
  {
    name: "confirm-hurry",
    number: 5,
    event: () => ({ claimWindowSeconds: 25 }),
    drip: () => ({ presence: "confirm" }),
    prepare: noGrants,
  },
  {
    name: "confirm-said",
    number: 75,
    pressed: "confirm",
    drip: () => ({ presence: "confirm" }),
    prepare: noGrants,
  },
  {
    name: "known-said",
    number: 75,
    claimed: soon,
    drip: () => ({
      presence: "confirm",
      segments: [{ base: 75, count: 1, from: soon(), until: soon() + 1_000 }],
    }),
  },
  {
    name: "confirm-plain",
    number: 75,
    script: false,
    drip: () => ({ presence: "confirm" }),
  },
  {
    name: "missed",
    number: 5,
    drip: () => ({ segments: past(400_000) }),
    prepare: (world) => {
      world.mint = ({ url }) => (url.endsWith("/admissions") ? refusal("slot-over") : undefined);
    },
  },
  { name: "missed-plain", number: 5, drip: () => ({ segments: past(400_000) }), script: false },
  {
    name: "paused",
    number: 1_204,
    drip: () => ({
      state: "paused",
      heldSince: Date.now() - 9_000,
      heldReason: "Back at half past eight.",
      notice: "A short break: the payment provider is slow. We go on in a few minutes.",
    }),
  },
  {
    name: "credit",
    number: 5,
    credit: true,
    drip: () => ({ segments: past(900_000) }),
    prepare: (world) => {
      world.mint = ({ url }) => (url.endsWith("/admissions") ? refusal("too-early") : undefined);
    },
  },
  {
    name: "credit-plain",
    number: 5,
    credit: true,
    drip: () => ({ segments: past(900_000) }),
    script: false,
  },
  { name: "passed", number: 5, drip: () => ({ segments: [] }), prepare: noGrants },
  { name: "passed-plain", number: 5, drip: () => ({ segments: [] }), script: false },
  {
    name: "owed",
    number: 5,
    drip: () => ({ segments: [] }),
    prepare: (world) => {
      world.mint = ({ url }) => (url.endsWith("/admissions") ? refusal("too-early") : undefined);
    },
  },
  { name: "bought", number: 5, bought: true, drip: () => ({ segments: [] }) },
  { name: "bought-plain", number: 5, bought: true, drip: () => ({ segments: [] }), script: false },
  { name: "bought-shut", number: 5, bought: true, drip: () => ({ state: "soldout" }) },
  { name: "waiting-sent", number: 1_204, sent: true },
  { name: "waiting-sent-plain", number: 1_204, sent: true, script: false },
  { name: "soldout", number: 1_204, drip: () => ({ state: "soldout" }) },
  { name: "soldout-without", drip: () => ({ state: "soldout" }) },
  { name: "ended", number: 1_204, drip: () => ({ state: "ended" }) },
  {
    name: "unreachable",
    prepare: (world) =>
      (world.mint = ({ method }) => (method === "POST" ? refusal("unavailable") : undefined)),
  },
  { name: "clock", number: 5, prepare: wrongClock },
  { name: "clock-plain", number: 5, prepare: wrongClock, script: false },
  {
    name: "clock-without",
    prepare: (world) => {
      wrongClock(world);
      noGrants(world);
    },
  },
  { name: "cookies", cookies: false },
  { name: "offline", number: 1_204, offline: true },
  { name: "waiting-looks", number: 1_204, event: () => ({ looks: LOOKS }) },
  { name: "known-looks", number: 75, event: () => ({ looks: LOOKS }), prepare: noGrants },
  { name: "turn-looks", number: 5, event: () => ({ looks: LOOKS }), prepare: noGrants },
  { name: "joining-looks", event: () => ({ looks: LOOKS }), prepare: noGrants },
  { name: "soldout-looks", drip: () => ({ state: "soldout" }), event: () => ({ looks: LOOKS }) },
];

interface Screen {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly scheme: "light" | "dark";
  readonly forced?: true;
  readonly print?: true;
  /** With the spaces that a reader may set (WCAG 1.4.12), and what has the focus. */
  readonly spaced?: true;
  /** en-GB when absent. */
  readonly locale?: string;
  /** The size of letters that the reader has set. */
  readonly letters?: string;
}

const SCREENS: readonly Screen[] = [
  { name: "phone", width: 390, height: 780, scheme: "light" },
  { name: "phone-dark", width: 390, height: 780, scheme: "dark" },
  { name: "desktop", width: 1_280, height: 800, scheme: "light" },
  { name: "desktop-dark", width: 1_280, height: 800, scheme: "dark" },
  { name: "small", width: 320, height: 568, scheme: "light" },
  // A page zoomed to 400 % on a desk.
  { name: "zoomed", width: 320, height: 256, scheme: "light" },
  // The reader's own letters, twice as large.
  { name: "large", width: 390, height: 780, scheme: "light", letters: "200%" },
  { name: "side", width: 640, height: 360, scheme: "light" },
  { name: "rtl", width: 360, height: 740, scheme: "light", locale: "ar" },
  { name: "spaced", width: 320, height: 640, scheme: "dark", spaced: true },
  { name: "forced", width: 390, height: 780, scheme: "dark", forced: true },
  { name: "print", width: 794, height: 1_123, scheme: "dark", print: true },
];

async function serve(scene: Scene): Promise<{ world: World; base: string; close: () => void }> {
  const world = await createWorld();
  Object.defineProperty(world, "now", { get: () => Date.now() });
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
  world.manifest = [{ ...EVENT, hosts: [host], title: "Winter night train", ...scene.event?.() }];
  world.drip = scene.drip?.() ?? {};
  scene.prepare?.(world);
  return {
    world,
    base: `http://${host}`,
    close: () => server.closeAllConnections() ?? server.close(),
  };
}

async function look(browser: Browser, scene: Scene): Promise<string[]> {
  const faults: string[] = [];
  for (const screen of SCREENS) {
    const { world, base, close } = await serve(scene);
    const context = await browser.newContext({
      viewport: { width: screen.width, height: screen.height },
      colorScheme: screen.scheme,
      forcedColors: screen.forced ? "active" : "none",
      javaScriptEnabled: scene.script !== false,
      deviceScaleFactor: 1,
      locale: screen.locale ?? language,
      bypassCSP: screen.spaced === true,
    });
    if (scene.number !== undefined) {
      const cookie = (kind: string, value: string) => ({
        name: `vst-${kind}-demo`,
        value,
        url: base,
      });
      const ticket = await world.ticket(scene.number);
      await context.addCookies([cookie("visitor", VISITOR_A), cookie("ticket", ticket)]);
      if (scene.bought) {
        const value = orderCookie({ number: scene.number, path: "/orders/AbCdEf" });
        await context.addCookies([cookie("order", value)]);
      }
      if (scene.claimed) {
        const opensAt = scene.claimed();
        const admission = await world.admission({ number: scene.number, opensAt });
        await context.addCookies([cookie("admission", admission)]);
      }
      if (scene.credit) await context.addCookies([cookie("credit", "e30.e30.c2lnbmF0dXJl")]);
    }
    const page = await context.newPage();
    const say = (text: string) => faults.push(`${scene.name} ${screen.name}: ${text}`);
    page.on("pageerror", (error) => say(error.message));
    page.on("console", (message) => {
      const expected = /Failed to load resource/.test(message.text());
      if (message.type() === "error" && !expected) say(message.text());
    });
    await page.goto(`${base}/events/demo`);
    if (scene.sent) {
      const arrived = page.waitForEvent("load");
      await page.evaluate(`
        const form = document.createElement("form");
        form.method = "post";
        form.action = "/events/demo/buy";
        document.body.append(form);
        form.submit();
      `);
      await arrived;
      const path = await page.evaluate(() => location.pathname);
      if (scene.script !== false && path !== "/events/demo") say(`lives at ${path}`);
    }
    if (scene.script !== false) {
      if (scene.offline) await context.setOffline(true);
      const state = scene.name.replace(/-.*/, "");
      await page
        .waitForFunction(
          (wanted) => document.querySelector("main")?.dataset["state"] === wanted,
          state,
          { timeout: 9_000 },
        )
        .catch(async () => say(`is in state ${await page.getAttribute("main", "data-state")}`));
      if (scene.pressed) await page.click(`#${scene.pressed} button`);
      await page.waitForTimeout(700);
    }
    if (screen.spaced) {
      await page.addStyleTag({ content: SPACED });
      await page.keyboard.press("Tab");
    }
    if (screen.print) await page.emulateMedia({ media: "print" });
    // With forced colours axe sees those that the browser does not show.
    else if (scene.script !== false && !screen.forced)
      for (const fault of await axeFaults(page)) say(fault);
    if (screen.letters !== undefined) {
      await page.evaluate((size) => {
        document.documentElement.style.fontSize = size;
      }, screen.letters);
    }
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    if (width > screen.width) say(`is ${width} px wide`);
    await page.screenshot({ path: `${folder}/${scene.name}.${screen.name}.png` });
    await context.close();
    close();
  }
  return faults;
}

const SPACED =
  "*{line-height:1.5!important;letter-spacing:.12em!important;word-spacing:.16em!important}p{margin-bottom:2em!important}";

/** All rules, best practices too. Run beside the page's own policy, which lets no other script in. */
async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run({ rules: { "target-size": { enabled: true } } })`,
  );
  return violations.map(
    ({ id, nodes }) => `axe: ${id}: ${nodes.map(({ html }) => html).join(" ")}`,
  );
}

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
const faults: string[] = [];
for (const scene of SCENES) {
  if (wanted.length === 0 || wanted.some((part) => scene.name.includes(part)))
    faults.push(...(await look(browser, scene)));
}
await browser.close();
for (const fault of faults) console.error(fault);
console.log(`${folder}: ${SCENES.length} states, ${faults.length} faults`);
process.exit(faults.length === 0 ? 0 : 1);
