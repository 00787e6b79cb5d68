/** What a fan sees and does, in a real Chromium, from the line to the confirmation. */
import { randomUUID } from "node:crypto";

import type { Browser, Cookie, Page, Route } from "playwright-core";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFailed,
  test,
} from "vitest";

import { type System, freePortBase, openEvent, startSystem } from "./start-system.ts";
import { App } from "./support/app.ts";
import {
  CHROMIUM,
  NO_CHROMIUM,
  type Shown,
  type Visitor,
  launchBrowser,
  newVisitor,
  overflowAtSmallest,
  readShown,
  shoot,
} from "./support/browser.ts";
import { Cuttable } from "./support/cuttable.ts";
import { eventually } from "./support/eventually.ts";
import { Organizer } from "./support/organizer.ts";
import { type SecondEdge, startSecondEdge } from "./support/second-edge.ts";

const CROWD = 32;
/** 2 s, and what a busy machine takes for two pages. */
const MOMENT_MS = 2_500;
const CONFIRM = { presence: "confirm" } as const;
const LATER = { ratePerMinute: 60, startsAt: Date.now() + 3_600_000, joinableAt: Date.now() };
/** Events without a shop page: for the states of the line. */
const EVENTS = {
  slow: { ratePerMinute: 1 },
  stopped: { ratePerMinute: 20 },
  short: { ratePerMinute: 600, lifetimeSeconds: 10, claimWindowSeconds: 5 },
  asked: { ratePerMinute: 20, horizonSeconds: 60, ...CONFIRM },
  "asked-now": { ratePerMinute: 600, claimWindowSeconds: 5, ...CONFIRM },
  later: LATER,
  away: { ratePerMinute: 60 },
  working: { ...LATER, friction: { proofOfWorkBits: 16 } },
};

let system: System;
let mint: Cuttable;
/** Its way to the mint can be cut. */
let second: SecondEdge;
let browser: Browser;
let visitors: Visitor[] = [];

beforeAll(async () => {
  if (CHROMIUM === undefined) {
    if (process.env["CI"] !== undefined) throw new Error(NO_CHROMIUM);
    return;
  }
  system = await startSystem({ rate: 120, horizon: 10, lifetime: 60 });
  const port = await freePortBase();
  for (const [event, settings] of Object.entries(EVENTS)) {
    await openEvent(system.ready, {
      event,
      title: "Lantern Nights: an evening of strings and light on the lake",
      hosts: [`localhost:${system.portBase}`, `127.0.0.1:${system.portBase}`, `127.0.0.1:${port}`],
      horizonSeconds: 10,
      ...settings,
    });
  }
  mint = await Cuttable.before(system.ready.mint);
  second = await startSecondEdge(system, { port, mint: mint.url });
  browser = await launchBrowser();
  await Promise.all(["demo", ...Object.keys(EVENTS)].map((event) => appOf(event).known()));
  await new App(second.url, "away").known();
});
afterAll(async () => {
  await browser?.close();
  await second?.stop();
  await mint?.close();
  await system?.stop();
});
beforeEach((context) => {
  if (CHROMIUM === undefined) context.skip(NO_CHROMIUM);
});
afterEach(async () => {
  const closing = visitors;
  visitors = [];
  await Promise.all(closing.map(({ context }) => context.close()));
});

const appOf = (event: string): App => new App(system.ready.edge, event);
const urlOf = (event: string): string => `${system.ready.edge}/events/${event}`;

async function visit(
  options: Parameters<typeof newVisitor>[2] = {},
  edge = system.ready.edge,
): Promise<Visitor> {
  const visitor = await newVisitor(browser, new URL(edge).host, options);
  visitors.push(visitor);
  onTestFailed(() => {
    console.log("what the browser met", [...visitor.trouble, ...visitor.refusals]);
  });
  return visitor;
}

/** Until the holding page is in one of these states. */
function shown(page: Page, states: readonly string[], withinMs = 30_000): Promise<Shown> {
  return eventually(
    `the page shows ${states.join(" or ")}`,
    async () => {
      const now = await readShown(page);
      return now !== undefined && states.includes(now.state) && now;
    },
    { withinMs, everyMs: 40 },
  );
}

