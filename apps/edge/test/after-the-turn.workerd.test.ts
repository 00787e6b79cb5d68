/** What somebody meets who comes after their turn: with a form, without JavaScript, or with an order. */
import { cookieName, orderCookie } from "@vestibule/contracts/names";
import { describe, expect, test } from "vitest";
import {
  EVENT,
  NOW,
  OWN_PAGE,
  PAGE_VIEW,
  VISITOR_A,
  cookies,
  createWorld,
  refusal,
} from "./world.ts";

type World = Awaited<ReturnType<typeof createWorld>>;

const FORM = {
  ...PAGE_VIEW,
  ...OWN_PAGE,
  "Sec-Fetch-Mode": "navigate",
  "Sec-Fetch-Dest": "document",
  "Content-Type": "application/x-www-form-urlencoded",
};
const CLAIM = "/_vestibule/events/demo/admissions";
const OLD = { base: 1, count: 100, from: NOW - 900_000, until: NOW - 800_000 };
const CREDIT = "__Host-vst-credit-demo=e30.e30.c2lnbmF0dXJl";

async function cookiesOf(world: World, number: number, more = ""): Promise<string> {
  const own = cookies({ visitor: VISITOR_A, ticket: await world.ticket(number) });
  return more === "" ? own : `${own}; ${more}`;
}
const orderOf = (number: number, path: string): string =>
  `${cookieName("order", "demo", { https: true })}=${orderCookie({ number, path })}`;
/** What is to be seen of a page. */
const seen = (html: string): string =>
  html
    .slice(html.indexOf("<body>"), html.indexOf("<script"))
    .replaceAll(/<(\w+)[^>]* hidden>.*?<\/\1>/g, "");
const stateOf = (html: string): string | undefined => /data-state="(\w+)"/.exec(html)?.[1];
const dataOf = (html: string): Record<string, unknown> =>
  JSON.parse(/id="data"[^>]*>([^<]*)</.exec(html)?.[1] ?? "") as Record<string, unknown>;

