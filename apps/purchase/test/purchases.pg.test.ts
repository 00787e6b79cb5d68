import { afterAll, beforeAll, expect, test } from "vitest";
import { many } from "./ledger-world.ts";
import {
  ADMIN_TOKEN,
  EVENT,
  newSigningKey,
  type PurchaseWorld,
  purchaseWorld,
  SHOP_TOKEN,
} from "./purchase-world.ts";

let world: PurchaseWorld;
beforeAll(async () => {
  world = await purchaseWorld();
  await world.setStock(EVENT, "seat", 100_000);
  await world.setStock("autumn", "seat", 10);
});
afterAll(() => world.close());

const problemOf = async (response: Response) => {
  const { type, status } = (await response.json()) as { type: string; status: number };
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(status).toBe(response.status);
  return `${status} ${type.replace("urn:vestibule:problem:", "")}`;
};
const sold = async (): Promise<number> => {
  const path = `/v1/admin/events/${EVENT}/stock/seat`;
  const row = await world.get(path, { Authorization: `Bearer ${ADMIN_TOKEN}` });
  return ((await row.json()) as { sold: number }).sold;
};

test("an admitted fan buys, reads the order, and nobody else does", async () => {
  const [fan, stranger] = [await world.fan(), await world.fan()];
  const answer = await world.buy(fan, { body: { sku: "seat", quantity: 2 } });
  expect(answer.status).toBe(201);
  const order = (await answer.json()) as { orderId: string };
  expect(order).toEqual({
    orderId: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
    event: EVENT,
    sku: "seat",
    quantity: 2,
    number: fan.number,
    purchasedAt: world.clock.now(),
  });
  const path = `/v1/events/${EVENT}/orders/${order.orderId}`;
  const own = await world.get(path, { "Vestibule-Visitor": fan.visitor });
  expect(await own.json()).toEqual(order);
  for (const headers of [
    {},
    { "Vestibule-Visitor": stranger.visitor },
    { "Vestibule-Visitor": "x" },
  ]) {
    expect(await problemOf(await world.get(path, headers))).toBe("404 not-found");
  }
});

test("law 4: a token is spent once, also by 200 requests at the same moment", async () => {
  const fan = await world.fan();
  const before = await sold();
  const answers = await Promise.all(many(200, (index) => world.buy(fan, { key: `key-${index}` })));
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(1);
  expect(statuses.filter((status) => status === 409)).toHaveLength(199);
  expect(await sold()).toBe(before + 1);
});

test("20 equal requests at once are all answered 201 with the same order", async () => {
  const fan = await world.fan();
  const answers = await Promise.all(many(20, () => world.buy(fan)));
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(texts).size).toBe(1);
});

test("another body under the same key is 422, another key with a spent token is 409", async () => {
  const fan = await world.fan();
  const bought = await world.buy(fan);
  expect(bought.status).toBe(201);
  const { orderId } = (await bought.json()) as { orderId: string };
  const other = await world.buy(fan, { body: { sku: "seat", quantity: 3 } });
  expect(await problemOf(other)).toBe("422 idempotency-mismatch");
  // Whoever lost the first answer finds the order.
  const spent = await world.buy(fan, { key: "2" });
  expect(await spent.clone().json()).toMatchObject({ orderId });
  expect(await problemOf(spent)).toBe("409 already-spent");
  expect(await problemOf(await world.buy(fan, { path: "spends" }))).toBe(
    "422 idempotency-mismatch",
  );
});

test("a bare spend is answered once and again, and takes no stock", async () => {
  const [fan, before] = [await world.fan(), await sold()];
  const first = await world.buy(fan, { path: "spends", body: "" });
  const again = await world.buy(fan, { path: "spends", body: "" });
  expect([first.status, again.status]).toEqual([201, 201]);
  const spend = await first.json();
  expect(spend).toMatchObject({ event: EVENT, number: fan.number, spentAt: world.clock.now() });
  expect(await again.json()).toEqual(spend);
  expect(await problemOf(await world.buy(fan, { key: "2" }))).toBe("409 already-spent");
  expect(await sold()).toBe(before);
});

