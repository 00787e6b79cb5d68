import { connect } from "node:net";
import { toSeconds } from "@vestibule/kernel/units";
import { generateKeyPair } from "@vestibule/keys/key-pair";
import { parseJwks } from "@vestibule/keys/key-set";
import { Secret } from "@vestibule/service/secret";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { startLocalPostgres } from "@vestibule/testkit/local-postgres";
import { verifyCredit } from "@vestibule/token/verify-credit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cuttingProxy } from "./cutting-proxy.ts";
import { breakableStore, type BreakableStore } from "./gate-world.ts";
import { wordOf } from "./problem-of.ts";
import { EVENT, type Fan, ISSUER, type PurchaseWorld, purchaseWorld } from "./purchase-world.ts";

let world: PurchaseWorld;
let store: BreakableStore;
let creditKey: Secret;
let publicJwk: object;
beforeAll(async () => {
  const pair = await generateKeyPair();
  creditKey = new Secret(JSON.stringify(pair.privateJwk));
  publicJwk = pair.publicJwk;
  const clock = new FakeClock();
  store = breakableStore(clock);
  world = await purchaseWorld({ clock, store, config: { creditKey } });
  await world.setStock(EVENT, "seat", 1_000);
});
afterAll(() => world.close());

async function expectCredit(answer: Response, fan: Fan, secondsAgo = 10): Promise<void> {
  const { credit } = (await answer.clone().json()) as { credit?: string };
  const keys = await parseJwks({ keys: [publicJwk] });
  if (!keys.ok) throw new Error(keys.refusal.reason);
  const { visitor, number } = fan;
  const now = world.clock.now();
  const rules = { keys: keys.value, issuer: ISSUER, event: EVENT, visitor, now, skewSeconds: 5 };
  const read = await verifyCredit(credit ?? "", rules);
  expect(read).toMatchObject({ ok: true, value: { number, slot: toSeconds(now) - secondsAgo } });
}

