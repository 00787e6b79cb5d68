/**
 * Design section 11 at the edge: each of mints and purchase API away, slow, hanging, answering rubbish, and back again.
 * What is answered, after how long, and that it goes on by itself.
 */
import { PROBLEMS } from "@vestibule/contracts/problems";
import { sleep } from "@vestibule/feed/fetch-text.system";
import { BREAKER_REST_MS_MAX, BREAKER_REST_MS_MIN } from "@vestibule/feed/limits";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  GRANT_DEADLINE_MS,
  ORIGIN_DEADLINE_MS_DEFAULT,
  PURCHASE_DEADLINE_MS,
  UPSTREAM_BYTES_MAX,
} from "../src/limits.ts";
import { inVirtualTime, pass, startVirtualTime, stopVirtualTime, timed } from "./virtual-time.ts";
import {
  OWN_PAGE,
  PAGE_VIEW,
  type Sent,
  VISITOR_A,
  type World,
  cookies,
  createWorld,
  hang,
  isQuestion,
  refusal,
} from "./world.ts";

beforeEach(startVirtualTime);
afterEach(stopVirtualTime);

const after = (ms: number, answer: () => Response): Promise<Response> => sleep(ms).then(answer);
const html = (status: number) => () =>
  new Response("<!doctype html><title>Bad gateway</title>", {
    status,
    headers: { "Content-Type": "text/html" },
  });

/** Fails at once: nobody waits, and it is asked again by the next request. */
const AT_ONCE: Record<string, () => Response | Promise<Response>> = {
  away: () => Promise.reject(new Error("connection refused")),
  "HTML with 200": html(200),
  "HTML with 502": html(502),
  "JSON cut off": () => new Response('{"number":1,', { status: 201 }),
  "of the wrong type": () => Response.json(["number", 1], { status: 201 }),
  empty: () => new Response(null, { status: 200 }),
  "too long": () => new Response(" ".repeat(UPSTREAM_BYTES_MAX + 1), { status: 201 }),
  "a redirect": () => new Response(null, { status: 302, headers: { Location: "https://other/" } }),
};

/** The same of a mint only: what the purchase API answers is the shop's to read. */
const NO_GRANT: Record<string, () => Response | Promise<Response>> = {
  ...AT_ONCE,
  "an object that is no grant": () => Response.json({ ok: true }, { status: 201 }),
  "a refusal that decides nothing": () => refusal("unauthorized"),
  "a grant without its token": () =>
    Response.json({ number: 1, issuedAt: 1, opensAt: 1, closesAt: 2 }, { status: 200 }),
};

/** Time has passed: a newer statement of the drip may be waited for. */
const SOON_MS = 100;

const isFirst = ({ url }: Sent) => url.startsWith("https://mint-1.");
const isGrant = ({ url, method }: Sent) => method === "POST" && !isQuestion(url);

function join(world: World): Promise<Response> {
  const headers = { ...OWN_PAGE, Cookie: cookies({ visitor: VISITOR_A }) };
  return world.post("/_vestibule/events/demo/tickets", { headers });
}

async function claim(world: World): Promise<Response> {
  const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(5) });
  return world.post("/_vestibule/events/demo/admissions", { headers: { ...OWN_PAGE, Cookie } });
}

async function buy(world: World): Promise<Response> {
  const Cookie = cookies({ visitor: VISITOR_A, admission: await world.admission() });
  const headers = { ...OWN_PAGE, Cookie, "Content-Type": "application/json" };
  return world.post("/_vestibule/events/demo/purchases", { headers, body: "{}" });
}

async function expectAway(response: Response): Promise<void> {
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ type: "urn:vestibule:problem:unavailable" });
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
}

/** It knows keys, manifest and drip, as after its first second. */
async function started(config: Parameters<typeof createWorld>[0] = {}): Promise<World> {
  const world = inVirtualTime(await createWorld(config));
  await timed(world.get("/_vestibule/events/demo/drip"));
  return world;
}