describe("a form for the shop that is sent outside of the turn", () => {
  test.each([
    [200, 429],
    [429, 429],
    [503, 503],
  ])(
    "where pages are held with %i: the holding page with %i, which leads home and never sends it again",
    async (holdingStatus, status) => {
      const world = await createWorld();
      world.manifest = [{ ...EVENT, holdingStatus }];
      world.drip = { segments: [] };
      const headers = { ...FORM, Cookie: await cookiesOf(world, 5, CREDIT) };
      const response = await world.post("/events/demo/buy", { headers, body: "quantity=2" });
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toContain("text/html");
      expect(response.headers.get("cache-control")).toBe("private, no-store");
      expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
      expect(response.headers.get("vary")).toContain("Accept");
      const html = await response.text();
      expect(seen(html)).toContain("has not reached the shop");
      expect(stateOf(html)).toBe("credit");
      expect(dataOf(html)).toMatchObject({ back: "/events/demo" });
      expect(html).not.toContain("/events/demo/buy");
      expect(world.toOrigin()).toEqual([]);
      expect(world.grants()).toEqual([]);
    },
  );

  test("by an older browser, which says no more than that it wants a page", async () => {
    const world = await createWorld();
    const headers = { ...PAGE_VIEW, "Content-Type": "application/x-www-form-urlencoded" };
    const response = await world.post("/events/demo/buy", { headers, body: "quantity=2" });
    expect(response.status).toBe(429);
    expect(stateOf(await response.text())).toBe("joining");
  });

  test("from another site, whose POST carries no cookies: no cookie of the browser is replaced", async () => {
    const world = await createWorld();
    const headers = { ...FORM, "Sec-Fetch-Site": "cross-site", Origin: "https://pay.example" };
    const response = await world.post("/events/demo/paid", { headers, body: "ok=1" });
    expect(response.status).toBe(429);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("a page view is told nothing of it", async () => {
    const world = await createWorld();
    const html = await (await world.get("/events/demo", { headers: PAGE_VIEW })).text();
    expect(seen(html)).not.toContain("has not reached the shop");
    expect(dataOf(html)).not.toHaveProperty("back");
  });
});

describe("without JavaScript, when the line has passed", () => {
  const page = async (world: World, more = "") => {
    const headers = { ...PAGE_VIEW, Cookie: await cookiesOf(world, 5, more) };
    return (await world.get("/events/demo?a=1", { headers })).text();
  };
  const press = async (world: World, more = "") => {
    const headers = { ...FORM, Cookie: await cookiesOf(world, 5, more) };
    const response = await world.post(CLAIM, { headers, body: "return=%2Fevents%2Fdemo%3Fa%3D1" });
    return { response, html: await response.text() };
  };
  const visible = (html: string, id: string) => new RegExp(`id="${id}"(?![^>]* hidden)`).test(html);

  test("the page does not say that it is almost their turn, and its button claims", async () => {
    const world = await createWorld();
    world.drip = { segments: [] };
    const html = await page(world);
    expect(seen(html)).not.toMatch(/Almost your turn|ahead of you|place stays yours on/);
    expect(visible(html, "take")).toBe(true);
    expect(html).not.toMatch(/again nojs"(?! hidden)/);
  });

  test("over: the answer says so, and offers to join again, with the way back of the form", async () => {
    const world = await createWorld();
    world.drip = { segments: [] };
    world.mint = ({ url }) => (url.endsWith("/admissions") ? refusal("slot-over") : undefined);
    const { response, html } = await press(world);
    expect(response.status).toBe(410);
    expect(stateOf(html)).toBe("missed");
    expect(visible(html, "join")).toBe(true);
    expect(html).toContain('name="return" value="/events/demo?a=1"');
    expect(dataOf(html)).toMatchObject({ missed: true, back: "/events/demo?a=1" });
    expect(seen(html)).not.toMatch(/taken up in time/);
  });

  test("owed: the answer says that the next turn is theirs", async () => {
    const world = await createWorld();
    world.drip = { segments: [] };
    world.mint = ({ url }) =>
      url.endsWith("/admissions") ? refusal("too-early", { "Retry-After": "2" }) : undefined;
    const { response, html } = await press(world);
    expect(response.status).toBe(425);
    expect(stateOf(html)).toBe("owed");
    expect(seen(html)).toContain("You get the next turn");
    expect(html).toContain('<a href="/events/demo?a=1">Look again</a>');
  });

  test("granted: to the shop; held: to the page that says so", async () => {
    const world = await createWorld();
    world.drip = { segments: [] };
    const { response } = await press(world);
    expect(response.status).toBe(303);
    expect(response.headers.getSetCookie().join()).toContain("__Host-vst-admission-demo=");
    const held = await createWorld();
    held.drip = { segments: [], state: "paused", heldSince: NOW - 9_000, heldReason: "Rain" };
    held.mint = ({ url }) => (url.endsWith("/admissions") ? refusal("held") : undefined);
    const answer = await press(held);
    expect(answer.response.status).toBe(303);
    expect(answer.response.headers.get("location")).toBe("/events/demo?a=1");
    const paused = await page(held);
    expect(stateOf(paused)).toBe("paused");
    expect(paused).toMatch(/id="notice"[^>]*>Rain</);
  });

  test("with a credit: words and button say what a press does", async () => {
    const world = await createWorld();
    world.drip = { segments: [OLD] };
    const html = await page(world, CREDIT);
    expect(stateOf(html)).toBe("credit");
    expect(visible(html, "take")).toBe(true);
    expect(visible(html, "enter")).toBe(false);
    expect(seen(html)).not.toContain("this page takes it");
    world.mint = ({ url }) => (url.endsWith("/admissions") ? refusal("too-early") : undefined);
    const { html: told } = await press(world, CREDIT);
    expect(stateOf(told)).toBe("owed");
  });
});

describe("whoever has bought", () => {
  const order = "/orders/AbCdEfGhIjKlMnOpQrStUv";

  test.each([
    ["whose slot has left the statement", { segments: [] }],
    ["whose slot is over", { segments: [OLD] }],
    ["in a sale that is sold out", { state: "soldout" as const, segments: [] }],
    ["in a sale that has ended", { state: "ended" as const }],
  ])(
    "%s is led to the order, and is not told of a turn that was missed or kept",
    async (_name, drip) => {
      const world = await createWorld();
      world.drip = drip;
      const headers = {
        ...PAGE_VIEW,
        Cookie: await cookiesOf(world, 5, `${orderOf(5, order)}; ${CREDIT}`),
      };
      const html = await (await world.get("/events/demo", { headers })).text();
      expect(stateOf(html)).toBe("bought");
      expect(seen(html)).toContain("You have bought");
      expect(html).toContain(`id="order"><a href="${order}">To your order</a>`);
      expect(seen(html)).not.toMatch(/not lost|has passed|place stays yours/);
      expect(dataOf(html)).toMatchObject({ order });
      expect(dataOf(html)).not.toHaveProperty("credit");
    },
  );

  test("hears of the order from /me and from a claim that comes too late, and claims without a credit", async () => {
    const world = await createWorld();
    world.drip = { segments: [] };
    world.mint = ({ url }) => (url.endsWith("/admissions") ? refusal("slot-over") : undefined);
    const Cookie = await cookiesOf(world, 5, `${orderOf(5, order)}; ${CREDIT}`);
    const me = await world.get("/_vestibule/events/demo/me", { headers: { Cookie } });
    expect(await me.json()).toEqual({ number: 5, state: "bought", order });
    const claim = await world.post(CLAIM, { headers: { ...OWN_PAGE, Cookie } });
    expect(claim.status).toBe(410);
    expect(await claim.json()).toMatchObject({ order });
    expect(JSON.parse(world.grants()[0]?.body ?? "")).not.toHaveProperty("credit");
  });

  test.each([
    ["another place of the same browser", orderOf(4, order)],
    ["another site", orderOf(5, "//evil.example/")],
    ["another site, in disguise", orderOf(5, "/\\evil.example")],
    ["a script", orderOf(5, "javascript:alert(1)")],
    ["an endpoint of ours", orderOf(5, "/_vestibule/events/demo/me")],
    ["a broken escape", `${cookieName("order", "demo", { https: true })}=5.%E0%A4%A`],
    ["nothing", `${cookieName("order", "demo", { https: true })}=5.`],
  ])("a cookie of %s says nothing", async (_name, cookie) => {
    const world = await createWorld();
    world.drip = { segments: [OLD] };
    const headers = { ...PAGE_VIEW, Cookie: await cookiesOf(world, 5, cookie) };
    const html = await (await world.get("/events/demo", { headers })).text();
    expect(stateOf(html)).toBe("missed");
    expect(seen(html)).not.toMatch(/evil|javascript:/);
  });

  test("the cookie is ours, and not forwarded to the origin", async () => {
    const world = await createWorld();
    await world.get("/", { headers: { Cookie: `${orderOf(5, order)}; own=1` } });
    expect(world.toOrigin()[0]?.headers.get("cookie")).toBe("own=1");
  });
});