describe("a fault of ours after a good admission", () => {
  test.each(["purchases", "holds", "spends"])(
    "limiter away: %s are 503 with a credit, and the same request goes through later",
    async (path) => {
      const fan = await world.fan();
      store.isLimiterAway = true;
      const answer = await world.buy(fan, { path });
      store.isLimiterAway = false;
      expect(await wordOf(answer)).toBe("503 unavailable");
      await expectCredit(answer, fan);
      expect((await world.buy(fan, { path })).status).toBe(201);
    },
  );

  test.each(["purchases", "holds", "spends"])(
    "limiter away, and the admission is used already (%s): no credit, unless PostgreSQL does not say so quickly",
    async (path) => {
      const fan = await world.fan();
      expect((await world.buy(fan, { path })).status).toBe(201);
      store.isLimiterAway = true;
      const answer = await world.buy(fan, { key: "2" });
      expect(await wordOf(answer)).toBe("503 unavailable");
      expect(await answer.json()).not.toHaveProperty("credit");

      const release = Promise.withResolvers<void>();
      const isLocked = Promise.withResolvers<void>();
      const lock = world.database.sql.begin(async (tx) => {
        await tx`lock table spends in access exclusive mode`;
        isLocked.resolve();
        await release.promise;
      });
      await isLocked.promise;
      const startedAt = performance.now();
      const unknown = await world.buy(fan, { key: "3" });
      expect(performance.now() - startedAt).toBeLessThan(1_000);
      store.isLimiterAway = false;
      release.resolve();
      await lock;
      await expectCredit(unknown, fan);
    },
  );

  test("PostgreSQL away: 503 with a credit, nothing is spent, and the same request goes through when it is back", async () => {
    const proxy = await cuttingProxy(world.databaseUrl);
    const cut = await world.another(41, { config: { databaseUrl: new Secret(proxy.url) } });
    const fan = await world.fan();
    proxy.close();
    const answer = await world.buy(fan, { base: cut.url });
    expect(await wordOf(answer)).toBe("503 unavailable");
    expect(answer.headers.get("retry-after")).toBe("2");
    await expectCredit(answer, fan);
    const [spends] = await world.database.sql`
      select count(*)::int as spends from spends where number = ${fan.number}`;
    expect(spends).toEqual({ spends: 0 });
    expect((await world.buy(fan)).status).toBe(201);
    await cut.stop();
  });

  test("PostgreSQL stopped for good: the instance answers 503 and lives", async () => {
    const server = await startLocalPostgres();
    const other = await world.another(42, { config: { databaseUrl: new Secret(server.url()) } });
    await server.stop();
    const fan = await world.fan();
    for (const path of ["purchases", "holds", "spends"]) {
      const answer = await world.buy(fan, { base: other.url, path });
      expect(await wordOf(answer)).toBe("503 unavailable");
      await expectCredit(answer, fan);
    }
    expect((await fetch(`${other.url}/healthz`)).status).toBe(200);
    await other.stop();
  });

  test("a sku that is new here, while PostgreSQL hangs: 503 with a credit after one look, not after two waits", async () => {
    const release = Promise.withResolvers<void>();
    const isLocked = Promise.withResolvers<void>();
    await world.setStock(EVENT, "new", 10);
    const fresh = await world.another(46);
    const lock = world.database.sql.begin(async (tx) => {
      await tx`lock table stock in access exclusive mode`;
      isLocked.resolve();
      await release.promise;
    });
    await isLocked.promise;
    const fan = await world.fan();
    const startedAt = performance.now();
    const body = { sku: "new", quantity: 1 };
    const answer = await world.buy(fan, { base: fresh.url, body });
    expect(performance.now() - startedAt).toBeLessThan(4_500);
    expect(await wordOf(answer)).toBe("503 unavailable");
    await expectCredit(answer, fan);
    release.resolve();
    await lock;
    expect((await world.buy(fan, { base: fresh.url, body })).status).toBe(201);
    await fresh.stop();
  });

  test("whoever asks again after their time, or during a hold, for an answer that we cannot look up has one too", async () => {
    const late = await world.fan({ secondsAgo: 700 });
    const held = await world.fan();
    await world.database.sql`alter table spends rename to spends_gone`;
    const answer = await world.buy(late);
    world.mint.drip = { state: "paused", heldSince: world.clock.now() - 1_000, heldScope: "all" };
    world.clock.advance(4_000);
    const duringHold = await world.buy(held);
    await world.database.sql`alter table spends_gone rename to spends`;
    world.mint.drip = {};
    expect(await wordOf(answer)).toBe("500 internal");
    await expectCredit(answer, late, 704);
    expect(await wordOf(duringHold)).toBe("500 internal");
    await expectCredit(duringHold, held, 14);
    // Found, and nothing bought: no fault of ours.
    const refused = await world.buy(late);
    expect(Object.keys((await refused.json()) as object)).not.toContain("credit");
    world.clock.advance(4_000);
    expect((await world.buy(await world.fan())).status).toBe(201);
  });

  test("a 500 has one too, and says nothing else", async () => {
    await world.database.sql`alter table orders rename to orders_gone`;
    const fan = await world.fan();
    const answer = await world.buy(fan);
    await world.database.sql`alter table orders_gone rename to orders`;
    expect(await wordOf(answer)).toBe("500 internal");
    await expectCredit(answer, fan);
    const members = Object.keys((await answer.json()) as object).toSorted();
    expect(members).toEqual(["credit", "status", "title", "type"]);
    expect((await world.buy(fan)).status).toBe(201);
  });
});

test("what is no fault of ours earns no credit: no admission, sold out, too many, a pause, an outage before it was known to be good", async () => {
  const credit = async (answer: Promise<Response>) =>
    Object.keys((await (await answer).json()) as object);
  const fan = await world.fan();
  const old = await world.fan({ secondsAgo: 700 });
  expect(await credit(world.buy({ ...fan, admission: "x" }))).not.toContain("credit");
  expect(await credit(world.buy(fan, { body: { sku: "gone", quantity: 1 } }))).not.toContain(
    "credit",
  );
  store.isLimiterAway = true;
  expect(await credit(world.buy(old))).not.toContain("credit");
  expect(await credit(world.buy({ ...fan, visitor: old.visitor }))).not.toContain("credit");
  store.isLimiterAway = false;
  const limited = await world.another(43, {
    store: breakableStore(world.clock),
    config: { purchaseLimit: { capacity: 1, refillMs: 60_000 } },
  });
  await world.buy(fan, { base: limited.url, body: { sku: "gone", quantity: 1 } });
  const refused = await world.buy(fan, { base: limited.url });
  expect(refused.status).toBe(429);
  expect(Object.keys((await refused.json()) as object)).not.toContain("credit");
  await limited.stop();
});