describe.each([
  ["a join", join],
  ["a claim", claim],
])("every mint: %s", (_what, ask) => {
  test.each(Object.keys(NO_GRANT))("%s: told at once, and granted when it is back", async (how) => {
    const world = await started();
    world.mint = (request) => (isGrant(request) ? NO_GRANT[how]?.() : undefined);
    for (let times = 0; times < 3; times += 1) {
      const { value, ms } = await timed(ask(world));
      await expectAway(value);
      expect(ms).toBe(0);
    }
    world.mint = () => undefined;
    const back = await timed(ask(world));
    expect(back.value.status).toBe(201);
    expect(back.ms).toBe(0);
  });

  test.each([
    ...["away", "HTML with 200", "an object that is no grant", "a grant without its token"],
    "a refusal that decides nothing",
  ])("the first of them %s: the next one grants", async (how) => {
    const world = await started();
    world.mint = (request) =>
      isGrant(request) && isFirst(request) ? NO_GRANT[how]?.() : undefined;
    const { value, ms } = await timed(ask(world));
    expect([value.status, ms]).toEqual([201, 0]);
  });

  test("one question that hangs among others that are answered: nobody is refused", async () => {
    const world = await started({ config: { mintUrls: ["https://mint-1.internal"] } });
    world.mint = (request) => (isGrant(request) ? hang(request) : undefined);
    const stuck = ask(world);
    await pass(GRANT_DEADLINE_MS / 2);
    world.mint = () => undefined;
    expect((await timed(ask(world))).value.status).toBe(201);
    await expectAway((await timed(stuck)).value);
    const { value, ms } = await timed(ask(world));
    expect(value.status).toBe(201);
    expect(ms).toBeLessThan(SOON_MS);
  });

  test("slow, within the deadline: granted", async () => {
    const world = await started();
    const slowMs = GRANT_DEADLINE_MS - 500;
    // Enough for either question.
    const grant = {
      ...{ number: 1, issuedAt: world.now, ticket: await world.ticket(1) },
      ...{ opensAt: world.now, closesAt: world.now + 1, admission: await world.admission() },
    };
    world.mint = (request) =>
      isGrant(request) ? after(slowMs, () => Response.json(grant, { status: 201 })) : undefined;
    const { value, ms } = await timed(ask(world));
    expect(value.status).toBe(201);
    expect(ms).toBe(slowMs);
  });

  test("hanging: the first waits for the deadlines, then everybody is told within a second, and it comes back", async () => {
    const world = await started();
    world.mint = (request) => (isGrant(request) ? hang(request) : undefined);
    const first = await timed(ask(world));
    await expectAway(first.value);
    expect(first.ms).toBe(2 * GRANT_DEADLINE_MS);
    // For a minute: nobody waits a second, probes included.
    for (let asked = 0; asked < 24; asked += 1) {
      const { value, ms } = await timed(ask(world));
      await expectAway(value);
      expect(ms).toBeLessThan(1_000);
      await pass(2_500);
    }
    // Few of them asked a mint at all.
    expect(world.grants().length).toBeLessThan(16);
    world.mint = () => undefined;
    await pass(BREAKER_REST_MS_MAX);
    const back = await timed(ask(world));
    expect(back.value.status).toBe(201);
    expect(back.ms).toBeLessThan(SOON_MS);
  });
});

test("a preferred mint that hangs costs one request its deadline, and no other one anything", async () => {
  const world = await started();
  world.mint = (request) => (isGrant(request) && isFirst(request) ? hang(request) : undefined);
  const first = await timed(join(world));
  expect(first.value.status).toBe(201);
  expect(first.ms).toBe(GRANT_DEADLINE_MS);
  for (let joins = 0; joins < 10; joins += 1) {
    const next = await timed(join(world));
    expect(next.value.status).toBe(201);
    expect(next.ms).toBeLessThan(SOON_MS);
    await pass(BREAKER_REST_MS_MIN);
  }
  expect(world.grants().filter(isFirst)).toHaveLength(1);
});

test("mints whose database hangs grant no claim, and give places all the same, from the blocks that they have", async () => {
  const world = await started();
  world.mint = (request) => (request.url.endsWith("/admissions") ? hang(request) : undefined);
  await expectAway((await timed(claim(world))).value);
  for (let asked = 0; asked < 6; asked += 1) {
    const joined = await timed(join(world));
    expect(joined.value.status).toBe(201);
    expect(joined.ms).toBeLessThan(SOON_MS);
    const claimed = await timed(claim(world));
    await expectAway(claimed.value);
    expect(claimed.ms).toBeLessThan(1_000);
    await pass(BREAKER_REST_MS_MIN);
  }
});

test("a mint that answers just after a probe's fan was told: they get the same place with the next try", async () => {
  const world = await started();
  world.mint = (request) => (isGrant(request) ? hang(request) : undefined);
  await timed(join(world));
  await pass(BREAKER_REST_MS_MIN);
  let granted = 0;
  world.mint = (request) => {
    if (!isGrant(request)) return undefined;
    granted += 1;
    return after(GRANT_DEADLINE_MS / 2, () => Response.json({}, { status: 201 }));
  };
  const told = await timed(join(world));
  await expectAway(told.value);
  expect(told.ms).toBeLessThan(1_000);
  expect(granted).toBe(1);
  await pass(GRANT_DEADLINE_MS);
  world.mint = () => undefined;
  const next = await timed(join(world));
  expect(next.value.status).toBe(201);
  expect(next.ms).toBeLessThan(SOON_MS);
});