const buyButton = (page: Page) => page.getByRole("button", { name: "Buy" });
const confirmation = (page: Page) => page.getByRole("heading", { name: "See you there" });
const number = (text: string | undefined): number => Number((text ?? "").replaceAll(/\D/g, ""));

describe("a fan behind a crowd", () => {
  test("sees number, people ahead, estimate and exact time, is let in at the announced second, and buys once", async () => {
    await appOf("demo").joinAll(CROWD);
    const fan = await visit();
    const { page, context } = fan;
    await page.goto(system.ready.eventUrl);

    const waiting = await eventually("number and people ahead", async () => {
      const now = await shown(page, ["waiting", "near"]);
      return Object.keys(now.facts).length === 2 && now;
    });
    expect(number(waiting.number)).toBeGreaterThan(CROWD);
    expect(number(waiting.facts["people ahead"])).toBeGreaterThan(0);
    expect(waiting.facts["estimated wait"]).toMatch(/^(Under 1\u00a0min|\d+(–\d+)?\u00a0min)$/);
    expect(await overflowAtSmallest(page)).toBe(0);
    await shoot(page, "waiting");

    const navigation = page.waitForResponse(
      (response) => response.request().isNavigationRequest() && response.status() === 200,
      { timeout: 60_000 },
    );
    const known = await shown(page, ["known"], 60_000);
    expect(known.number).toBe(waiting.number);
    const announced = known.facts["your turn"] ?? "";
    expect(announced).toMatch(/^\d{2}:\d{2}:\d{2}$/);
    expect(known.facts["until your turn"]).toMatch(/^\d+:\d{2}$/);
    expect(await overflowAtSmallest(page)).toBe(0);
    await shoot(page, "time-known");

    const startedAt = (await navigation).request().timing().startTime;
    expect(Math.abs(secondsApart(announced, startedAt))).toBeLessThanOrEqual(1);
    await buyButton(page).waitFor();
    expect(await overflowAtSmallest(page)).toBe(0);
    await shoot(page, "shop");

    // The admission, as somebody may copy it, alone and with everything else.
    const stolen = (await context.cookies()).filter(({ name }) => name.includes("admission"));
    expect(stolen).toHaveLength(1);

    await buyButton(page).click();
    await confirmation(page).waitFor();
    expect(await page.locator(".facts").textContent()).toContain(String(number(known.number)));
    expect(await overflowAtSmallest(page)).toBe(0);
    await shoot(page, "confirmation");
    expect(fan.trouble).toEqual([]);

    await refusesSecondPurchase(page);
    await refusesCopiedCookie(stolen);
    await keepsAllOnTheWayBack(page);
    // The refusal of the second purchase is a page of its own, with its status.
    expect(fan.trouble.filter((line) => !line.includes("status of 409"))).toEqual([]);
  });

  /** The same admission, with a purchase that is not the first one. */
  async function refusesSecondPurchase(page: Page): Promise<void> {
    const { event, sku, edge } = system.ready;
    const answer = await page
      .context()
      .request.post(`${edge}/_vestibule/events/${event}/purchases`, {
        headers: { Origin: edge, "Idempotency-Key": randomUUID() },
        data: { sku, quantity: 1 },
      });
    expect(answer.status()).toBe(409);

    // And by the shop's form, with the mark of the first order removed.
    const cookies = await page.context().cookies();
    await page.context().clearCookies({ name: `order-${event}` });
    await page.goto(system.ready.eventUrl);
    await buyButton(page).click();
    await page.getByRole("heading", { name: "You have bought already" }).waitFor();
    await shoot(page, "bought-already");
    await page.context().addCookies(cookies);
  }

  /** Another browser, which has the cookie and not the visitor's secret. */
  async function refusesCopiedCookie(stolen: readonly Cookie[]): Promise<void> {
    const thief = await visit();
    await thief.context.addCookies([...stolen]);
    await thief.page.goto(system.ready.eventUrl);
    const place = await shown(thief.page, ["joining", "waiting", "near", "known"]);
    expect(place.headline).not.toBe("");
    expect(await buyButton(thief.page).count()).toBe(0);
    expect(thief.trouble).toEqual([]);
  }

  /** Back and forward through waiting room, shop and order: always a page that goes on. */
  async function keepsAllOnTheWayBack(page: Page): Promise<void> {
    await page.goto(system.ready.eventUrl);
    await page.getByRole("link", { name: "Show my order" }).click();
    await confirmation(page).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "Show my order" }).waitFor();
    await page.goForward();
    await confirmation(page).waitFor();
  }
});

