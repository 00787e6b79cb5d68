/** Leaving the line, and what an app reads of an event. */
import { describe, expect, test } from "vitest";
import {
  EVENT,
  NOW,
  OWN_PAGE,
  PAGE_VIEW,
  VISITOR_A,
  type World,
  cookies,
  createWorld,
} from "./world.ts";

const ME = "/_vestibule/events/demo/me";
const LEAVE = "/_vestibule/events/demo/leave";
const TICKETS = "/_vestibule/events/demo/tickets";
const SETTINGS = "/_vestibule/events/demo";
const GONE = "__Host-vst-gone-demo=1";

const jar = async (world: World) =>
  cookies({
    ...{ visitor: VISITOR_A, ticket: await world.ticket(500) },
    admission: await world.admission({ number: 500 }),
  });
const names = (response: Response) =>
  response.headers
    .getSetCookie()
    .map((cookie) => `${/vst-(\w+)-demo/.exec(cookie)?.[1]} ${/Max-Age=(\d+)/.exec(cookie)?.[1]}`);
const CLEARED = ["visitor 0", "ticket 0", "admission 0", "credit 0", "gone 86400"];

describe("leaving", () => {
  test("takes every cookie of ours of this event, asks no mint, and says no more", async () => {
    const world = await createWorld();
    const headers = { ...OWN_PAGE, Cookie: await jar(world) };
    const response = await world.get(ME, { method: "DELETE", headers });
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(names(response)).toEqual(CLEARED);
    expect(world.grants()).toEqual([]);
  });

  test("by a form, without JavaScript: the same, and 303 to the page that it came from", async () => {
    const world = await createWorld();
    const form = { "Content-Type": "application/x-www-form-urlencoded" };
    const headers = { ...OWN_PAGE, ...PAGE_VIEW, ...form, Cookie: await jar(world) };
    for (const [back, to] of [
      ["/events/demo?a=b", "/events/demo?a=b"],
      ["//evil.example", "/events/demo"],
    ]) {
      const body = new URLSearchParams({ return: back ?? "" });
      const response = await world.post(LEAVE, { headers, body });
      expect([response.status, response.headers.get("location")]).toEqual([303, to]);
      expect(names(response)).toEqual(CLEARED);
    }
  });

  test("no other site can make a browser leave", async () => {
    const world = await createWorld();
    const Cookie = await jar(world);
    for (const from of [
      { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" },
      { Origin: "null" },
      {},
    ]) {
      for (const [path, method] of [
        [ME, "DELETE"],
        [LEAVE, "POST"],
      ] as const) {
        const response = await world.get(path, { method, headers: { Cookie, ...from } });
        expect(response.status).toBe(403);
        expect(response.headers.getSetCookie()).toEqual([]);
      }
    }
  });

  test("an app gets 204 and no cookie: what it keeps, it forgets by itself", async () => {
    const world = await createWorld();
    const headers = { "Vestibule-Visitor": VISITOR_A, "Vestibule-Ticket": await world.ticket(5) };
    const response = await world.get(ME, { method: "DELETE", headers });
    expect(response.status).toBe(204);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  test("the page says so, however often it is loaded, until they join; nobody else's page does", async () => {
    const world = await createWorld();
    const page = async (Cookie: string) =>
      (await world.get("/events/demo", { headers: { ...PAGE_VIEW, Cookie } })).text();
    const visitor = cookies({ visitor: VISITOR_A });
    for (const _again of [1, 2]) {
      const html = await page(`${visitor}; ${GONE}`);
      expect(html).toContain('data-state="gone"');
      expect(html).toContain('"gone":true');
      expect(html).toMatch(/<form [^>]*id="join">/);
    }
    expect(await page(visitor)).not.toContain('data-state="gone"');
    const headers = { ...OWN_PAGE, Cookie: `${visitor}; ${GONE}` };
    const joined = await world.post(TICKETS, { headers });
    expect(joined.status).toBe(201);
    expect(names(joined)[0]).toBe("gone 0");
    const ticket = cookies({ visitor: VISITOR_A, ticket: await world.ticket(500) });
    expect(await page(`${ticket}; ${GONE}`)).toContain('data-state="waiting"');
  });

  test("the mark of it never reaches the shop", async () => {
    const world = await createWorld();
    await world.get("/open", { headers: { Cookie: `a=b; ${GONE}` } });
    for (const { headers } of world.toOrigin()) expect(headers.get("cookie")).toBe("a=b");
    expect(world.toOrigin()).toHaveLength(1);
  });
});

describe("GET /_vestibule/events/{event}", () => {
  test("is public: the same bytes for everyone, without cookies, to be kept for seconds; nothing of routes", async () => {
    const world = await createWorld();
    world.manifest = [{ ...EVENT, startsAt: NOW + 90_000, joinableAt: NOW + 60_000 }];
    const plain = await world.get(SETTINGS);
    const shown = await world.get(SETTINGS, { headers: { Cookie: await jar(world) } });
    expect(plain.status).toBe(200);
    expect(plain.headers.get("cache-control")).toBe("public, max-age=5, stale-if-error=300");
    expect(shown.headers.getSetCookie()).toEqual([]);
    const text = await plain.text();
    expect(await shown.text()).toBe(text);
    const { title, homePath, lifetimeSeconds, claimWindowSeconds, endsAt } = EVENT;
    expect(JSON.parse(text)).toMatchObject({
      ...{ event: "demo", title, homePath, lifetimeSeconds, claimWindowSeconds, endsAt },
      ...{ startsAt: NOW + 90_000, joinableAt: NOW + 60_000 },
    });
    for (const secret of ["hosts", "paths", "bypass", "holdingStatus"]) {
      expect(text).not.toContain(`"${secret}"`);
    }
  });

  test("is shared with the event's own sites, and HEAD and unknown names are answered", async () => {
    const world = await createWorld();
    const Origin = "https://www.shop.example";
    const shared = await world.get(SETTINGS, { headers: { Origin } });
    expect(shared.headers.get("access-control-allow-origin")).toBe(Origin);
    const foreign = await world.get(SETTINGS, { headers: { Origin: "https://evil.example" } });
    expect(foreign.headers.has("access-control-allow-origin")).toBe(false);
    expect((await world.get(SETTINGS, { method: "HEAD" })).status).toBe(200);
    expect((await world.get("/_vestibule/events/other")).status).toBe(404);
    expect((await world.post(SETTINGS)).status).toBe(405);
  });
});