describe("the purchase API", () => {
  test.each(Object.keys(AT_ONCE))(
    "%s: a clear 503 at once, and sold when it is back",
    async (how) => {
      const world = await started();
      world.purchase = () => AT_ONCE[how]?.() ?? html(500)();
      for (let times = 0; times < 3; times += 1) {
        const { value, ms } = await timed(buy(world));
        await expectAway(value);
        expect(value.headers.get("content-type")).toBe("application/problem+json");
        expect(ms).toBe(0);
      }
      world.purchase = () => Response.json({ orderId: "o-1" }, { status: 201 });
      expect((await timed(buy(world))).value.status).toBe(201);
    },
  );

  test("slow, within its deadline: its answer", async () => {
    const world = await started();
    world.purchase = () =>
      after(PURCHASE_DEADLINE_MS - 1_000, () => Response.json({ orderId: "o-1" }, { status: 201 }));
    expect((await timed(buy(world))).value.status).toBe(201);
  });

  test("hanging: the first waits for the deadline, then everybody but the one who finds out is told at once", async () => {
    const world = await started();
    world.purchase = hang;
    const first = await timed(buy(world));
    await expectAway(first.value);
    expect(first.ms).toBe(PURCHASE_DEADLINE_MS);
    const told = await timed(buy(world));
    await expectAway(told.value);
    expect(told.ms).toBeLessThan(SOON_MS);
    world.purchase = () => Response.json({ orderId: "o-1" }, { status: 201 });
    await pass(BREAKER_REST_MS_MAX);
    const back = await timed(buy(world));
    expect(back.value.status).toBe(201);
    expect(back.ms).toBeLessThan(SOON_MS);
  });
});

test("who asks the purchase API and hangs up: it is heard to its end, for everybody to know", async () => {
  const world = await started();
  await world.settle();
  world.purchase = hang;
  buy(world).catch(() => undefined);
  await pass(SOON_MS);
  // What is left for the background outlives the request.
  const { ms } = await timed(world.settle());
  expect(ms).toBeGreaterThanOrEqual(PURCHASE_DEADLINE_MS - SOON_MS - 1);
});

describe("the origin", () => {
  const headersOf = async (world: World) => ({
    ...PAGE_VIEW,
    Cookie: cookies({ visitor: VISITOR_A, admission: await world.admission() }),
  });

  test.each([500, 502, 503, 504, 507, 520, 599])(
    "%i passes as it is: never the holding page, nothing kept, nothing spent, and back at once",
    async (status) => {
      const world = await started();
      const headers = await headersOf(world);
      world.origin = () =>
        new Response("<h1>The shop's own words</h1>", {
          status,
          headers: { "Content-Type": "text/html", "Retry-After": "7", "Set-Cookie": "cart=1" },
        });
      for (let times = 0; times < 2; times += 1) {
        const { value, ms } = await timed(world.get("/events/demo", { headers }));
        expect(value.status).toBe(status);
        expect(await value.text()).toBe("<h1>The shop's own words</h1>");
        expect([...value.headers]).toEqual([
          ...[
            ["content-type", "text/html"],
            ["retry-after", "7"],
            ["set-cookie", "cart=1"],
          ],
        ]);
        expect(ms).toBe(0);
      }
      expect(world.toOrigin()).toHaveLength(2);
      expect(world.sent.filter(({ url }) => url.startsWith("https://purchase."))).toEqual([]);
      world.origin = () => new Response("open again");
      const { value } = await timed(world.get("/events/demo", { headers }));
      expect(await value.text()).toBe("open again");
    },
  );

  test("hanging: 504 after its deadline, with no circuit: its own slow answers are its own business", async () => {
    const world = await started();
    const headers = await headersOf(world);
    world.origin = hang;
    for (let times = 0; times < 2; times += 1) {
      const { value, ms } = await timed(world.get("/events/demo", { headers }));
      expect(value.status).toBe(504);
      expect(Math.abs(ms - ORIGIN_DEADLINE_MS_DEFAULT)).toBeLessThan(SOON_MS);
    }
    expect(world.toOrigin()).toHaveLength(2);
    world.origin = () => new Response("open again");
    const { value, ms } = await timed(world.get("/events/demo", { headers }));
    expect(await value.text()).toBe("open again");
    expect(ms).toBeLessThan(SOON_MS);
  });
});

describe("what a mint or the purchase API may refuse with", () => {
  test("passes as it is: it is well", async () => {
    const world = await started();
    const soldOut = { type: "urn:vestibule:problem:sold-out", title: "", status: 409 };
    world.purchase = () => Response.json(soldOut, { status: 409 });
    const { value } = await timed(buy(world));
    expect(value.status).toBe(PROBLEMS["sold-out"].status);
    expect(await value.json()).toEqual(soldOut);
  });
});