/** The announced time of day minus that of a moment, both in UTC and whole seconds. */
function secondsApart(announced: string, at: number): number {
  const [hours = 0, minutes = 0, seconds = 0] = announced.split(":").map(Number);
  const day = 86_400;
  const apart = (hours * 60 + minutes) * 60 + seconds - (Math.floor(at / 1_000) % day);
  return ((apart + day / 2 + day) % day) - day / 2;
}

test("whoever opens the page when nobody waits is in the shop in a moment, without a press", async () => {
  const organizer = new Organizer(system.ready, system.ready.event);
  await eventually("nobody waits", async () => {
    const { waiting, upcoming } = await organizer.status();
    return waiting === 0 && upcoming === 0;
  });
  const fan = await visit();
  const began = performance.now();
  await fan.page.goto(system.ready.eventUrl, { waitUntil: "commit" });
  await buyButton(fan.page).waitFor();
  expect(performance.now() - began).toBeLessThan(MOMENT_MS);
  expect(fan.trouble).toEqual([]);
});

describe("a place is kept", () => {
  test("reload, a second tab, and a tab that was closed and opened again show the same number; another browser gets another", async () => {
    await appOf("slow").joinAll(3);
    const fan = await visit();
    await fan.page.goto(urlOf("slow"));
    const first = await shown(fan.page, ["waiting", "near", "known"]);

    await fan.page.reload();
    expect((await shown(fan.page, ["waiting", "near", "known"])).number).toBe(first.number);
    const tab = await fan.context.newPage();
    await tab.goto(`${urlOf("slow")}?from=mail`);
    expect((await shown(tab, ["waiting", "near", "known"])).number).toBe(first.number);
    await Promise.all([tab.close(), fan.page.close()]);
    const reopened = await fan.context.newPage();
    await reopened.goto(urlOf("slow"));
    expect((await shown(reopened, ["waiting", "near", "known"])).number).toBe(first.number);

    const other = await visit();
    await other.page.goto(urlOf("slow"));
    const second = await shown(other.page, ["waiting", "near", "known"]);
    expect(number(second.number)).toBeGreaterThan(number(first.number));
    expect([...fan.trouble, ...other.trouble]).toEqual([]);
  });

  test("two tabs that are opened at the same time, before there is a cookie, settle on one number", async () => {
    const fan = await visit();
    const tabs = [fan.page, await fan.context.newPage()];
    await Promise.all(tabs.map((tab) => tab.goto(urlOf("slow"))));
    await Promise.all(tabs.map((tab) => shown(tab, ["waiting", "near", "known"])));
    await Promise.all(tabs.map((tab) => tab.reload()));
    const [one, other] = await Promise.all(
      tabs.map((tab) => shown(tab, ["waiting", "near", "known"])),
    );
    expect(one?.number).toBe(other?.number);
  });

  test("the mint is away: the page says so, keeps trying, and joins by itself when it is back", async () => {
    await mint.cut();
    const fan = await visit({}, second.url);
    await fan.page.goto(`${second.url}/events/away`);
    const away = await shown(fan.page, ["unreachable"]);
    expect(away.headline).toBe("We cannot reach the line right now");
    await shoot(fan.page, "unreachable");
    const tries = mint.requests.length;
    await mint.mend();
    await shown(fan.page, ["waiting", "near", "known"], 60_000);
    expect(mint.requests.length).toBeGreaterThan(tries);
  });
});

