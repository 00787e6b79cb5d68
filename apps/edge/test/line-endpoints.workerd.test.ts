/** Join, look, claim, buy. */
import { describe, expect, test } from "vitest";
import { epochMs } from "@vestibule/kernel/units";
import { readText } from "../src/api/form.ts";
import {
  EVENT,
  HOST,
  NOW,
  OWN_PAGE,
  PAGE_VIEW,
  VISITOR_A,
  VISITOR_B,
  type World,
  cookies,
  createWorld,
  refusal,
} from "./world.ts";

/** Seconds: an end may be moved after the browser was given its cookies. */
const OUTLIVES = 30 * 86_400;

const TICKETS = "/_vestibule/events/demo/tickets";
const ADMISSIONS = "/_vestibule/events/demo/admissions";
const PURCHASES = "/_vestibule/events/demo/purchases";
const ME = "/_vestibule/events/demo/me";

const withTicket = async (world: World, number: number, visitor = VISITOR_A) => ({
  ...OWN_PAGE,
  Cookie: cookies({ visitor, ticket: await world.ticket(number, visitor) }),
});

const isAway = (world: World) => {
  world.mint = () => Promise.reject(new Error("away"));
};

describe("joining", () => {
  test("a browser gets cookies that a script cannot read, until the event's end", async () => {
    const world = await createWorld();
    const headers = { ...OWN_PAGE, Cookie: cookies({ visitor: VISITOR_A }) };
    const response = await world.post(TICKETS, { headers });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ event: "demo", number: 1, issuedAt: NOW });
    const [visitor, ticket] = response.headers.getSetCookie();
    const attributes = `; Path=/; Max-Age=${86_400 + OUTLIVES}; HttpOnly; SameSite=Lax; Secure`;
    expect(visitor).toBe(`__Host-vst-visitor-demo=${VISITOR_A}${attributes}`);
    expect(ticket).toMatch(new RegExp(`^__Host-vst-ticket-demo=[\\w.-]+${attributes}$`));
  });

  test("an app gets tokens in the body and in headers, and no cookie", async () => {
    const world = await createWorld();
    const response = await world.post(TICKETS, { headers: { "Vestibule-Mode": "token" } });
    const body = await response.json<{ visitor: string; ticket: string }>();
    expect(body.visitor).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(response.headers.get("vestibule-visitor")).toBe(body.visitor);
    expect(response.headers.get("vestibule-ticket")).toBe(body.ticket);
    expect(response.headers.getSetCookie()).toEqual([]);
    const me = await world.get(ME, {
      headers: { "Vestibule-Visitor": body.visitor, "Vestibule-Ticket": body.ticket },
    });
    expect(await me.json()).toMatchObject({ number: 1 });
  });

  test("on plain http, for development, the same without Secure and prefix", async () => {
    const world = await createWorld();
    const response = await world.post(`http://shop.example${TICKETS}`);
    expect(response.headers.getSetCookie()[0]).toMatch(/^vst-visitor-demo=.*SameSite=Lax$/);
  });

  test("QP-07: a place that is still good is kept without asking the mint, 100 times", async () => {
    const world = await createWorld();
    const headers = await withTicket(world, 500);
    for (let i = 0; i < 100; i += 1) {
      const response = await world.post(TICKETS, { headers });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ number: 500 });
    }
    expect(world.grants()).toEqual([]);
  });

  test("a place that the line has passed is the mint's to judge: it sees the old ticket", async () => {
    const world = await createWorld();
    world.drip = { segments: [{ base: 90, count: 10, from: NOW, until: NOW + 10_000 }] };
    const headers = await withTicket(world, 5);
    expect((await world.post(TICKETS, { headers })).status).toBe(201);
    const [grant] = world.grants();
    expect(JSON.parse(grant?.body ?? "")).toEqual({
      visitor: VISITOR_A,
      ticket: expect.any(String),
    });
  });

  test("a stranger's or an ill-formed ticket is not shown to the mint", async () => {
    const world = await createWorld();
    const ticket = await world.ticket(5, VISITOR_B);
    const forged = ticket.replace(/[^.]*$/, "A".repeat(86));
    for (const shown of [ticket, forged, "x", "<script>"]) {
      const Cookie = cookies({ visitor: VISITOR_A, ticket: shown });
      await world.post(TICKETS, { headers: { ...OWN_PAGE, Cookie } });
    }
    for (const { body } of world.grants()) expect(JSON.parse(body)).toEqual({ visitor: VISITOR_A });
  });

  test("MH-06: joins for no event, and after its end, die here", async () => {
    const world = await createWorld();
    for (const event of ["other", "Demo", "..", "x".repeat(500), "a%2Fb"]) {
      expect((await world.post(`/_vestibule/events/${event}/tickets`)).status).toBe(404);
    }
    world.now = epochMs(EVENT.endsAt);
    expect((await world.post(TICKETS)).status).toBe(410);
    expect(world.grants()).toEqual([]);
  });

  test("before the line opens: 425 with the moment, without asking the mint", async () => {
    const world = await createWorld();
    world.manifest = [{ ...EVENT, startsAt: NOW + 90_000, joinableAt: NOW + 60_000 }];
    const response = await world.post(TICKETS);
    expect(response.status).toBe(425);
    expect(response.headers.get("retry-after")).toBe("60");
    expect(await response.json()).toMatchObject({ joinableAt: NOW + 60_000 });
    expect(world.grants()).toEqual([]);
  });
});

