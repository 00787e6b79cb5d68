import { afterEach, beforeEach, expect, test } from "vitest";
import { silentLog } from "@vestibule/service/log";
import { systemRandomness } from "@vestibule/kernel/randomness.system";
import { readBuyForm } from "../src/buy-form.ts";
import { isSameSite } from "../src/same-site.ts";
import { startShop } from "../src/service.ts";
import { ORDER, type PurchaseStub, problemOf, startPurchaseStub } from "./purchase-stub.ts";

let stub: PurchaseStub;
let shop: Awaited<ReturnType<typeof startShop>>;
const PASS = { "Vestibule-Admission": "admission-text", "Vestibule-Visitor": "visitor-secret" };
const BUYER = { Cookie: "buyer=visitor-secret" };
const KEY = "A".repeat(22);

beforeEach(async () => {
  stub = await startPurchaseStub();
  shop = await startShop(
    { host: "127.0.0.1", port: 0, purchaseUrl: stub.url, event: "demo", sku: "seat" },
    { randomness: systemRandomness, log: silentLog },
  );
});
afterEach(async () => {
  await shop.stop();
  stub.close();
});

const get = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(shop.url + path, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
const post = async (
  headers: Record<string, string> = PASS,
  body: string = `key=${KEY}&quantity=2`,
) => {
  const answer = await fetch(`${shop.url}/events/demo/buy`, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    body,
    redirect: "manual",
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

test("every page forbids script, framing and sniffing; personal pages are never stored", async () => {
  for (const path of ["/", "/events/demo", "/orders/x", "/nowhere"]) {
    const { headers } = await get(path, PASS);
    expect(headers.get("content-security-policy")).toMatch(/default-src 'none'.*frame-ancestors/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    if (path !== "/") expect(headers.get("cache-control")).toBe("no-store");
  }
});

test("a page needs no script and nothing from another site", async () => {
  const { text } = await get("/events/demo", PASS);
  expect(text).not.toMatch(/<script|onclick|style="|https?:\/\//);
  const styles = /href="(\/assets\/[^"]+\.css)"/.exec(text)?.[1];
  expect((await get(styles ?? "")).headers.get("content-type")).toBe("text/css; charset=utf-8");
});

test("an admitted fan gets a form with a key of its own each time, and sees the seats left", async () => {
  const [first, second] = [await get("/events/demo", PASS), await get("/events/demo", PASS)];
  const keyOf = (text: string) => /name="key" value="([A-Za-z0-9_-]{22})"/.exec(text)?.[1];
  expect(keyOf(first.text)).toBeDefined();
  expect(keyOf(first.text)).not.toBe(keyOf(second.text));
  expect(first.text).toContain("128 seats left");
});

test("nobody is offered more seats than are left; what is not known is no bound", async () => {
  const offered = async () =>
    [...(await get("/events/demo", PASS)).text.matchAll(/<option value="(\d)"/g)].map(
      ([, value]) => value,
    );
  expect(await offered()).toEqual(["1", "2", "3", "4"]);
  stub.stock = [{ sku: "seat", available: true, remaining: 1 }];
  expect(await offered()).toEqual(["1"]);
  expect((await get("/events/demo", PASS)).text).toContain("1 seat left");
  stub.stock = [{ sku: "seat", available: true }];
  expect(await offered()).toEqual(["1", "2", "3", "4"]);
});

test("without the edge's headers there is no form, and a post buys nothing", async () => {
  expect((await get("/events/demo")).text).toMatch(/waiting room/);
  expect((await get("/events/demo")).text).not.toContain("<form");
  expect((await post({})).status).toBe(403);
  expect(stub.purchases).toHaveLength(0);
});

test("buying passes on admission, visitor and key, and leads to the order's page", async () => {
  const answer = await post();
  expect(answer.status).toBe(303);
  expect(answer.headers.get("location")).toBe(`/orders/${ORDER.orderId}`);
  expect(stub.purchases[0]?.headers).toMatchObject({
    "vestibule-admission": "admission-text",
    "vestibule-visitor": "visitor-secret",
    "idempotency-key": KEY,
  });
  expect(JSON.parse(stub.purchases[0]?.body ?? "")).toEqual({ sku: "seat", quantity: 2 });
  const cookie = answer.headers.getSetCookie().find((text) => text.startsWith("order-")) ?? "";
  expect(cookie).toMatch(/^order-demo=\S+; Path=\/; .*HttpOnly; SameSite=Lax$/);
  const again = await get("/events/demo", { ...PASS, Cookie: cookie.split(";")[0] ?? "" });
  expect(again.text).toContain("You have your seats");
});

test.each([
  ["already bought", problemOf("already-spent", 409), 409, "You have bought already"],
  ["sold out", problemOf("sold-out", 409), 409, "Not enough seats left"],
  ["not admitted", problemOf("admission-required", 401), 403, "It is not your turn"],
  ["paused", problemOf("held", 503), 503, "The sale is paused"],
  ["unavailable", problemOf("unavailable", 503), 503, "does not answer"],
  ["cut off", "cut-off" as const, 503, "does not answer"],
  ["refused otherwise", problemOf("idempotency-mismatch", 422), 400, "That did not work"],
])("%s has a page that says so", async (_name, answer, status, heading) => {
  stub.answer = answer;
  const page = await post();
  expect(page.status).toBe(status);
  expect(page.text).toContain(heading);
});

test("when the answer was lost, trying again sends the same key and quantity", async () => {
  stub.answer = "cut-off";
  const { text } = await post();
  expect(text).toContain(`name="key" value="${KEY}"`);
  expect(text).toContain('name="quantity" value="2"');
});

test.each([
  ["another site by Sec-Fetch-Site", { "Sec-Fetch-Site": "cross-site" }],
  ["a sibling site", { "Sec-Fetch-Site": "same-site" }],
  ["another Origin", { Origin: "https://evil.test" }],
  ["an opaque Origin", { Origin: "null" }],
])("a post from %s is refused and buys nothing", async (_name, headers) => {
  expect((await post({ ...PASS, ...headers })).status).toBe(403);
  expect(stub.purchases).toHaveLength(0);
});

test("a post from our own page is taken, directly and behind the edge", () => {
  const host = "shop.test:8787";
  const origin = `http://${host}`;
  expect(isSameSite({ secFetchSite: "same-origin", origin, host: "127.0.0.1:9" })).toBe(true);
  expect(isSameSite({ secFetchSite: undefined, origin, host })).toBe(true);
  expect(isSameSite({ secFetchSite: undefined, origin, host: "other.test" })).toBe(false);
});

test.each([
  "",
  "quantity=2",
  `key=${KEY}`,
  `key=${KEY}&quantity=0`,
  `key=${KEY}&quantity=5`,
  `key=${KEY}&quantity=1.5`,
  `key=${KEY}&quantity=1e0`,
  `key=${KEY}x&quantity=1`,
  `key=${KEY}&quantity=1&more=${"x".repeat(3_000)}`,
])("a form that is not ours is refused: %s", async (body) => {
  expect(readBuyForm(body)).toBeUndefined();
  expect((await post(PASS, body)).status).toBe(400);
  expect(stub.purchases).toHaveLength(0);
});

test("seats left are shown only as far as the purchase API says, and its absence is no error", async () => {
  const text = async (stock: unknown) => {
    stub.stock = stock;
    return (await get("/events/demo", PASS)).text;
  };
  expect(await text([{ sku: "seat", available: true }])).toContain("Seats available");
  expect(await text([{ sku: "seat", available: true, remaining: 1 }])).toContain("1 seat left");
  const soldOut = await text([{ sku: "seat", available: false }]);
  expect(soldOut).toContain("Sold out");
  expect(soldOut).not.toContain("<form");
  expect(await text([])).toContain("Not on sale yet");
  stub.answer = "cut-off";
  expect(await text([])).toContain("not known right now");
});

test("the front page says when nothing is left, and offers the sale when it does not know", async () => {
  expect((await get("/")).text).toContain("On sale now");
  stub.stock = [{ sku: "seat", available: false }];
  const soldOut = (await get("/")).text;
  expect(soldOut).toContain("Sold out");
  expect(soldOut).not.toContain("On sale now");
  stub.close();
  expect((await get("/")).text).toContain("Get seats");
});

test("text from outside is shown as text", async () => {
  stub.answer = { status: 201, body: ORDER };
  const { text } = await get("/orders/%3Cscript%3Ealert(1)%3C%2Fscript%3E", BUYER);
  expect(text).not.toContain("<script");
  const cookie = await get("/events/demo", { ...PASS, Cookie: 'order-demo="><script>' });
  expect(cookie.text).not.toContain("<script");
});

test.each([
  ["https", "__Host-vst-credit-demo", "; Secure"],
  ["http", "vst-credit-demo", ""],
])(
  "over %s a failure of ours keeps the turn: the credit goes into a cookie, and the page says so",
  async (proto, name, secure) => {
    const credit = "e30.e30.c2lnbmF0dXJl";
    const failed = problemOf("unavailable", 503);
    stub.answer = { ...failed, body: { ...(failed.body as object), credit } };
    const page = await post({ ...PASS, "X-Forwarded-Proto": proto });
    expect(page.status).toBe(503);
    expect(page.text).toContain("Your turn is not lost");
    expect(page.text).toContain(`name="key" value="${KEY}"`);
    expect(page.text).not.toContain(credit);
    expect(page.headers.getSetCookie()).toEqual([
      `${name}=${credit}; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax${secure}`,
    ]);
    expect(page.headers.get("cache-control")).toBe("no-store");
  },
);

test("a hold that fails our side keeps the turn as well, and whoever has bought keeps no credit", async () => {
  const credit = "e30.e30.c2lnbmF0dXJl";
  const failed = problemOf("held", 503);
  stub.answer = { ...failed, body: { ...(failed.body as object), credit } };
  expect((await post()).headers.getSetCookie().join()).toContain(`vst-credit-demo=${credit}`);
  for (const answer of [{ status: 201, body: ORDER }, problemOf("already-spent", 409)]) {
    stub.answer = answer;
    const cookies = (await post()).headers.getSetCookie();
    expect(cookies).toContain("vst-credit-demo=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
  }
});

test.each([
  ["without one", problemOf("unavailable", 503)],
  ["of a refusal that is no fault of ours", { status: 409, body: { credit: "a.b.c" } }],
  [
    "that would break out of its cookie",
    { status: 503, body: { credit: "a.b.c; Domain=evil.test" } },
  ],
  ["of two lines", { status: 503, body: { credit: "a.b.c\r\nSet-Cookie: x=y" } }],
  ["that is no text", { status: 503, body: { credit: ["a.b.c"] } }],
  ["longer than any token", { status: 503, body: { credit: `${"a".repeat(2_048)}.b.c` } }],
  ["of a body that is none", { status: 503, body: null }],
  ["cut off", "cut-off" as const],
])("a credit %s: no cookie, and no promise that nobody keeps", async (_name, answer) => {
  stub.answer = answer;
  const page = await post();
  expect(page.headers.getSetCookie()).toEqual([]);
  expect(page.text).not.toContain("not lost");
});