test("without JavaScript: joins by a form, looks again, goes in and buys", async () => {
  const fan = await visit({ javaScriptEnabled: false });
  const { page } = fan;
  await page.goto(system.ready.eventUrl);
  await shoot(page, "joining");
  await page.getByRole("button", { name: "Join the line" }).click();
  const place = await page.locator("#number").textContent();
  expect(number(place ?? "")).toBeGreaterThan(0);
  await shoot(page, "without-javascript");

  const enter = page.getByRole("button", { name: "Go in" });
  await eventually(
    "it is the fan's turn",
    async () => {
      if (await enter.isVisible()) return true;
      await page.getByRole("link", { name: "Look again" }).click();
      expect(await page.locator("#number").textContent()).toBe(place);
      return false;
    },
    { withinMs: 60_000, everyMs: 500 },
  );
  await shoot(page, "your-turn");
  expect(await overflowAtSmallest(page)).toBe(0);
  await enter.click();
  await buyButton(page).click();
  await confirmation(page).waitFor();
  expect(fan.trouble).toEqual([]);
});

describe("a sale that asks for work before a place", () => {
  test("the page does it, says so, and has a place that a reload keeps", async () => {
    const fan = await visit();
    // Kept in the page: what it says may last for a moment only.
    await fan.page.addInitScript(() => {
      const said: string[] = [];
      Object.assign(globalThis, { said });
      new MutationObserver(() => {
        said.push(document.getElementById("lead")?.textContent ?? "");
      }).observe(document, { subtree: true, childList: true, characterData: true });
    });
    await fan.page.goto(urlOf("working"));
    const place = await shown(fan.page, ["scheduled"], 60_000);
    const said = await fan.page.evaluate(() => (globalThis as unknown as { said: string[] }).said);
    expect(said).toContain("Checking your browser.");
    await fan.page.reload();
    expect((await shown(fan.page, ["scheduled"])).number).toBe(place.number);
    // The first join is told what to do.
    expect(fan.trouble.filter((line) => !line.includes("status of 428"))).toEqual([]);
  });

  test("without JavaScript the page says that nobody can join it, and has no button for that", async () => {
    const { page } = await visit({ javaScriptEnabled: false });
    await page.goto(urlOf("working"));
    const said = page.locator("noscript p");
    expect(await said.textContent()).toContain("Without JavaScript nobody can join this line");
    expect(await said.isVisible()).toBe(true);
    expect(await page.getByRole("button", { name: "Join the line" }).isVisible()).toBe(false);
  });
});

describe("the language of the page", () => {
  const spoken = (page: Page) => page.locator("html").getAttribute("lang");
  const place = async (page: Page) => number((await page.locator("#number").textContent()) ?? "");

  test("is the browser's, and changes with a choice; the place stays, and so does the choice", async () => {
    const { page, trouble } = await visit({ locale: "de-DE" });
    await page.goto(urlOf("later"));
    await shown(page, ["scheduled"]);
    expect(await spoken(page)).toBe("de");
    await page.locator("#place").waitFor();
    const before = await place(page);
    await page.getByLabel("Sprache").selectOption("العربية");
    await page.locator("html[lang=ar][dir=rtl]").waitFor();
    // By keys nobody is carried off before they have said so.
    const select = page.getByLabel("اللغة");
    await select.focus();
    await page.keyboard.press("ArrowDown");
    await page.getByRole("button", { name: "تغيير" }).click();
    await page.locator("html[lang=de]").waitFor();
    await page.getByLabel("Sprache").selectOption("日本語");
    await page.locator("html[lang=ja]").waitFor();
    await page.reload();
    expect(await spoken(page)).toBe("ja");
    expect(before).toBeGreaterThan(0);
    expect(await place(page)).toBe(before);
    expect(trouble).toEqual([]);
  });

  test("without JavaScript there is a button", async () => {
    const { page } = await visit({ locale: "uk-UA", javaScriptEnabled: false });
    await page.goto(urlOf("later"));
    await page.getByRole("button", { name: "Стати в чергу" }).click();
    const before = await place(page);
    await page.getByLabel("Мова").selectOption("हिन्दी");
    await page.getByRole("button", { name: "Змінити" }).click();
    await page.locator("html[lang=hi]").waitFor();
    expect(before).toBeGreaterThan(0);
    expect(await place(page)).toBe(before);
  });
});