describe("law 2: an event that is extended takes nobody's place", () => {
  const END = NOW + 600_000;
  const ticketOf = (response: Response) =>
    /ticket-demo=([^;]+)/.exec(response.headers.getSetCookie().join())?.[1];
  const extended = async () => {
    const world = await createWorld();
    world.manifest = [{ ...EVENT, endsAt: END }];
    const headers = await withTicket(world, 500);
    const extend = async (now: number) => {
      world.manifest = [EVENT];
      world.seq += 1;
      world.now = epochMs(now);
      await world.get(ME, { headers });
      await world.settle();
    };
    return { world, headers, extend };
  };

  test("before the old end: the next join has the place signed anew, with cookies that outlive the new end", async () => {
    const { world, headers, extend } = await extended();
    expect((await world.post(TICKETS, { headers })).status).toBe(200);
    expect(world.grants()).toEqual([]);
    await extend(NOW + 300_000);
    world.mint = ({ method }) => (method === "POST" ? signedAnew(world, 500) : undefined);
    const response = await world.post(TICKETS, { headers });
    expect(await response.json()).toMatchObject({ number: 500 });
    expect(JSON.parse(world.grants()[0]?.body ?? "")).toMatchObject({ visitor: VISITOR_A });
    const left = (EVENT.endsAt - world.now) / 1000 + OUTLIVES;
    for (const cookie of response.headers.getSetCookie()) {
      expect(cookie).toContain(`Max-Age=${left};`);
    }
    const Cookie = cookies({ visitor: VISITOR_A, ticket: ticketOf(response) ?? "" });
    await world.post(TICKETS, { headers: { ...OWN_PAGE, Cookie } });
    expect(world.grants()).toHaveLength(1);
  });

  test.each([NOW + 600_001, NOW + 3_600_000])(
    "at %i, after the old end: the place is seen, claimed and joined with",
    async (now) => {
      const { world, headers, extend } = await extended();
      await world.get(ME, { headers });
      await extend(now);
      for (const shown of [headers, await withTicket(world, 500)]) {
        const me = await world.get(ME, { headers: shown });
        expect(await me.json()).toMatchObject({ number: 500 });
        expect((await world.post(ADMISSIONS, { headers: shown })).status).toBe(425);
      }
      await world.post(TICKETS, { headers });
      expect(JSON.parse(world.grants()[0]?.body ?? "")).toHaveProperty("ticket");
    },
  );

  test("an isolate that never saw the ticket before its end accepts it as well", async () => {
    const { world, headers } = await extended();
    world.manifest = [EVENT];
    world.now = epochMs(NOW + 3_600_000);
    expect(await (await world.get(ME, { headers })).json()).toMatchObject({
      number: 500,
      state: "waiting",
    });
  });

  test("no mint answers: the place is kept as it is, with cookies that outlive the new end", async () => {
    const { world, headers, extend } = await extended();
    await extend(NOW + 300_000);
    isAway(world);
    const response = await world.post(TICKETS, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.getSetCookie()[1]).toContain(`Max-Age=${86_100 + OUTLIVES};`);
  });

  test("law 8, KR-07: an event that has ended, and a key past its end, take it with them", async () => {
    const { world, headers, extend } = await extended();
    const [jwk] = world.keys;
    if (jwk === undefined) throw new Error("a key");
    world.keys = [{ ...jwk, exp: NOW / 1000 + 7_200 }];
    await extend(NOW + 3_600_000);
    expect((await world.get(ME, { headers })).status).toBe(200);
    world.now = epochMs(NOW + 7_200_000);
    expect((await world.get(ME, { headers })).status).toBe(403);
    const ended = await extended();
    ended.world.now = epochMs(END + 5_000);
    expect((await ended.world.get(ME, { headers: ended.headers })).status).toBe(403);
  });

  async function signedAnew(world: World, number: number): Promise<Response> {
    const ticket = await world.ticket(number);
    return Response.json({ event: "demo", number, issuedAt: world.now, ticket });
  }
});

