/** An order after the turn: the edge no longer says who comes, and nothing of it lies below a protected path. */
import { silentLog } from "@vestibule/service/log";
import { systemRandomness } from "@vestibule/kernel/randomness.system";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startShop } from "../src/service.ts";
import { ORDER, type PurchaseStub, problemOf, startPurchaseStub } from "./purchase-stub.ts";

let stub: PurchaseStub;
let shop: Awaited<ReturnType<typeof startShop>>;
const PASS = { "Vestibule-Admission": "admission-text", "Vestibule-Visitor": "visitor-secret" };
const HTTPS = { "X-Forwarded-Proto": "https" };
const PATH = `/orders/${ORDER.orderId}`;

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

const buy = async (headers: Record<string, string> = {}) => {
  const answer = await fetch(`${shop.url}/events/demo/buy`, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", ...PASS, ...headers },
    body: `key=${"A".repeat(22)}&quantity=2`,
    redirect: "manual",
  });
  return {
    status: answer.status,
    location: answer.headers.get("location"),
    cookies: answer.headers.getSetCookie().filter((cookie) => !cookie.includes("credit")),
    text: await answer.text(),
  };
};
const get = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(shop.url + path, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};
/** What a browser sends back to `path`. */
const sentTo = (path: string, cookies: readonly string[]): string =>
  cookies
    .filter((cookie) => path.startsWith(/Path=([^;]*)/.exec(cookie)?.[1] ?? "none"))
    .map((cookie) => cookie.split(";", 1)[0])
    .join("; ");

test.each([
  ["https", HTTPS, { secure: "__Secure-", host: "__Host-", end: "; Secure" }],
  ["http", {}, { secure: "", host: "", end: "" }],
])(
  "over %s a purchase leaves cookies that open the order, name it, and tell the waiting room; no secret is in an address",
  async (_proto, headers, { secure, host, end }) => {
    const { status, location, cookies } = await buy(headers);
    expect([status, location]).toEqual([303, PATH]);
    const rest = `Max-Age=2592000; HttpOnly; SameSite=Lax${end}`;
    expect(cookies).toEqual([
      `${host}order-demo=${ORDER.orderId}; Path=/; ${rest}`,
      `${secure}buyer=visitor-secret; Path=${PATH}; ${rest}`,
      `${host}vst-order-demo=${ORDER.number}.${encodeURIComponent(PATH)}; Path=/; ${rest}`,
    ]);
    expect(sentTo("/events/demo", cookies)).not.toContain("visitor-secret");
    // The turn is over: no header of the edge comes along any more.
    const page = await get(PATH, { ...headers, Cookie: sentTo(PATH, cookies) });
    expect(page.status).toBe(200);
    expect(page.text).toContain(ORDER.orderId);
    expect(page.headers.get("cache-control")).toBe("no-store");
    const front = await get("/", { ...headers, Cookie: sentTo("/", cookies) });
    expect(front.text).toContain(`href="${PATH}"`);
    expect(front.headers.get("cache-control")).toBe("no-store");
  },
);

test("its path alone opens nothing, nor does another visitor's cookie, nor a header that nobody vouches for", async () => {
  for (const headers of [
    {},
    { Cookie: "buyer=somebody" },
    { "Vestibule-Visitor": "visitor-secret" },
    { ...HTTPS, Cookie: "buyer=visitor-secret" },
  ]) {
    expect((await get(PATH, headers)).status).toBe(404);
  }
  expect((await get("/orders/x", { Cookie: "buyer=visitor-secret" })).status).toBe(404);
});

test("M4: whoever lost the answer and asks with another key is led to the order that was made", async () => {
  const spent = problemOf("already-spent", 409);
  stub.answer = { ...spent, body: { ...(spent.body as object), orderId: ORDER.orderId } };
  const { status, text, cookies } = await buy();
  expect(status).toBe(409);
  expect(text).toContain("You have bought already");
  expect(text).toContain(`href="${PATH}"`);
  expect(cookies.join()).toContain(`vst-order-demo=${ORDER.number}.`);
  expect((await get(PATH, { Cookie: sentTo(PATH, cookies) })).status).toBe(200);
});

test.each([
  ["rubbish", "x"],
  ["markup", '"><script>alert(1)</script>'],
  ["somebody's, who is not this visitor", "ZZZZZZZZZZZZZZZZZZZZZZ"],
])("an order id that is %s opens nothing", async (_name, orderId) => {
  const spent = problemOf("already-spent", 409);
  stub.answer = { ...spent, body: { ...(spent.body as object), orderId } };
  const { status, text, cookies } = await buy();
  expect(status).toBe(409);
  expect(text).not.toContain("<script");
  expect(cookies).toEqual([]);
});