test("without a key there is no credit, and a key that is none stops the start", async () => {
  const plain = await world.another(44, { config: { creditKey: undefined } });
  store.isLimiterAway = true;
  const answer = await world.buy(await world.fan(), { base: plain.url });
  store.isLimiterAway = false;
  expect(Object.keys((await answer.json()) as object)).not.toContain("credit");
  await plain.stop();
  const bad = world.another(45, { config: { creditKey: new Secret('{"kty":"OKP"}') } });
  await expect(bad).rejects.toThrow(/^VESTIBULE_CREDIT_KEY/);
});

test("an event that the mint has known for a moment only is sold at once", async () => {
  expect((await world.buy(await world.fan())).status).toBe(201);
  world.mint.events = [...world.mint.events, { ...world.mint.events[0]!, event: "summer" }];
  world.clock.advance(1_000); // less than the manifest's own refresh
  await world.setStock("summer", "seat", 1);
  const fan = await world.fan({ event: "summer" });
  expect((await world.buy(fan, { event: "summer" })).status).toBe(201);
});

describe.each(["purchases", "holds"])("bodies of %s that are none", (path) => {
  const headersOf = (fan: Fan, type: string | undefined) => ({
    ...(type === undefined ? {} : { "Content-Type": type }),
    "Vestibule-Admission": fan.admission,
    "Vestibule-Visitor": fan.visitor,
    "Idempotency-Key": "1",
  });
  const send = (fan: Fan, type: string | undefined, body: BodyInit) =>
    fetch(`${world.url}/v1/events/${EVENT}/${path}`, {
      method: "POST",
      headers: headersOf(fan, type),
      body,
    });
  const good = JSON.stringify({ sku: "seat", quantity: 1 });

  test.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "text/json",
    "application/jsonp",
  ])("%s is 415", async (type) => {
    const fan = await world.fan();
    expect(await wordOf(await send(fan, type, good))).toBe("415 unsupported-media-type");
    expect((await send(fan, "application/json", good)).status).toBe(201);
  });

  test("no type at all is 415", async () => {
    const bytes = new TextEncoder().encode(good);
    const answer = await send(await world.fan(), undefined, bytes);
    expect(await wordOf(answer)).toBe("415 unsupported-media-type");
  });

  test("a megabyte is 413, told by its length or found out on the way", async () => {
    const fan = await world.fan();
    const megabyte = JSON.stringify({ sku: "seat", quantity: 1, more: "x".repeat(1_048_576) });
    expect(await wordOf(await send(fan, "application/json", megabyte))).toBe("413 body-too-large");
    const chunked = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(megabyte));
        controller.close();
      },
    });
    const answer = await fetch(`${world.url}/v1/events/${EVENT}/${path}`, {
      method: "POST",
      headers: headersOf(fan, "application/json"),
      body: chunked,
      duplex: "half",
    } as RequestInit);
    expect(await wordOf(answer)).toBe("413 body-too-large");
    expect((await send(fan, "application/json", good)).status).toBe(201);
  });

  test.each([0, -1, 1.5, 1e9, "2", null, undefined, [1], true])(
    "quantity %j is 400 and names the field",
    async (quantity) => {
      const body = JSON.stringify({ sku: "seat", quantity });
      const answer = await send(await world.fan(), "application/json", body);
      expect(await wordOf(answer)).toBe("400 bad-request");
      expect(await answer.json()).toMatchObject({ errors: [{ field: "quantity" }] });
    },
  );

  test("a body that comes byte by byte is waited for; one that breaks off spends nothing", async () => {
    const fan = await world.fan();
    const head = [
      `POST /v1/events/${EVENT}/${path} HTTP/1.1`,
      "Host: x",
      "Connection: close",
      `Content-Length: ${good.length}`,
      ...Object.entries(headersOf(fan, "application/json")).map(
        ([name, value]) => `${name}: ${value}`,
      ),
      "",
      "",
    ].join("\r\n");
    const { hostname, port } = new URL(world.url);
    const open = () => {
      const socket = connect(Number(port), hostname);
      socket.setNoDelay(true).write(head);
      let text = "";
      socket.on("data", (chunk: Buffer) => (text += chunk.toString()));
      const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
      return { socket, closed };
    };
    const broken = open();
    broken.socket.write(good.slice(0, 5));
    await world.get("/healthz");
    broken.socket.destroy();
    await broken.closed;
    const [row] = await world.database.sql`
      select count(*)::int as spends from spends where number = ${fan.number}`;
    expect(row).toEqual({ spends: 0 });

    const slow = open();
    for (const byte of good) {
      slow.socket.write(byte);
      await world.get("/healthz");
    }
    expect(await slow.closed).toMatch(/^HTTP\/1\.1 201 /);
  });
});