describe("who may act by cookie", () => {
  const foreign: Record<string, string>[] = [
    { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" },
    { "Sec-Fetch-Site": "same-site", Origin: "https://blog.shop.example" },
    { "Sec-Fetch-Site": "same-origin", Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: "https://shop.example:8443" },
    { Origin: "http://shop.example.evil.example" },
    { Origin: "http://shop.example" },
    { "Sec-Fetch-Site": "same-site", Origin: "http://www.shop.example" },
    {},
    { "Content-Type": "text/plain" },
  ];
  test.each(foreign)("a POST that says %j is refused", async (headers) => {
    const world = await createWorld();
    const Cookie = (await withTicket(world, 5)).Cookie;
    for (const path of [TICKETS, ADMISSIONS, PURCHASES]) {
      const response = await world.post(path, { headers: { Cookie, ...headers } });
      expect(response.status).toBe(403);
      expect(await response.json()).toMatchObject({ type: "urn:vestibule:problem:cross-site" });
    }
    expect(world.grants()).toEqual([]);
  });
  test.each<Record<string, string>>([
    OWN_PAGE,
    { Origin: HOST },
    { "Sec-Fetch-Site": "same-site", Origin: "https://www.shop.example" },
    { "Content-Type": "application/json" },
  ])("a POST that says %j is heard", async (headers) => {
    const world = await createWorld();
    const Cookie = (await withTicket(world, 5)).Cookie;
    expect((await world.post(TICKETS, { headers: { Cookie, ...headers } })).status).toBe(200);
  });
  test("no GET acts", async () => {
    const world = await createWorld();
    for (const path of [TICKETS, ADMISSIONS, PURCHASES]) {
      const response = await world.get(path, { headers: await withTicket(world, 5) });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST");
    }
  });
});

describe("looking", () => {
  test("the place, and its times once they are committed", async () => {
    const world = await createWorld();
    const waiting = await world.get(ME, { headers: await withTicket(world, 500) });
    expect(await waiting.json()).toMatchObject({ number: 500, state: "waiting" });
    const known = await world.get(ME, { headers: await withTicket(world, 61) });
    const opensAt = NOW + 50_000;
    expect(await known.json()).toEqual({
      ...{
        number: 61,
        state: "known",
        opensAt,
        claimBy: opensAt + 180_000,
        closesAt: opensAt + 600_000,
      },
    });
    expect(known.headers.get("cache-control")).toBe("private, no-store");
    expect((await world.get(ME)).status).toBe(403);
    expect(world.grants()).toEqual([]);
  });
});

describe("claiming", () => {
  test("a committed slot: the admission as a cookie until the slot's end", async () => {
    const world = await createWorld();
    const response = await world.post(ADMISSIONS, { headers: await withTicket(world, 5) });
    expect(response.status).toBe(201);
    expect(Object.keys(await response.json<object>())).toEqual(["opensAt", "closesAt"]);
    const [cookie = ""] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-vst-admission-demo=[\w.-]+; Path=\/; Max-Age=604;/);
    const admission = /demo=([^;]+)/.exec(cookie)?.[1] ?? "";
    const Cookie = cookies({ visitor: VISITOR_A, admission });
    expect((await world.get("/events/demo", { headers: { Cookie } })).status).toBe(200);
  });

  test("law 11: whoever's slot is not committed is answered here, 1,000 times, with when to come back", async () => {
    const world = await createWorld();
    const headers = await withTicket(world, 500);
    for (let i = 0; i < 1_000; i += 1) {
      const response = await world.post(ADMISSIONS, { headers });
      expect(response.status).toBe(425);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    }
    expect(world.grants()).toEqual([]);
  });

  test("without a ticket, with a stranger's, in a hold, after the slot: answered here", async () => {
    const world = await createWorld();
    expect((await world.post(ADMISSIONS, { headers: OWN_PAGE })).status).toBe(403);
    const stolen = cookies({ visitor: VISITOR_A, ticket: await world.ticket(5, VISITOR_B) });
    expect(
      (await world.post(ADMISSIONS, { headers: { ...OWN_PAGE, Cookie: stolen } })).status,
    ).toBe(403);
    const held = await createWorld();
    held.drip = { heldSince: NOW - 1_000, heldScope: "entries" };
    expect((await held.post(ADMISSIONS, { headers: await withTicket(held, 60) })).status).toBe(503);
    const late = await createWorld();
    late.drip = { segments: [{ base: 1, count: 10, from: NOW - 700_000, until: NOW - 690_000 }] };
    expect((await late.post(ADMISSIONS, { headers: await withTicket(late, 5) })).status).toBe(410);
    for (const each of [world, held, late]) expect(each.grants()).toEqual([]);
  });

  test("the mint's own refusals keep their meaning; its inner trouble stays inside", async () => {
    for (const [code, status] of [
      ["slot-over", 410],
      ["too-early", 425],
      ["held", 503],
      ["unauthorized", 503],
      ["internal", 503],
    ] as const) {
      const world = await createWorld();
      world.mint = ({ method }) => (method === "POST" ? refusal(code) : undefined);
      const response = await world.post(ADMISSIONS, { headers: await withTicket(world, 5) });
      expect([code, response.status]).toEqual([code, status]);
    }
  });
});

