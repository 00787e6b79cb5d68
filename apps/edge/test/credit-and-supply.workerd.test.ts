/** A purchase that failed by a fault of ours, and a sale that is sold out and goes on: at the edge. */
import { problemDocument } from "@vestibule/contracts/problems";
import { epochMs } from "@vestibule/kernel/units";
import { describe, expect, test } from "vitest";
import {
  HOST,
  NOW,
  OWN_PAGE,
  PAGE_VIEW,
  VISITOR_A,
  type World,
  cookies,
  createWorld,
  refusal,
} from "./world.ts";

const CREDIT = "e30.e30.c2lnbmF0dXJl";
const CLEARED = /^__Host-vst-credit-demo=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax; Secure$/;
const CLAIM = "/_vestibule/events/demo/admissions";
const ME = "/_vestibule/events/demo/me";
/** Slots that opened long ago; still listed, as they are until their counts are final. */
const OLD = { base: 1, count: 100, from: NOW - 900_000, until: NOW - 800_000 };

async function worldWith(drip: object): Promise<World> {
  const world = await createWorld();
  world.drip = drip;
  return world;
}
async function shown(world: World, number: number, credit: string | null = CREDIT) {
  const own = cookies({ visitor: VISITOR_A, ticket: await world.ticket(number) });
  const Cookie = credit === null ? own : `${own}; __Host-vst-credit-demo=${credit}`;
  return { ...OWN_PAGE, Cookie };
}
const used = () =>
  Response.json(problemDocument("too-early", { extensions: { creditUsed: true, inner: "x" } }), {
    status: 425,
    headers: { "Retry-After": "1" },
  });
const asked = (world: World) => world.grants().map(({ body }) => JSON.parse(body) as object);

describe("a claim with a credit", () => {
  test.each([
    ["over and still listed", { segments: [OLD] }, 50],
    ["passed", { segments: [] }, 50],
  ])(
    "of a slot that is %s goes to the mint, which gets the credit",
    async (_name, drip, number) => {
      const world = await worldWith(drip);
      world.mint = ({ url }) => (url.endsWith("/admissions") ? used() : undefined);
      const response = await world.post(CLAIM, { headers: await shown(world, number) });
      expect(response.status).toBe(425);
      expect(response.headers.get("retry-after")).toBe("1");
      const body = await response.json<Record<string, unknown>>();
      expect(body["creditUsed"]).toBe(true);
      expect(body["inner"]).toBeUndefined();
      expect(asked(world)).toMatchObject([{ visitor: VISITOR_A, credit: CREDIT }]);
    },
  );

  test("law 11: without one, a slot that is over is still answered here", async () => {
    const world = await worldWith({ segments: [OLD] });
    for (const credit of ["", "junk", "a.b", `${"a".repeat(3_000)}.b.c`]) {
      const headers = await shown(world, 50, credit);
      expect((await world.post(CLAIM, { headers })).status).toBe(410);
    }
    expect(world.grants()).toEqual([]);
  });

  test.each([
    ["open", { segments: [{ ...OLD, from: NOW - 1_000, until: NOW + 1_000 }] }, 1],
    ["not open yet", {}, 60],
  ])(
    "of a slot that is %s is an ordinary claim: the credit stays where it is",
    async (_n, drip, number) => {
      const world = await worldWith(drip);
      const response = await world.post(CLAIM, { headers: await shown(world, number) });
      expect(response.status).toBe(201);
      expect(asked(world)).toMatchObject([{ visitor: VISITOR_A }]);
      expect(asked(world)[0]).not.toHaveProperty("credit");
      expect(response.headers.getSetCookie().join()).not.toContain("credit");
    },
  );

  test("used, or refused for good: the browser forgets it; whatever else is said, it keeps it", async () => {
    const answers: [() => Response, boolean][] = [
      [used, true],
      [() => refusal("slot-over"), true],
      [() => refusal("too-early"), false],
      [() => refusal("sold-out"), false],
      [() => refusal("held"), false],
      [() => refusal("unavailable"), false],
      [() => refusal("forbidden"), false],
      [() => new Response("rubbish", { status: 500 }), false],
    ];
    for (const [answer, cleared] of answers) {
      const world = await worldWith({ segments: [] });
      world.mint = ({ url }) => (url.endsWith("/admissions") ? answer() : undefined);
      const headers = await shown(world, 50);
      const response = await world.post(CLAIM, { headers });
      const set = response.headers.getSetCookie();
      expect(set).toEqual(cleared ? [expect.stringMatching(CLEARED)] : []);
      expect(response.headers.get("cache-control")).toContain("no-store");
    }
  });

  test("a claim that was granted leaves it: it may be for the very slot that is open now", async () => {
    const world = await worldWith({ segments: [] });
    const response = await world.post(CLAIM, { headers: await shown(world, 50) });
    expect(response.status).toBe(201);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-vst-admission-demo=/),
    ]);
  });

  test("an app shows it in a header, gets no cookie, and no mixture of the two counts", async () => {
    const world = await worldWith({ segments: [OLD] });
    world.mint = ({ url }) => (url.endsWith("/admissions") ? used() : undefined);
    const headers = {
      "Vestibule-Visitor": VISITOR_A,
      "Vestibule-Ticket": await world.ticket(50),
      "Vestibule-Credit": CREDIT,
    };
    const response = await world.post(CLAIM, { headers });
    expect(response.status).toBe(425);
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(asked(world)).toMatchObject([{ credit: CREDIT }]);
    const { "Vestibule-Credit": _credit, ...without } = headers;
    const mixed = { ...without, Cookie: `__Host-vst-credit-demo=${CREDIT}` };
    expect((await world.post(CLAIM, { headers: mixed })).status).toBe(410);
    const byCookie = { ...(await shown(world, 50, null)), "Vestibule-Credit": CREDIT };
    expect((await world.post(CLAIM, { headers: byCookie })).status).toBe(410);
    const huge = { ...headers, "Vestibule-Credit": `${"a".repeat(3_000)}.b.c` };
    expect((await world.post(CLAIM, { headers: huge })).status).toBe(431);
    expect(world.grants()).toHaveLength(1);
  });

  test("without JavaScript: the form claims with it, and the answer says what comes of it", async () => {
    const world = await worldWith({ segments: [OLD] });
    world.mint = ({ url }) => (url.endsWith("/admissions") ? used() : undefined);
    const response = await world.post(CLAIM, {
      headers: {
        ...(await shown(world, 50)),
        ...PAGE_VIEW,
        "Content-Type": "application/x-www-form-urlencoded",
      },
      body: "return=/events/demo",
    });
    expect(response.status).toBe(425);
    expect(response.headers.getSetCookie()).toEqual([expect.stringMatching(CLEARED)]);
    expect(await response.text()).toContain('data-state="owed"');
  });

  test("no other site can spend it", async () => {
    const world = await worldWith({ segments: [OLD] });
    const headers = {
      ...(await shown(world, 50)),
      "Sec-Fetch-Site": "cross-site",
      Origin: "https://evil.test",
    };
    expect((await world.post(CLAIM, { headers })).status).toBe(403);
    expect(world.grants()).toEqual([]);
  });
});