test.each([
  ["missing", null],
  ["empty", ""],
  ["too long", "k".repeat(201)],
  ["with a space", "a b"],
  ["beyond ASCII", "caf\u00e9"],
])("an Idempotency-Key that is %s is 400", async (_name, key) => {
  const fan = await world.fan();
  expect(await problemOf(await world.buy(fan, { key }))).toBe("400 bad-request");
});

test.each([
  ["quantity 0", { sku: "seat", quantity: 0 }],
  ["quantity -1", { sku: "seat", quantity: -1 }],
  ["quantity 1.5", { sku: "seat", quantity: 1.5 }],
  ["quantity as text", { sku: "seat", quantity: "2" }],
  ["quantity 1e3 as text", { sku: "seat", quantity: "1e3" }],
  ["quantity 2^31", { sku: "seat", quantity: 2 ** 31 }],
  ["quantity 2^53", { sku: "seat", quantity: 2 ** 53 }],
  ["quantity null", { sku: "seat", quantity: null }],
  ["a list of quantities", { sku: "seat", quantity: [1] }],
  ["more than one purchase may have", { sku: "seat", quantity: 101 }],
  ["no quantity", { sku: "seat" }],
  ["an unknown member", { sku: "seat", quantity: 1, price: 0 }],
  ["no JSON", "{"],
  ["a list", []],
])("a body with %s is 400 and takes nothing", async (_name, body) => {
  const [fan, before] = [await world.fan(), await sold()];
  expect(await problemOf(await world.buy(fan, { body }))).toBe("400 bad-request");
  expect(await sold()).toBe(before);
  expect((await world.buy(fan)).status).toBe(201);
});

test("a refusal for want of stock or for the limit never says how much is left", async () => {
  await world.setStock("autumn", "box", 3, { perPurchaseMax: 5 });
  const fan = await world.fan({ event: "autumn" });
  const ask = async (quantity: number) => {
    const answer = await world.buy(fan, { event: "autumn", body: { sku: "box", quantity } });
    return { status: answer.status, text: await answer.text() };
  };
  const four = await ask(4);
  expect(four.status).toBe(409);
  expect(four.text).not.toMatch(/\b3\b/);
  expect((await ask(6)).status).toBe(400);
  const view = await world.get("/v1/events/autumn/stock");
  expect(await view.json()).toContainEqual({
    sku: "box",
    available: true,
    holdSeconds: 600,
    holdExtensionSeconds: 600,
  });
  expect((await ask(3)).status).toBe(201);
});

test("whatever cannot be verified gets one dull answer", async () => {
  const [fan, other] = [await world.fan(), await world.fan()];
  const { signingKey } = await newSigningKey();
  const attempts = [
    await world.buy({}),
    await world.buy({ visitor: fan.visitor }),
    await world.buy({ admission: fan.admission }),
    await world.buy({ ...fan, visitor: other.visitor }),
    await world.buy({ ...fan, admission: fan.admission.replace(/[^.]*$/, "A".repeat(86)) }),
    await world.buy({ ...fan, admission: "x" }),
    await world.buy(await world.fan({ key: signingKey })),
    await world.buy(await world.fan({ event: "autumn" })),
    await world.buy(await world.fan({ secondsAgo: -30 })),
    await world.buy(await world.fan({ secondsAgo: 700 })),
  ];
  const texts = await Promise.all(attempts.map((attempt) => attempt.text()));
  expect(new Set(attempts.map(({ status }) => status))).toEqual(new Set([401]));
  expect(new Set(texts).size).toBe(1);
  expect((await world.buy(fan)).status).toBe(201);
});