describe("when mints are away", () => {
  test("the next one is asked, and soon asked first", async () => {
    const world = await createWorld();
    world.mint = ({ url }) =>
      url.startsWith("https://mint-1") ? Promise.reject(new Error("down")) : undefined;
    expect((await world.post(TICKETS)).status).toBe(201);
    expect((await world.post(TICKETS)).status).toBe(201);
    const tried = world.grants().map(({ url }) => new URL(url).host);
    expect(tried.at(-1)).toBe("mint-2.internal");
    expect(tried.length).toBeLessThanOrEqual(3);
  });
  test("a standby's 503 passes the request on", async () => {
    const world = await createWorld();
    world.mint = ({ url, method }) =>
      url.startsWith("https://mint-1") && method === "POST" ? refusal("unavailable") : undefined;
    expect((await world.post(TICKETS)).status).toBe(201);
  });
  test("law 9: every mint away: 503 with Retry-After; places are seen, polls and admitted fans go on", async () => {
    const world = await createWorld();
    const headers = await withTicket(world, 500);
    await world.get(ME, { headers });
    await world.settle();
    isAway(world);
    world.now = epochMs(NOW + 300_000);
    const join = await world.post(TICKETS);
    expect(join.status).toBe(503);
    expect(join.headers.get("retry-after")).toMatch(/^[3-9]$/);
    expect(await (await world.get(ME, { headers })).json()).toMatchObject({
      number: 500,
      state: "waiting",
    });
    expect((await world.get("/_vestibule/events/demo/drip")).status).toBe(200);
    expect(
      (await world.get("/events/demo", { headers: { ...PAGE_VIEW, ...headers } })).status,
    ).toBe(200);
    const admission = await world.admission({ opensAt: NOW + 299_000 });
    const Cookie = cookies({ visitor: VISITOR_A, admission });
    expect((await world.get("/events/demo", { headers: { Cookie } })).status).toBe(200);
    await world.settle();
    world.mint = () => undefined;
    world.now = epochMs(NOW + 320_000);
    expect((await world.post(TICKETS)).status).toBe(201);
  });
});

describe("without JavaScript", () => {
  const form = { ...PAGE_VIEW, ...OWN_PAGE, "Content-Type": "application/x-www-form-urlencoded" };
  const body = (path: string) => new URLSearchParams({ return: path }).toString();
  test("a form joins and comes back to its page", async () => {
    const world = await createWorld();
    const headers = { ...form, Cookie: cookies({ visitor: VISITOR_A }) };
    const response = await world.post(TICKETS, { headers, body: body("/events/demo?a=1") });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/events/demo?a=1");
    expect(response.headers.getSetCookie()).toHaveLength(2);
  });
  test.each([
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "",
  ])("EP-14: %s comes back to the event's page instead", async (path) => {
    const world = await createWorld();
    const headers = { ...form, ...(await withTicket(world, 5)) };
    for (const endpoint of [TICKETS, ADMISSIONS]) {
      const response = await world.post(endpoint, { headers, body: body(path) });
      expect(response.status).toBe(303);
      expect(response.headers.get("location")).toBe("/events/demo");
    }
  });
  test("a form claims and comes back admitted", async () => {
    const world = await createWorld();
    const headers = { ...form, ...(await withTicket(world, 5)) };
    const response = await world.post(ADMISSIONS, { headers, body: body("/events/demo") });
    expect(response.status).toBe(303);
    expect(response.headers.getSetCookie()[0]).toContain("vst-admission-demo=");
  });
  test("every mint away: a page that says so, 503, and nothing is lost", async () => {
    const world = await createWorld();
    await world.get("/events/demo", { headers: PAGE_VIEW });
    isAway(world);
    const headers = { ...form, Cookie: cookies({ visitor: VISITOR_A }) };
    const response = await world.post(TICKETS, { headers, body: body("/events/demo") });
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('data-state="unreachable"');
  });
  test("a body of more than 16 KB is refused", async () => {
    const world = await createWorld();
    const headers = { ...form, ...(await withTicket(world, 5)) };
    const response = await world.post(TICKETS, { headers, body: "x".repeat(20_000) });
    expect(response.status).toBe(413);
  });
});

