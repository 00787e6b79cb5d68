import { createApp } from "@vestibule/service/app";
import { silentLog } from "@vestibule/service/log";
import { assertBearer } from "@vestibule/service/bearer";
import { Secret } from "@vestibule/service/secret";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { hashVisitor } from "@vestibule/token/visitor";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHoldSweep } from "../src/holds-sweep.ts";
import type { Admitted } from "../src/admit.ts";
import { type HoldRouteDependencies, holdRoutes } from "../src/routes/holds.ts";
import { orderRoutes } from "../src/routes/orders.ts";
import { stockRoutes } from "../src/routes/stock.ts";
import { type AssertToken, createTokenCheck } from "../src/routes/token-check.ts";
import { EVENT, type LedgerWorld, SKU, attemptOf, ledgerWorld } from "./ledger-world.ts";

const SHOP_TOKEN = "a-shop-token-of-the-hold-route-tests";
const SHOP = { Authorization: `Bearer ${SHOP_TOKEN}` };
const clock = new FakeClock();
let world: LedgerWorld;
let names = 0;
beforeAll(async () => {
  world = await ledgerWorld();
  await world.put(1_000, { price: { minor: "1250", currency: "EUR" }, holdSeconds: 60 });
});
afterAll(() => world.close());

const name = (): string => `${++names}`.padStart(22, "n");
const visitorOf = (number: number): string => Buffer.alloc(32, number).toString("base64url");
const credited: Admitted[] = [];
const credits = {
  for: (subject: Admitted) => {
    credited.push(subject);
    return Promise.resolve<string | undefined>("a-signed-credit");
  },
};

function appOf(change: Partial<HoldRouteDependencies> = {}): ReturnType<typeof createApp> {
  const app = createApp({ log: silentLog, checks: {} });
  const shopToken = new Secret(SHOP_TOKEN);
  const assertShop: AssertToken = async (context) =>
    assertBearer(context.req.header("Authorization"), shopToken);
  const { holds, ledger, stock } = world;
  const readLimit = { take: () => Promise.resolve() };
  holdRoutes(app, { holds, clock, assertShop, newOrderId: name, credits, readLimit, ...change });
  orderRoutes(app, { ledger, assertShop, readLimit });
  stockRoutes(app, { stock, assertAdmin: assertShop, isNoEvent: () => Promise.resolve(false) });
  return app;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}