test("an unknown event is 404, and its name may be anything", async () => {
  const fan = await world.fan();
  for (const event of ["winter", "WINTER", "a%2Fb", "%00", "x".repeat(300)]) {
    expect(await problemOf(await world.buy(fan, { event }))).toBe("404 event-not-found");
  }
});

test("an answer that was lost is given again after the admission's time, and only then", async () => {
  const [buyer, late] = [
    await world.fan({ secondsAgo: 590 }),
    await world.fan({ secondsAgo: 590 }),
  ];
  const order = await (await world.buy(buyer)).json();
  world.clock.advance(3_600_000);
  const again = await world.buy(buyer);
  expect([again.status, await again.json()]).toEqual([201, order]);
  expect(await problemOf(await world.buy(late))).toBe("401 admission-required");
  expect(await problemOf(await world.buy(buyer, { key: "2" }))).toBe("401 admission-required");
});

test("GET and HEAD change nothing", async () => {
  const [fan, before] = [await world.fan(), await sold()];
  const headers = {
    "Vestibule-Admission": fan.admission,
    "Vestibule-Visitor": fan.visitor,
    "Idempotency-Key": "1",
  };
  for (const path of ["purchases", "spends"]) {
    for (const method of ["GET", "HEAD"]) {
      const answer = await fetch(`${world.url}/v1/events/${EVENT}/${path}`, { method, headers });
      expect(answer.status).toBe(405);
      expect(answer.headers.get("allow")).toBe("POST");
    }
  }
  expect(await sold()).toBe(before);
  expect((await world.buy(fan)).status).toBe(201);
});

test("stock is the organizer's: a bearer token, whole numbers, never below what is sold", async () => {
  const path = `${world.url}/v1/admin/events/${EVENT}/stock/seat`;
  for (const authorization of ["", "Bearer x", `Basic ${ADMIN_TOKEN}`, `Bearer ${ADMIN_TOKEN}x`]) {
    const answer = await fetch(path, { headers: { Authorization: authorization } });
    expect(await problemOf(answer)).toBe("401 unauthorized");
  }
  for (const total of [-1, 1.5, "5", null, Number.MAX_SAFE_INTEGER]) {
    const answer = await world.setStock(EVENT, "seat", total as number);
    expect(await problemOf(answer)).toBe("400 bad-request");
  }
  expect(await problemOf(await world.setStock(EVENT, "seat", 0))).toBe("409 conflict");
});

test("stock for a name that no event has is set, with a warning; while the mint is not known, without", async () => {
  const typo = await world.setStock("sprign", "seat", 5);
  expect(typo.status).toBe(200);
  expect(await typo.json()).toMatchObject({
    total: 5,
    warning: expect.stringContaining("no event"),
  });
  expect(await (await world.setStock(EVENT, "spare", 5)).json()).not.toHaveProperty("warning");
  world.mint.away = true;
  const other = await world.another(61);
  const early = await fetch(`${other.url}/v1/admin/events/sprign/stock/seat`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}`, "Content-Type": "application/json" },
    body: JSON.stringify({ total: 6 }),
  });
  expect(early.status).toBe(200);
  expect(await early.json()).not.toHaveProperty("warning");
  world.mint.away = false;
  await other.stop();
});

test("what only users of the shop may have is 403 for everybody else, with a word why, and nothing is spent", async () => {
  await world.setStock(EVENT, "club", 5, { buyers: "users" });
  const fan = await world.fan();
  const body = { sku: "club", quantity: 1 };
  for (const path of ["purchases", "holds"]) {
    const refused = await world.buy(fan, { body, path, key: path });
    expect(await refused.clone().json()).toMatchObject({
      detail: expect.stringContaining("sign in"),
    });
    expect(await problemOf(refused)).toBe("403 forbidden");
  }
  const headers = { "Vestibule-User": "ann", Authorization: `Bearer ${SHOP_TOKEN}` };
  expect((await world.buy(fan, { body, headers })).status).toBe(201);
});