describe("a body that does not arrive", () => {
  const sent = (start: (controller: ReadableStreamDefaultController<Uint8Array>) => void) =>
    new Request(HOST, { method: "POST", body: new ReadableStream({ start }) });
  const statusOf = (read: string | Response) => (read instanceof Response ? read.status : read);

  test("in time: 408, and nobody waits for the rest", async () => {
    let abandoned = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode("return=%2F"));
      },
      cancel: () => {
        abandoned = true;
      },
    });
    const request = new Request(HOST, { method: "POST", body });
    expect(statusOf(await readText(request, 20))).toBe(408);
    expect(abandoned).toBe(true);
  });
  test("whole: 400, and too large without a length: 413", async () => {
    const broken = sent((controller) => {
      controller.error(new TypeError("malformed chunk"));
    });
    expect(statusOf(await readText(broken))).toBe(400);
    const large = sent((controller) => {
      for (let i = 0; i < 20; i += 1) controller.enqueue(new Uint8Array(1_024));
      controller.close();
    });
    expect(statusOf(await readText(large))).toBe(413);
    const fine = sent((controller) => {
      controller.enqueue(new TextEncoder().encode("fine"));
      controller.close();
    });
    expect(statusOf(await readText(fine))).toBe("fine");
  });
});

describe("buying", () => {
  const json = { ...OWN_PAGE, "Content-Type": "application/json", "Idempotency-Key": "k-1" };
  const body = JSON.stringify({ sku: "seat", quantity: 1 });
  test("an admitted fan's purchase goes to the purchase API with what it needs, and its answer comes back", async () => {
    const world = await createWorld();
    const admission = await world.admission();
    const headers = { ...json, Cookie: cookies({ visitor: VISITOR_A, admission }) };
    const response = await world.post(PURCHASES, { headers, body });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ orderId: "o-1" });
    const sent = world.sent.find(({ url }) => url.startsWith("https://purchase.internal"));
    expect(sent?.url).toBe("https://purchase.internal/v1/events/demo/purchases");
    expect(sent?.body).toBe(body);
    expect(Object.fromEntries(sent?.headers ?? [])).toMatchObject({
      "vestibule-admission": admission,
      "vestibule-visitor": VISITOR_A,
      "idempotency-key": "k-1",
    });
    expect(sent?.headers.has("cookie")).toBe(false);
    world.purchase = () => refusal("already-spent");
    expect((await world.post(PURCHASES, { headers, body })).status).toBe(409);
  });
  test("without an admission, of another body type, in a full hold, with the API away", async () => {
    const world = await createWorld();
    expect((await world.post(PURCHASES, { headers: json, body })).status).toBe(401);
    const admission = await world.admission();
    const headers = { ...json, Cookie: cookies({ visitor: VISITOR_A, admission }) };
    const text = { ...headers, "Content-Type": "text/plain" };
    expect((await world.post(PURCHASES, { headers: text, body })).status).toBe(415);
    expect((await world.post(PURCHASES, { headers, body: "x".repeat(20_000) })).status).toBe(413);
    world.purchase = () => Promise.reject(new Error("away"));
    expect((await world.post(PURCHASES, { headers, body })).status).toBe(503);
    const held = await createWorld();
    held.drip = { heldSince: NOW - 1_000, heldScope: "all" };
    const before = await held.admission({ opensAt: NOW - 60_000 });
    const shown = { ...json, Cookie: cookies({ visitor: VISITOR_A, admission: before }) };
    const response = await held.post(PURCHASES, { headers: shown, body });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ type: "urn:vestibule:problem:held" });
  });
});