describe("looking", () => {
  test("GET me says that there is a credit, once the slot is over and not before", async () => {
    const me = async (drip: object, number: number, credit?: string | null) => {
      const world = await worldWith(drip);
      const response = await world.get(ME, { headers: await shown(world, number, credit) });
      expect(response.status).toBe(200);
      return (await response.json<{ credit?: unknown }>()).credit;
    };
    expect(await me({ segments: [OLD] }, 50)).toBe(true);
    expect(await me({ segments: [] }, 50)).toBe(true);
    expect(await me({ segments: [OLD] }, 50, "")).toBeUndefined();
    expect(await me({ segments: [OLD] }, 50, null)).toBeUndefined();
    expect(await me({}, 60)).toBeUndefined();
    expect(await me({}, 500)).toBeUndefined();
    const open = { base: 1, count: 100, from: NOW - 1_000, until: NOW + 1_000 };
    expect(await me({ segments: [open] }, 1)).toBeUndefined();
  });

  test("a number whose slot was made good has its fresh slot", async () => {
    const fresh = { base: 50, count: 1, from: NOW + 5_000, until: NOW + 6_000 };
    const world = await worldWith({ segments: [OLD, fresh] });
    const response = await world.get(ME, { headers: await shown(world, 50) });
    expect(await response.json()).toEqual({
      ...{ number: 50, state: "known" },
      ...{ opensAt: NOW + 5_000, closesAt: NOW + 605_000, claimBy: NOW + 185_000 },
    });
  });
});

