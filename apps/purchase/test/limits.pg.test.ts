import { request as httpRequest } from "node:http";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { breakableStore, type BreakableStore } from "./gate-world.ts";
import { many } from "./ledger-world.ts";
import { wordOf } from "./problem-of.ts";
import {
  ADMIN_TOKEN,
  EVENT,
  type PurchaseWorld,
  purchaseWorld,
  SHOP_TOKEN,
} from "./purchase-world.ts";

let world: PurchaseWorld;
let store: BreakableStore;
beforeEach(async () => {
  const clock = new FakeClock();
  store = breakableStore(clock);
  world = await purchaseWorld({
    clock,
    store,
    config: {
      purchaseLimit: { capacity: 10, refillMs: 1_000 },
      consoleLogInLimit: { capacity: 20, refillMs: 3_000 },
      trustProxyHops: 1,
    },
  });
  await world.setStock(EVENT, "seat", 1_000);
});
afterEach(() => world.close());

const rateLimit = ({ headers }: Response) => [
  headers.get("ratelimit-policy"),
  headers.get("ratelimit"),
];
const junk = { body: { sku: "no-such-thing", quantity: 1 } };

describe("a visitor", () => {
  test("has ten tries and one more each second; every answer says how many are left", async () => {
    const fan = await world.fan();
    const bought = await world.buy(fan);
    expect([bought.status, ...rateLimit(bought)]).toEqual([
      201,
      '"purchase";q=10;w=10',
      '"purchase";r=9;t=1',
    ]);
    const refused = await world.buy(fan, { key: "2" });
    expect(await wordOf(refused)).toBe("409 already-spent");
    expect(rateLimit(refused)).toEqual(['"purchase";q=10;w=10', '"purchase";r=8;t=2']);
    const missing = await world.buy(fan, { ...junk, key: "3" });
    expect(missing.headers.get("ratelimit")).toBe('"purchase";r=7;t=3');
    for (let left = 6; left >= 0; left -= 1) {
      const again = await world.buy(fan);
      expect([again.status, again.headers.get("ratelimit")]).toEqual([
        201,
        `"purchase";r=${left};t=${10 - left}`,
      ]);
    }
    const tooMany = await world.buy(fan);
    expect(await wordOf(tooMany)).toBe("429 too-many-requests");
    expect(tooMany.headers.get("retry-after")).toBe("1");
    expect(await tooMany.json()).toMatchObject({ retryAfterMs: 1_000 });
    expect(rateLimit(tooMany)).toEqual(['"purchase";q=10;w=10', '"purchase";r=0;t=10']);
    expect((await world.buy(await world.fan())).status).toBe(201);
  });

  test("who hammers gets through a second later, with an unspent admission", async () => {
    const fan = await world.fan();
    for (let tries = 0; tries < 10; tries += 1) await world.buy(fan, junk);
    const answers = await Promise.all(many(100, () => world.buy(fan)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    world.clock.advance(1_000);
    expect((await world.buy(fan)).status).toBe(201);
    expect((await world.buy(fan)).status).toBe(429);
  });

  test("shares one bucket over purchases, holds and spends, also with an admission that is over", async () => {
    const fan = await world.fan({ secondsAgo: 700 });
    for (const path of ["purchases", "holds", "spends", "purchases", "holds"]) {
      expect(await wordOf(await world.buy(fan, { path }))).toBe("401 admission-required");
    }
    for (let tries = 0; tries < 5; tries += 1) await world.buy(fan);
    for (const path of ["purchases", "holds", "spends"]) {
      expect((await world.buy(fan, { path })).status).toBe(429);
    }
  });

  test("what is refused for its form or its admission takes nothing", async () => {
    const fan = await world.fan();
    for (let tries = 0; tries < 20; tries += 1) {
      const answer = await world.buy(fan, { body: { sku: "seat", quantity: 0 } });
      expect([answer.status, ...rateLimit(answer)]).toEqual([400, null, null]);
      expect((await world.buy({ ...fan, admission: "x" })).status).toBe(401);
    }
    expect((await world.buy(fan)).headers.get("ratelimit")).toBe('"purchase";r=9;t=1');
  });
});

describe("a user that the shop vouches for", () => {
  const as = (user: string, token: string = SHOP_TOKEN) => ({
    "Vestibule-User": user,
    Authorization: `Bearer ${token}`,
  });

  test("has one bucket over all visitors, and a visitor of their own has another", async () => {
    const fans = await Promise.all(many(10, () => world.fan()));
    for (const fan of fans) {
      expect((await world.buy(fan, { headers: as("ann") })).status).toBe(201);
    }
    const next = await world.fan();
    expect((await world.buy(next, { headers: as("ann") })).status).toBe(429);
    expect((await world.buy(next, { headers: as("bob") })).status).toBe(201);
    expect((await world.buy(fans[0]!)).headers.get("ratelimit")).toBe('"purchase";r=9;t=1');
  });

  test("is nobody without the shop's token: 401, nothing taken and nothing spent", async () => {
    const fan = await world.fan();
    for (const headers of [
      { "Vestibule-User": "ann" },
      as("ann", "x"),
      as("ann", `${SHOP_TOKEN}x`),
      as("ann", ADMIN_TOKEN),
    ]) {
      expect(await wordOf(await world.buy(fan, { headers }))).toBe("401 unauthorized");
    }
    for (const user of ["", "a b", "x".repeat(201), "ann, bob"]) {
      expect((await world.buy(fan, { headers: as(user) })).status).toBe(400);
    }
    expect((await world.buy(fan)).headers.get("ratelimit")).toBe('"purchase";r=9;t=1');
  });

  test("is nobody where the shop has no token", async () => {
    const other = await world.another(3, { config: { shopToken: undefined } });
    const answer = await world.buy(await world.fan(), { base: other.url, headers: as("ann") });
    expect(await wordOf(answer)).toBe("401 unauthorized");
    await other.stop();
  });
});

test("the limiter away: 503 at once and never 429, nothing is spent, and all is well when it is back", async () => {
  const fan = await world.fan();
  store.isLimiterAway = true;
  for (const path of ["purchases", "holds", "spends"]) {
    const answer = await world.buy(fan, { path });
    expect(await wordOf(answer)).toBe("503 unavailable");
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(rateLimit(answer)).toEqual([null, null]);
  }
  const admin = `/v1/admin/events/${EVENT}/stock/seat`;
  const guess = await world.get(admin, { Authorization: "Bearer wrong" });
  expect(await wordOf(guess)).toBe("503 unavailable");
  const right = await world.get(admin, { Authorization: `Bearer ${ADMIN_TOKEN}` });
  expect(await wordOf(right)).toBe("503 unavailable");
  // Whatever needs no limiter goes on, and so does the instance.
  expect((await world.get(`/v1/events/${EVENT}/stock`)).status).toBe(200);
  const ready = await world.get("/readyz");
  expect([ready.status, await ready.json()]).toEqual([
    200,
    expect.objectContaining({ ready: true, notes: { limiterAndGate: false, clock: true } }),
  ]);
  store.isLimiterAway = false;
  expect((await world.buy(fan)).status).toBe(201);
});

describe("guessing the organizer's token", () => {
  const path = `/v1/admin/events/${EVENT}/stock/seat`;
  const guess = (from: string, token = "wrong", more: Record<string, string> = {}) =>
    world.get(path, { Authorization: `Bearer ${token}`, "X-Forwarded-For": from, ...more });

  test("20 tries for one address, then one every three seconds; also the right one has to wait then", async () => {
    for (let tries = 0; tries < 20; tries += 1) {
      const answer = await guess("203.0.113.7");
      expect(await wordOf(answer)).toBe("401 unauthorized");
      expect(answer.headers.get("ratelimit-policy")).toBe('"console-log-in";q=20;w=60');
    }
    const refused = await guess("203.0.113.7");
    expect(await wordOf(refused)).toBe("429 too-many-requests");
    expect(refused.headers.get("retry-after")).toBe("3");
    expect((await guess("203.0.113.7", ADMIN_TOKEN)).status).toBe(429);
    expect((await guess("203.0.113.8", ADMIN_TOKEN)).status).toBe(200);
    world.clock.advance(3_000);
    expect((await guess("203.0.113.7", ADMIN_TOKEN)).status).toBe(200);
  });

  test("whoever has the right one is never slowed", async () => {
    for (let times = 0; times < 60; times += 1) {
      expect((await guess("203.0.113.7", ADMIN_TOKEN)).status).toBe(200);
    }
  });

  test("nor is it when it comes sixty times at once", async () => {
    const answers = await Promise.all(many(60, () => guess("203.0.113.7", ADMIN_TOKEN)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (let tries = 0; tries < 20; tries += 1) {
      expect((await guess("203.0.113.7")).status).toBe(401);
    }
  });

  test("a guesser who shares the shop's address does not lock the shop out, for ten minutes after each call", async () => {
    const holdPath = `/v1/events/${EVENT}/holds/${"n".repeat(22)}`;
    const shop = { Authorization: `Bearer ${SHOP_TOKEN}`, "X-Forwarded-For": "203.0.113.7" };
    const asked = async (): Promise<number> => (await world.get(holdPath, shop)).status;
    expect(await asked()).toBe(404);
    const empty = async (): Promise<void> => {
      for (let tries = 0; tries < 25; tries += 1) await guess("203.0.113.7");
      expect((await guess("203.0.113.7")).status).toBe(429);
    };
    await empty();
    expect(await asked()).toBe(404);
    world.clock.advance(599_000);
    await empty();
    expect(await asked()).toBe(404);
    world.clock.advance(600_000);
    await empty();
    expect(await asked()).toBe(429);
  });

  test("the shop's token is guessed as slowly, at whatever it opens, and neither opens what is the other's", async () => {
    const holdPath = `/v1/events/${EVENT}/holds/${"n".repeat(22)}`;
    const from = (address: string, token: string) => ({
      Authorization: `Bearer ${token}`,
      "X-Forwarded-For": address,
    });
    const fan = await world.fan();
    for (let tries = 0; tries < 10; tries += 1) {
      expect((await world.get(holdPath, from("203.0.113.7", "wrong"))).status).toBe(401);
      const headers = { ...from("203.0.113.7", ADMIN_TOKEN), "Vestibule-User": "ann" };
      expect((await world.buy(fan, { headers })).status).toBe(401);
    }
    const headers = { ...from("203.0.113.7", SHOP_TOKEN), "Vestibule-User": "ann" };
    expect(await wordOf(await world.buy(fan, { headers }))).toBe("429 too-many-requests");
    expect((await world.get(holdPath, from("203.0.113.7", SHOP_TOKEN))).status).toBe(429);
    expect((await world.get(holdPath, from("203.0.113.8", SHOP_TOKEN))).status).toBe(404);
    // Whoever knows the shop's has the organizer's still to guess.
    for (let tries = 0; tries < 20; tries += 1) await guess("203.0.113.8", SHOP_TOKEN);
    expect((await guess("203.0.113.8", ADMIN_TOKEN)).status).toBe(429);
    expect((await world.get(holdPath, from("203.0.113.8", SHOP_TOKEN))).status).toBe(404);
  });

  test("RL-09: no header gives anybody a second bucket", async () => {
    for (let tries = 0; tries < 20; tries += 1) {
      const answer = await guess(`198.51.100.${tries}, 203.0.113.7`, "wrong", {
        Forwarded: `for=198.51.100.${tries}`,
        "X-Real-IP": `198.51.100.${tries}`,
        "CF-Connecting-IP": `198.51.100.${tries}`,
        "X-Client-IP": `198.51.100.${tries}`,
      });
      expect(answer.status).toBe(401);
    }
    expect((await guess("::ffff:203.0.113.7")).status).toBe(429);
    expect((await guess("junk, 203.0.113.7:1234")).status).toBe(429);
    const ten = many(10, (index) => `192.0.2.${index}`).join(",");
    expect((await guess(`${ten},203.0.113.7`)).status).toBe(429);
    for (let tries = 0; tries < 20; tries += 1) await guess(`2001:db8::${tries.toString(16)}`);
    expect((await guess("[2001:db8::ffff]:443")).status).toBe(429);
    expect((await guess("2001:db8:0:1::1")).status).toBe(401);
  });

  test("two header lines are one list, in their order", async () => {
    const send = (...lines: string[]) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { Authorization: "Bearer wrong", "X-Forwarded-For": lines };
        const sent = httpRequest(`${world.url}${path}`, { headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        sent.once("error", reject).end();
      });
    for (let tries = 0; tries < 20; tries += 1) {
      expect(await send(`198.51.100.${tries}`, "203.0.113.7")).toBe(401);
    }
    expect(await send("198.51.100.99", "203.0.113.7")).toBe(429);
    expect(await send("203.0.113.7", "198.51.100.99")).toBe(401);
  });

  test("a list that is too short, or junk, counts as the proxy's own address", async () => {
    for (let tries = 0; tries < 20; tries += 1) await guess(`junk-${tries}`);
    expect((await world.get(path, { Authorization: "Bearer wrong" })).status).toBe(429);
  });
});

describe("orders and holds that are looked at", () => {
  const NAME = "n".repeat(22);
  const paths = [
    ["GET", `orders/${NAME}`],
    ["GET", `holds/${NAME}`],
    ["POST", `holds/${NAME}/extend`],
    ["POST", `holds/${NAME}/cancel`],
  ] as const;
  const shop = { Authorization: `Bearer ${SHOP_TOKEN}` };
  let limited: Awaited<ReturnType<PurchaseWorld["another"]>>;
  beforeEach(async () => {
    const config = { readLimit: { capacity: 4, refillMs: 60_000 } };
    limited = await world.another(71, { config });
  });
  afterEach(() => limited.stop());
  const ask = async (
    [method, path]: readonly [string, string],
    headers: Record<string, string> = {},
  ): Promise<string> => {
    const { visitor } = await world.fan();
    const answer = await fetch(`${limited.url}/v1/events/${EVENT}/${path}`, {
      method,
      headers: {
        "Vestibule-Visitor": visitor,
        ...(method === "GET" ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(method === "GET" ? {} : { body: "{}" }),
    });
    return wordOf(answer);
  };

  test("share one bucket of a client's address, whoever they say they are; another address has its own", async () => {
    const from = (address: string) => ({ "X-Forwarded-For": address });
    for (const each of paths) expect(await ask(each, from("192.0.2.1"))).toBe("404 not-found");
    for (const each of paths) {
      expect(await ask(each, from("192.0.2.1"))).toBe("429 too-many-requests");
      expect(await ask(each, from("192.0.2.2"))).toBe("404 not-found");
    }
  });

  test("are not limited for the shop's token, and a wrong one is nobody's", async () => {
    for (let times = 0; times < 8; times += 1) {
      expect(await ask(paths[0], shop)).toBe("404 not-found");
      expect(await ask(paths[1], shop)).toBe("404 not-found");
      expect(await ask(paths[0], { Authorization: "Bearer x" })).toBe("401 unauthorized");
    }
  });

  test("are 503 while the limiter's store is away, but what the shop does goes on", async () => {
    store.isLimiterAway = true;
    for (const each of paths) expect(await ask(each)).toBe("503 unavailable");
    expect(await ask(paths[1], shop)).toBe("404 not-found");
    expect(await ask(paths[3], shop)).toBe("404 not-found");
    store.isLimiterAway = false;
    for (const each of paths) expect(await ask(each)).toBe("404 not-found");
  });
});