async function call(
  method: string,
  path: string,
  {
    headers = {},
    body,
    app = appOf(),
  }: {
    headers?: Record<string, string>;
    body?: unknown;
    app?: ReturnType<typeof createApp>;
  } = {},
): Promise<Answer> {
  const answer = await app.request(`/v1/events/${EVENT}/${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.headers.get("cache-control")).toBe("no-store");
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}
const problemOf = ({ status, body }: Answer): string =>
  `${status} ${String(body["type"]).replace("urn:vestibule:problem:", "")}`;

async function holdOf(number: number): Promise<{ path: string; own: Record<string, string> }> {
  const visitor = hashVisitor(visitorOf(number));
  const holdId = name();
  const outcome = await world.ledger.hold(attemptOf(number, { visitor, holdId, quantity: 2 }));
  expect(outcome.kind).toBe("held");
  return { path: `holds/${holdId}`, own: { "Vestibule-Visitor": visitorOf(number) } };
}

test("its buyer and the shop see a hold; for everybody else there is none", async () => {
  const { path, own } = await holdOf(1);
  const seen = await call("GET", path, { headers: own });
  expect(seen).toMatchObject({
    status: 200,
    body: {
      state: "held",
      quantity: 2,
      amount: { minor: "2500", currency: "EUR" },
      expiresAt: expect.any(Number),
      extendableTo: expect.any(Number),
    },
  });
  expect(await call("GET", path, { headers: SHOP })).toEqual(seen);
  const stranger = { "Vestibule-Visitor": visitorOf(99) };
  for (const [wrong, headers, expected] of [
    [path, {}, "404 not-found"],
    [path, stranger, "404 not-found"],
    [path, { "Vestibule-Visitor": "x" }, "404 not-found"],
    [path, { ...own, Authorization: "Bearer x" }, "401 unauthorized"],
    ["holds/none", own, "404 not-found"],
    [`holds/${name()}`, SHOP, "404 not-found"],
    [`holds/${"'".repeat(22)}`, SHOP, "404 not-found"],
  ] as const) {
    expect(problemOf(await call("GET", wrong, { headers }))).toBe(expected);
  }
  for (const verb of ["extend", "cancel"]) {
    const body = verb === "cancel" ? {} : undefined;
    expect(problemOf(await call("POST", `${path}/${verb}`, { headers: stranger, body }))).toBe(
      "404 not-found",
    );
    const read = await call("GET", `${path}/${verb}`, { headers: own });
    expect(problemOf(read)).toBe("405 method-not-allowed");
  }
});

test("confirmation is the shop's alone, and gives the buyer an order that they can read", async () => {
  const { path, own } = await holdOf(2);
  const body = { paymentReference: "pi_1" };
  for (const headers of [own, {}, { Authorization: "Bearer wrong" }]) {
    expect(problemOf(await call("POST", `${path}/confirm`, { headers, body }))).toBe(
      "401 unauthorized",
    );
  }
  for (const wrong of [{}, { paymentReference: "" }, { paymentReference: "a b" }, { x: 1 }]) {
    const answer = await call("POST", `${path}/confirm`, { headers: SHOP, body: wrong });
    expect(problemOf(answer)).toBe("400 bad-request");
  }
  const first = await call("POST", `${path}/confirm`, { headers: SHOP, body });
  expect(first).toMatchObject({
    status: 201,
    body: {
      quantity: 2,
      number: 2,
      purchasedAt: clock.now(),
      amount: { minor: "2500", currency: "EUR" },
    },
  });
  expect(await call("POST", `${path}/confirm`, { headers: SHOP, body })).toEqual(first);
  const other = { paymentReference: "pi_2" };
  const refused = await call("POST", `${path}/confirm`, { headers: SHOP, body: other });
  expect([problemOf(refused), refused.body["state"]]).toEqual(["409 conflict", "confirmed"]);
  const order = await call("GET", `orders/${String(first.body["orderId"])}`, { headers: own });
  expect(order.body).toEqual(first.body);
  const cancelled = await call("POST", `${path}/cancel`, { headers: own, body: {} });
  expect([problemOf(cancelled), cancelled.body["state"]]).toEqual(["409 conflict", "confirmed"]);
});

test("a buyer has it longer once, cancels, and hears what it became", async () => {
  const { path, own } = await holdOf(3);
  const before = (await call("GET", path, { headers: own })).body;
  const extended = await call("POST", `${path}/extend`, { headers: own });
  expect(extended).toMatchObject({ status: 200, body: { expiresAt: before["extendableTo"] } });
  expect(await call("POST", `${path}/extend`, { headers: own })).toEqual(extended);
  const cancelled = await call("POST", `${path}/cancel`, { headers: own });
  expect(cancelled).toMatchObject({ status: 200, body: { state: "cancelled" } });
  const again = await call("POST", `${path}/cancel`, { headers: own, body: { reason: "buyer" } });
  expect(again).toEqual(cancelled);
  const late = await call("POST", `${path}/confirm`, {
    headers: SHOP,
    body: { paymentReference: "p" },
  });
  expect([problemOf(late), late.body["state"]]).toEqual(["409 conflict", "cancelled"]);
});

test("after its time a hold is 410, for its buyer and for the shop", async () => {
  const { path, own } = await holdOf(4);
  await world.age(path.slice("holds/".length));
  const body = { paymentReference: "p" };
  for (const answer of [
    await call("POST", `${path}/extend`, { headers: own }),
    await call("POST", `${path}/cancel`, { headers: own, body: {} }),
    await call("POST", `${path}/confirm`, { headers: SHOP, body }),
  ]) {
    expect([problemOf(answer), answer.body["state"]]).toEqual(["410 hold-over", "expired"]);
  }
});

test("a fault is the shop's word only, and its answer carries a credit for the admission", async () => {
  const { path, own } = await holdOf(5);
  const fault = { reason: "fault" };
  expect(problemOf(await call("POST", `${path}/cancel`, { headers: own, body: fault }))).toBe(
    "401 unauthorized",
  );
  expect(
    problemOf(await call("POST", `${path}/cancel`, { headers: SHOP, body: { reason: "else" } })),
  ).toBe("400 bad-request");
  const failed = await call("POST", `${path}/cancel`, { headers: SHOP, body: fault });
  expect(failed).toMatchObject({
    status: 200,
    body: { state: "failed", credit: "a-signed-credit" },
  });
  expect(await call("POST", `${path}/cancel`, { headers: SHOP, body: fault })).toEqual(failed);
  const { slot } = attemptOf(5);
  const visitor = hashVisitor(visitorOf(5));
  expect(credited[0]).toEqual({ event: EVENT, visitor, jti: "admission-5", number: 5, slot });
  const { path: other } = await holdOf(6);
  const app = appOf({ credits: { for: () => Promise.resolve(undefined) } });
  const without = await call("POST", `${other}/cancel`, { headers: SHOP, body: fault, app });
  expect(without.body).not.toHaveProperty("credit");
});

test("without a configured token nobody is the shop", async () => {
  const { path, own } = await holdOf(7);
  const limit = {
    take: () => Promise.reject(new Error("there is nothing to guess")),
    giveBack: () => Promise.resolve(),
    addressOf: () => "192.0.2.1",
  };
  const assertShop = createTokenCheck({ token: undefined, limit, clock, mustGoOn: true });
  const app = appOf({ assertShop });
  for (const token of ["", "undefined", SHOP_TOKEN]) {
    const headers = { Authorization: `Bearer ${token}` };
    expect(problemOf(await call("GET", path, { headers, app }))).toBe("401 unauthorized");
    const body = { paymentReference: "p" };
    const confirmed = await call("POST", `${path}/confirm`, { headers, body, app });
    expect(problemOf(confirmed)).toBe("401 unauthorized");
  }
  expect((await call("GET", path, { headers: own, app })).status).toBe(200);
});

test("the organizer sees what is sold, held and left; everybody only what may be known", async () => {
  await world.put(10, { sku: "box", perBuyerMax: 3, price: { minor: "7", currency: "EUR" } });
  await world.ledger.hold(attemptOf(8, { sku: "box", quantity: 2 }));
  const app = appOf();
  const path = `/v1/admin/events/${EVENT}/stock/box`;
  const row = await app.request(path, { headers: SHOP });
  expect(await row.json()).toEqual({
    event: EVENT,
    sku: "box",
    total: 10,
    sold: 0,
    held: 2,
    remaining: 8,
    perPurchaseMax: 100,
    perBuyerMax: 3,
    buyers: "visitors",
    showRemaining: false,
    holdSeconds: 600,
    holdExtensionSeconds: 600,
    price: { minor: "7", currency: "EUR" },
  });
  expect((await app.request(path)).status).toBe(401);
  const headers = { ...SHOP, "Content-Type": "application/json" };
  const put = (body: object) =>
    app.request(path, { method: "PUT", headers, body: JSON.stringify(body) });
  expect((await put({ total: 1 })).status).toBe(409);
  for (const wrong of [
    { total: 5, price: { minor: "1.5", currency: "EUR" } },
    { total: 5, price: { minor: "1000000000000000", currency: "EUR" } },
    { total: 5, price: { minor: 5, currency: "EUR" } },
    { total: 5, perBuyerMax: 0 },
    { total: 5, buyers: "everybody" },
    { perBuyerMax: 5 },
    { total: null },
    { total: 5, holdSeconds: 1 },
    { total: 5, holdExtensionSeconds: -1 },
  ]) {
    expect((await put(wrong)).status).toBe(400);
  }
  const kept = { perBuyerMax: 3, price: { minor: "7", currency: "EUR" }, holdSeconds: 60 };
  expect(await (await put({ total: 3, holdSeconds: 60 })).json()).toMatchObject(kept);
  const only = { total: 2, showRemaining: true, perPurchaseMax: 2, buyers: "users" };
  expect(await (await put(only)).json()).toMatchObject({ ...only, ...kept, remaining: 0 });
  const clear = [
    "perBuyerMax",
    "price",
    "holdSeconds",
    "showRemaining",
    "perPurchaseMax",
    "buyers",
  ];
  const cleared = await put({ total: 2, ...Object.fromEntries(clear.map((each) => [each, null])) });
  const defaults: unknown = await cleared.json();
  expect(defaults).toMatchObject({ perBuyerMax: null, holdSeconds: 600, perPurchaseMax: 100 });
  expect(defaults).toMatchObject({ showRemaining: false, buyers: "visitors" });
  expect(defaults).not.toHaveProperty("price");
  const view = await app.request(`/v1/events/${EVENT}/stock`);
  expect(await view.json()).toContainEqual({
    sku: "box",
    available: false,
    holdSeconds: 600,
    holdExtensionSeconds: 600,
  });
  expect(SKU).not.toBe("box");
});

test("a sweep that fails is logged and the next one works; two at once are one", async () => {
  let sweeps = 0;
  const lines: string[] = [];
  const log = { ...silentLog, warn: (event: string) => void lines.push(event) };
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const holds = {
    ...world.holds,
    sweep: async () => {
      sweeps += 1;
      await gate;
      if (sweeps === 1) throw new Error("away");
      return world.holds.sweep();
    },
  };
  const sweep = createHoldSweep({ holds, log });
  const both = [sweep.tick(), sweep.tick()];
  let isIdle = false;
  const idle = sweep.idle().then(() => (isIdle = true));
  await Promise.resolve();
  expect(isIdle).toBe(false); // a service that stops waits for it
  open();
  await Promise.all([...both, idle]);
  expect([sweeps, lines]).toEqual([1, ["hold-sweep-failed"]]);
  await sweep.tick();
  expect([sweeps, lines]).toEqual([2, ["hold-sweep-failed"]]);
});