describe("the page", () => {
  async function pageOf(drip: object, number: number | undefined, credit?: string) {
    const world = await worldWith(drip);
    const own = cookies({
      visitor: VISITOR_A,
      ...(number === undefined ? {} : { ticket: await world.ticket(number) }),
    });
    const Cookie = credit === undefined ? own : `${own}; __Host-vst-credit-demo=${credit}`;
    const response = await world.get("/events/demo", { headers: { ...PAGE_VIEW, Cookie } });
    const html = await response.text();
    const data = /<script type="application\/json"[^>]*>(.*?)<\/script>/.exec(html)?.[1] ?? "{}";
    return {
      state: /data-state="(\w+)"/.exec(html)?.[1],
      lead: /id="lead">([^<]*)/.exec(html)?.[1],
      button: /id="take" class="nojs">/.test(html),
      credit: (JSON.parse(data) as { credit?: boolean }).credit,
    };
  }

  test("says in plain words that the turn is not lost, and tells its script", async () => {
    for (const segments of [[OLD], []]) {
      expect(await pageOf({ segments }, 50, CREDIT)).toEqual({
        state: "credit",
        lead: expect.stringContaining("you get the next free turn"),
        button: true,
        credit: true,
      });
    }
    expect((await pageOf({ segments: [OLD] }, 50)).state).toBe("missed");
  });

  test("says what keeps the fresh turn from coming: a pause, nothing left, the end", async () => {
    const with_ = async (drip: object) =>
      (await pageOf({ segments: [], ...drip }, 50, CREDIT)).state;
    expect(await with_({ state: "paused", heldSince: NOW - 9_000 })).toBe("paused");
    expect(await with_({ state: "soldout" })).toBe("soldout");
    expect(await with_({ state: "ended" })).toBe("ended");
  });

  test("shows a slot that is open, or on its way, whatever credit is there", async () => {
    expect((await pageOf({}, 60, CREDIT)).state).toBe("known");
    expect((await pageOf({}, 1, CREDIT)).state).toBe("turn");
    const fresh = { base: 50, count: 1, from: NOW + 5_000, until: NOW + 6_000 };
    expect((await pageOf({ segments: [OLD, fresh] }, 50, CREDIT)).state).toBe("known");
  });

  test("sold out is said with the place kept, and without one, and to whoever missed their turn", async () => {
    const kept = await pageOf({ state: "soldout", segments: [] }, 500);
    expect(kept).toMatchObject({
      state: "soldout",
      lead: expect.stringContaining("place is kept"),
    });
    const none = await pageOf({ state: "soldout", segments: [] }, undefined);
    expect(none).toMatchObject({ state: "soldout", lead: expect.stringContaining("opens again") });
    const missed = await pageOf({ state: "soldout", segments: [OLD] }, 50);
    expect(missed).toMatchObject({ state: "soldout", lead: none.lead });
  });
});

describe("while nothing is left", () => {
  const JOIN = "/_vestibule/events/demo/tickets";

  test("law 11: joins and claims that cannot be granted are answered here, 409 with when to look again", async () => {
    const world = await worldWith({ state: "soldout" });
    await world.get("/_vestibule/events/demo/drip");
    const visitor = { ...OWN_PAGE, Cookie: cookies({ visitor: VISITOR_A }) };
    for (let i = 0; i < 100; i += 1) {
      const join = await world.post(JOIN, { headers: visitor });
      expect(join.status).toBe(409);
      expect(Number(join.headers.get("retry-after"))).toBeGreaterThanOrEqual(20);
      const claim = await world.post(CLAIM, { headers: await shown(world, 500, null) });
      expect(claim.status).toBe(409);
    }
    expect(world.grants()).toEqual([]);
  });

  test("law 2: a place is kept through it, and the mint is asked about one that the line has passed", async () => {
    const world = await worldWith({ state: "soldout" });
    const kept = await world.post(JOIN, { headers: await shown(world, 500, null) });
    expect([kept.status, (await kept.json<{ number: number }>()).number]).toEqual([200, 500]);
    expect(world.grants()).toEqual([]);
    world.drip = { state: "soldout", segments: [] };
    world.seq += 1;
    world.now = epochMs(world.now + 6_000);
    await world.post(CLAIM, { headers: await shown(world, 50, null) });
    expect(world.grants()).toHaveLength(1);
  });

  test("a committed slot is claimed and entered as ever", async () => {
    const world = await worldWith({ state: "soldout" });
    const response = await world.post(CLAIM, { headers: await shown(world, 60, null) });
    expect(response.status).toBe(201);
  });

  test("joins go on as soon as this location hears that something came back", async () => {
    const world = await worldWith({ state: "soldout" });
    const headers = { ...OWN_PAGE, Cookie: cookies({ visitor: VISITOR_A }) };
    await world.get("/_vestibule/events/demo/drip");
    expect((await world.post(JOIN, { headers })).status).toBe(409);
    world.drip = {};
    world.seq += 1;
    world.now = epochMs(world.now + 2_000);
    await world.get("/_vestibule/events/demo/drip");
    await world.settle();
    expect((await world.post(JOIN, { headers })).status).toBe(201);
  });
});