describe("asked whether they are there", () => {
  const PRESS = "I’m here";

  test("nobody goes in without a press; who does not has missed the turn, joins again, presses, and is in", async () => {
    const { page } = await visit();
    await page.goto(urlOf("asked-now"));
    expect((await shown(page, ["confirm"])).headline).toBe("It is your turn. Are you here?");
    expect((await shown(page, ["missed"])).headline).toBe("Your turn has passed");
    await page.getByRole("button", { name: "Join the line again" }).click();
    await shown(page, ["confirm"]);
    // Its own pages are marked so that no search engine lists them.
    const isIn = page.waitForResponse(
      (answer) => answer.request().isNavigationRequest() && !("x-robots-tag" in answer.headers()),
    );
    await page.getByRole("button", { name: PRESS }).click();
    await isIn;
  });

  test("before the turn, by keyboard and on the smallest screen; said once is said, also when the page is loaded again", async () => {
    await appOf("asked").joinAll(10);
    const { page, trouble } = await visit();
    const claims: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/admissions")) claims.push(request.postData() ?? "");
    });
    await page.goto(urlOf("asked"));
    const asked = await shown(page, ["confirm"]);
    expect(asked.headline).toBe("Are you here?");
    expect(asked.facts["left to press"]).toMatch(/^\d:\d{2}$/);
    expect(await page.title()).toMatch(/^\d:\d{2} · Are you here\? · /);
    expect(await overflowAtSmallest(page)).toBe(0);
    await shoot(page, "asked");
    // Pressed before the first look at the line has its answer: it counts.
    const late = async (route: Route) => page.waitForTimeout(1_500).then(() => route.continue());
    await page.route("**/drip", late, { times: 1 });
    await page.reload();
    await shown(page, ["confirm"]);
    expect(claims).toEqual([]);

    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(PRESS);
    await page.keyboard.press("Enter");
    const known = await shown(page, ["known"]);
    expect(known.facts["your turn"]).toBe(asked.facts["your turn"]);
    await page.reload();
    await shown(page, ["known"]);
    expect(claims).toEqual(['{"confirmed":true}']);
    expect(trouble).toEqual([]);
  });

  test("without JavaScript: a button, and then the page says when", async () => {
    const { page, trouble } = await visit({ javaScriptEnabled: false });
    await page.goto(urlOf("asked"));
    await page.getByRole("button", { name: "Join the line" }).click();
    const press = page.getByRole("button", { name: PRESS });
    await eventually("the page asks", async () => {
      if (await press.isVisible()) return true;
      await page.goto(urlOf("asked"));
      return press.isVisible();
    });
    expect(await overflowAtSmallest(page)).toBe(0);
    await shoot(page, "asked-without-javascript");
    await press.click();
    await page.getByText("You have said that you are here").waitFor();
    expect(await press.isVisible()).toBe(false);
    expect(page.url()).toBe(urlOf("asked"));
    expect(trouble).toEqual([]);
  });
});