describe("buying at the edge", () => {
  const BUY = "/_vestibule/events/demo/purchases";
  const failed = { ...problemDocument("unavailable"), credit: CREDIT };
  const buy = async (world: World, more: Record<string, string>) =>
    world.post(BUY, { headers: { "Content-Type": "application/json", ...more }, body: "{}" });

  test("a failure with a credit: a browser keeps it for a day, where no script can read it", async () => {
    const world = await createWorld();
    world.purchase = () => Response.json(failed, { status: 503, headers: { "Retry-After": "3" } });
    const Cookie = cookies({ visitor: VISITOR_A, admission: await world.admission() });
    const response = await buy(world, { ...OWN_PAGE, Cookie });
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("3");
    expect(await response.json()).toEqual(failed);
    expect(response.headers.getSetCookie()).toEqual([
      `__Host-vst-credit-demo=${CREDIT}; Path=/; Max-Age=86400; HttpOnly; SameSite=Lax; Secure`,
    ]);
  });

  test("whoever has bought needs no other turn: the browser forgets the credit", async () => {
    const world = await createWorld();
    const own = cookies({ visitor: VISITOR_A, admission: await world.admission() });
    const Cookie = `${own}; __Host-vst-credit-demo=${CREDIT}`;
    const bought = await buy(world, { ...OWN_PAGE, Cookie });
    expect(bought.status).toBe(201);
    expect(bought.headers.getSetCookie()).toEqual([expect.stringMatching(CLEARED)]);
    world.purchase = () => new Response("{}", { status: 409 });
    expect((await buy(world, { ...OWN_PAGE, Cookie })).headers.getSetCookie()).toEqual([]);
    // Bought in another tab, or by an earlier request whose answer was lost.
    world.purchase = () => Response.json({ orderId: "o-1" }, { status: 409 });
    const before = await buy(world, { ...OWN_PAGE, Cookie });
    expect(before.headers.getSetCookie()).toEqual([expect.stringMatching(CLEARED)]);
  });

  test("an app has it in the body; no answer but a failure of ours sets one, and no text that is no token", async () => {
    const world = await createWorld();
    const admission = await world.admission();
    const app = { "Vestibule-Visitor": VISITOR_A, "Vestibule-Admission": admission };
    world.purchase = () => Response.json(failed, { status: 503 });
    const answered = await buy(world, app);
    expect(answered.headers.getSetCookie()).toEqual([]);
    expect((await answered.json<{ credit: string }>()).credit).toBe(CREDIT);
    const Cookie = cookies({ visitor: VISITOR_A, admission });
    for (const [body, status] of [
      [JSON.stringify(failed), 409],
      [JSON.stringify(failed), 201],
      [JSON.stringify({ ...failed, credit: "x; Domain=evil.test" }), 503],
      [JSON.stringify({ ...failed, credit: 5 }), 503],
    ] as const) {
      world.purchase = () => new Response(body, { status });
      const response = await buy(world, { ...OWN_PAGE, Cookie });
      expect(response.headers.getSetCookie()).toEqual([]);
      expect([response.status, await response.text()]).toEqual([status, body]);
    }
    // No answer of the purchase API: of what is between.
    for (const body of ["null", "rubbish"]) {
      world.purchase = () => new Response(body, { status: 502 });
      const response = await buy(world, { ...OWN_PAGE, Cookie });
      expect(response.headers.getSetCookie()).toEqual([]);
      const { type } = await response.json<{ type: string }>();
      expect([response.status, type]).toEqual([503, "urn:vestibule:problem:unavailable"]);
    }
  });
});

test("the shop never sees the credit's cookie, and its own Set-Cookie of one goes through", async () => {
  const world = await createWorld();
  const set = `__Host-vst-credit-demo=${CREDIT}; Path=/; HttpOnly; SameSite=Lax; Secure`;
  world.origin = () => new Response("", { headers: { "Set-Cookie": set } });
  const own = cookies({ visitor: VISITOR_A, admission: await world.admission() });
  const Cookie = `${own}; __Host-vst-credit-demo=${CREDIT}; basket=1`;
  const response = await world.get("/events/demo", { headers: { ...PAGE_VIEW, Cookie } });
  expect(world.toOrigin()[0]?.headers.get("cookie")).toBe("basket=1");
  expect(response.headers.getSetCookie()).toEqual([set]);
  expect(HOST).toBe("https://shop.example");
});