describe("who comes after the turn", () => {
  test("with the shop's form: nothing is bought, and a page leads back in; the order opens when the turn is over", async () => {
    const fan = await visit();
    const { page, context } = fan;
    const endTurn = () => context.clearCookies({ name: /vst-admission/ });
    await page.goto(system.ready.eventUrl);
    await buyButton(page).waitFor({ timeout: 60_000 });
    await endTurn();
    const answer = page.waitForResponse((response) => response.url().endsWith("/buy"));
    await buyButton(page).click();
    expect((await answer).status()).toBe(429);
    expect((await answer).headers()["content-type"]).toContain("text/html");
    // The slot is still there: claimed anew, and in by a GET of the shop's page.
    await buyButton(page).waitFor();
    expect(page.url()).toBe(system.ready.eventUrl);

    await buyButton(page).click();
    await confirmation(page).waitFor();
    const orderUrl = page.url();
    await endTurn();
    await page.reload();
    await confirmation(page).waitFor();
    expect(await overflowAtSmallest(page)).toBe(0);
    await page.goto(system.ready.eventUrl);
    expect((await shown(page, ["bought"])).headline).toBe("You have bought");
    expect(await overflowAtSmallest(page)).toBe(0);
    await shoot(page, "bought");
    await page.getByRole("link", { name: "To your order" }).click();
    await confirmation(page).waitFor();
    expect(page.url()).toBe(orderUrl);
    await page.goto(new URL("/", orderUrl).href);
    await page.getByRole("link", { name: "Show my order" }).waitFor();
    await shoot(page, "front-page-bought");

    const stranger = await visit();
    await stranger.page.goto(orderUrl);
    await stranger.page.getByRole("heading", { name: "There is nothing here" }).waitFor();
    expect(fan.trouble.filter((line) => !line.includes("status of 429"))).toEqual([]);
  });

  test("without JavaScript: is not told that it is almost their turn, hears with a press that it has passed, and joins again", async () => {
    const { page } = await visit({ javaScriptEnabled: false });
    await page.goto(urlOf("short"));
    await page.getByRole("button", { name: "Join the line" }).click();
    const place = await page.locator("#number").textContent();
    const take = page.getByRole("button", { name: "Take my turn" });
    await eventually(
      "the line has passed",
      async () => {
        if (await take.isVisible()) return true;
        await page.goto(urlOf("short"));
        return take.isVisible();
      },
      { withinMs: 60_000, everyMs: 500 },
    );
    expect(await page.getByText("Almost your turn").count()).toBe(0);
    await shoot(page, "passed-without-javascript");
    await take.click();
    await page.getByRole("heading", { name: "Your turn has passed" }).waitFor();
    await page.getByRole("button", { name: "Join the line again" }).click();
    expect(page.url()).toBe(urlOf("short"));
    expect(number((await page.locator("#number").textContent()) ?? "")).toBeGreaterThan(
      number(place ?? ""),
    );
  });
});

describe("what else the line may say", () => {
  test("it is paused and goes on without a reload; sold out; over: each in words, with the place as it was", async () => {
    await appOf("stopped").joinAll(40);
    const organizer = new Organizer(system.ready, "stopped");
    const fan = await visit();
    const { page } = fan;
    await page.goto(urlOf("stopped"));
    const { number: place } = await shown(page, ["waiting", "near"]);
    const look = async (state: string): Promise<void> => {
      const now = await shown(page, [state]);
      expect(now.number).toBe(state === "ended" ? "" : place);
      expect(await overflowAtSmallest(page)).toBe(0);
      await shoot(page, state);
    };
    // A page that came back from a lost network looks at once; else within half a minute.
    const comeBack = () => page.evaluate(() => globalThis.dispatchEvent(new Event("online")));
    await organizer.hold();
    await comeBack();
    await look("paused");
    await eventually("a hold lasts for its second", async () => (await organizer.resume(), true));
    await comeBack();
    await shown(page, ["near", "waiting"], 40_000);
    for (const [state, act] of [
      ["soldout", () => organizer.soldout()],
      ["ended", () => organizer.end()],
    ] as const) {
      await act();
      await eventually(state, async () => (await appOf("stopped").drip()).state === state);
      await page.reload();
      await look(state);
    }
    expect(fan.trouble).toEqual([]);
  });

  test("a turn that was missed: says what happened, and one press joins again at the end", async () => {
    const fan = await visit();
    const { page } = fan;
    // The network loses every claim of this fan.
    await page.route("**/admissions", (route) => route.abort());
    await page.goto(urlOf("short"));
    const { number: place } = await shown(page, ["turn"]);
    await shoot(page, "turn");
    await shown(page, ["missed"]);
    expect(await overflowAtSmallest(page)).toBe(0);
    await shoot(page, "missed");
    await page.getByRole("button", { name: "Join the line again" }).click();
    const again = await shown(page, ["near", "known", "turn", "waiting"]);
    expect(number(again.number)).toBeGreaterThan(number(place));
  });

  test("a sale that opens later: counts down, and the place is kept", async () => {
    const fan = await visit();
    await fan.page.goto(urlOf("later"));
    const now = await shown(fan.page, ["scheduled"]);
    expect(now.headline).toBe("Not open yet");
    await eventually("a number", async () => number((await readShown(fan.page))?.number) > 0);
    expect(await overflowAtSmallest(fan.page)).toBe(0);
    await shoot(fan.page, "scheduled");
    expect(fan.trouble).toEqual([]);
  });
});
