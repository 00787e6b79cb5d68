/** What a location knows, and what it does when it knows nothing. */
import { describe, expect, test } from "vitest";
import { epochMs } from "@vestibule/kernel/units";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import {
  EVENT,
  NOW,
  PAGE_VIEW,
  VISITOR_A,
  type World,
  cookies,
  createWorld,
  newKey,
} from "./world.ts";

const DRIP = "/_vestibule/events/demo/drip";

describe("polls", () => {
  test("law 11: 1,000 polls in a second cost the mint nothing, and are the same bytes for everyone", async () => {
    const world = await createWorld();
    const first = await world.get(DRIP);
    await world.settle();
    const before = world.sent.length;
    const bytes = await first.text();
    for (let i = 0; i < 1_000; i += 1) {
      const headers = { Cookie: cookies({ visitor: VISITOR_A, ticket: "x.y.z" }) };
      const response = await world.get(DRIP, { headers });
      if (i % 100 === 0) expect(await response.text()).toBe(bytes);
    }
    expect(world.sent.length).toBe(before);
    expect(first.headers.get("cache-control")).toMatch(
      /^public, max-age=1, stale-while-revalidate=\d+, stale-if-error=\d+$/,
    );
    expect(first.headers.getSetCookie()).toEqual([]);
    expect(JSON.parse(bytes)).toMatchObject({
      event: "demo",
      seq: 1,
      committed: 100,
      state: "open",
    });
    expect(JSON.parse(bytes)).not.toHaveProperty("iss");
  });
  test("unchanged: 304, HEAD: no body, of no event: 404, another method: 405", async () => {
    const world = await createWorld();
    const etag = (await world.get(DRIP)).headers.get("etag") ?? "";
    const again = await world.get(DRIP, { headers: { "If-None-Match": `"x", W/${etag}` } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    const head = await world.get(DRIP, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    expect((await world.get("/_vestibule/events/other/drip")).status).toBe(404);
    expect((await world.post(DRIP)).status).toBe(405);
  });
  test("HP-04: a page on another host of the event can read it, a stranger's cannot", async () => {
    const world = await createWorld();
    await world.get(DRIP);
    const read = async (Origin: string) =>
      (await world.get(DRIP, { headers: { Origin } })).headers.get("access-control-allow-origin");
    expect(await read("https://www.shop.example")).toBe("https://www.shop.example");
    expect(await read("https://evil.example")).toBeNull();
  });
  test("law 2: a location never goes back, whatever a mint answers", async () => {
    const world = await createWorld();
    const seq = async () => {
      world.now = epochMs(world.now + 1_500);
      await world.get(DRIP);
      await world.settle();
      return (await (await world.get(DRIP)).json<{ seq: number }>()).seq;
    };
    world.seq = 7;
    expect(await seq()).toBe(7);
    world.seq = 6;
    expect(await seq()).toBe(7);
    world.seq = 8;
    expect(await seq()).toBe(8);
  });
});

describe("law 10: nothing is open by accident", () => {
  test("no manifest was ever seen: every path is shut, and opens by itself", async () => {
    const world = await createWorld();
    world.mint = () => Promise.reject(new Error("away"));
    for (const path of ["/events/demo", "/about", DRIP, "/_vestibule/events/demo/tickets"]) {
      const response = await world.get(path, { headers: PAGE_VIEW });
      expect([404, 503]).toContain(response.status);
    }
    expect(world.toOrigin()).toEqual([]);
    expect((await world.get("/_vestibule/health")).status).toBe(503);
    world.mint = () => undefined;
    world.now = epochMs(NOW + 30_000);
    expect((await world.get("/about")).status).toBe(200);
    expect((await world.get("/_vestibule/health")).status).toBe(200);
  });
  test("the manifest is kept when the mint goes, or answers with less than nothing", async () => {
    const world = await createWorld();
    await world.get("/events/demo", { headers: PAGE_VIEW });
    await world.settle();
    const rubbish = [
      () => new Response(""),
      () => new Response("<html>"),
      () => Response.json({ events: [] }),
      () => new Response("x".repeat(2_000_000)),
      () => new Response(null, { status: 302, headers: { Location: "https://evil.example" } }),
      () => new Response(null, { status: 304 }),
      () => new Response("{}", { status: 500 }),
      () => Promise.reject(new Error("reset")),
    ];
    for (const answer of rubbish) {
      world.mint = answer;
      world.now = epochMs(world.now + 15_000);
      expect((await world.get("/events/demo")).status).toBe(429);
      await world.settle();
      expect((await world.get("/events/demo")).status).toBe(429);
    }
    expect(world.toOrigin()).toEqual([]);
    expect(world.sent.some(({ url }) => url.includes("evil"))).toBe(false);
  });
  test("a manifest that a stranger signed changes nothing", async () => {
    const world = await createWorld();
    await world.get("/events/demo");
    await world.settle();
    const stranger = await createWorld();
    stranger.manifest = [];
    stranger.seq = 99;
    world.mint = ({ url }) => {
      const path = new URL(url).pathname;
      return path === "/v1/manifest" ? manifestOf(stranger) : undefined;
    };
    world.now = epochMs(NOW + 10_000);
    await world.get("/events/demo");
    await world.settle();
    expect((await world.get("/events/demo")).status).toBe(429);
  });
  async function manifestOf(world: Awaited<ReturnType<typeof createWorld>>): Promise<Response> {
    const { signManifest } = await import("@vestibule/token/sign");
    const iat = NOW / 1000;
    const claims = { iss: "https://mint.example", iat, exp: iat + 9_999, seq: 99, events: [] };
    return new Response(await signManifest(world.key, claims));
  }
});

describe("law 10: a location that was left alone asks before it decides, and all who meet it wait", () => {
  const NEW: ManifestEvent = { ...EVENT, event: "new", paths: ["/events/new*"] };
  const burst = (world: World, path: string, headers: Record<string, string> = {}) =>
    Promise.all(Array.from({ length: 20 }, () => world.get(path, { headers })));
  const statuses = (responses: Response[]) => new Set(responses.map(({ status }) => status));
  const warm = async () => {
    const world = await createWorld();
    await world.get("/events/demo");
    await world.settle();
    return world;
  };

  test("the first burst of a new sale is protected", async () => {
    const world = await warm();
    world.manifest = [EVENT, NEW];
    world.seq += 1;
    world.now = epochMs(NOW + 30_000);
    expect(statuses(await burst(world, "/events/new/x"))).toEqual(new Set([429]));
    expect(world.toOrigin()).toEqual([]);
    expect(world.sent.filter(({ url }) => url.endsWith("/v1/manifest"))).toHaveLength(2);
  });
  test("a hold of which it has not heard lets nobody in", async () => {
    const world = await warm();
    world.drip = { heldSince: NOW + 1_000, heldScope: "entries" };
    world.seq += 1;
    world.now = epochMs(NOW + 9_000);
    const admission = await world.admission({ opensAt: NOW + 5_000 });
    const headers = { Cookie: cookies({ visitor: VISITOR_A, admission }) };
    expect(statuses(await burst(world, "/events/demo", headers))).toEqual(new Set([429]));
    expect(world.toOrigin()).toEqual([]);
  });
  test("a poll is told of it as well", async () => {
    const world = await warm();
    world.seq = 9;
    world.now = epochMs(NOW + 600_000);
    for (const response of await burst(world, DRIP)) {
      expect(await response.json()).toMatchObject({ seq: 9 });
    }
  });
  test("a key that was revoked in the meantime admits nobody", async () => {
    const world = await warm();
    const admission = await world.admission({ opensAt: NOW + 3_599_000 });
    const headers = { Cookie: cookies({ visitor: VISITOR_A, admission }) };
    world.keys = [(await newKey()).jwk];
    world.now = epochMs(NOW + 3_600_000);
    expect(statuses(await burst(world, "/events/demo", headers))).toEqual(new Set([429]));
  });
  test("law 9: no mint answers: everybody goes by what is known, and in the back-off nobody waits", async () => {
    const world = await warm();
    world.mint = () => Promise.reject(new Error("away"));
    world.now = epochMs(NOW + 600_000);
    const admission = await world.admission({ opensAt: NOW + 599_000 });
    const headers = { Cookie: cookies({ visitor: VISITOR_A, admission }) };
    expect(statuses(await burst(world, "/events/demo", headers))).toEqual(new Set([200]));
    await world.settle();
    const before = world.sent.length;
    world.now = epochMs(NOW + 600_900);
    world.slept = 0;
    expect(statuses(await burst(world, "/events/demo", headers))).toEqual(new Set([200]));
    expect([world.sent.length - before - 20, world.slept]).toEqual([0, 0]);
    // It is tried again in the background.
    world.now = epochMs(NOW + 602_000);
    expect(statuses(await burst(world, "/events/demo", headers))).toEqual(new Set([200]));
    expect(world.slept).toBe(0);
  });
  test("where somebody asks all the time nobody waits", async () => {
    const world = await warm();
    world.slept = 0;
    for (let i = 1; i <= 40; i += 1) {
      world.now = epochMs(NOW + i * 2_000);
      expect((await world.get("/events/demo")).status).toBe(429);
      await world.settle();
    }
    expect(world.slept).toBe(0);
  });
  test("an event that is younger than the manifest is looked for before it is called unknown, once", async () => {
    const world = await warm();
    world.manifest = [EVENT, NEW];
    world.seq += 1;
    world.now = epochMs(NOW + 2_000);
    const before = world.sent.length;
    const joins = await Promise.all(
      [1, 2, 3].map(() => world.post("/_vestibule/events/new/tickets")),
    );
    expect(statuses(joins)).toEqual(new Set([201]));
    expect((await world.get("/_vestibule/events/new/drip")).status).toBe(200);
    const manifests = world.sent.slice(before).filter(({ url }) => url.endsWith("/v1/manifest"));
    expect(manifests).toHaveLength(1);
  });
  test("MH-06: 1,000 names of no event cost one look in a second, and what is no name none", async () => {
    const world = await warm();
    const before = world.sent.length;
    for (let i = 0; i < 1_000; i += 1) {
      const path = i % 2 === 0 ? `/_vestibule/events/x${i}/me` : `/_vestibule/events/X${i}/me`;
      expect((await world.get(path)).status).toBe(404);
      if (i === 0) world.now = epochMs(NOW + 1_500);
    }
    expect(world.sent.length - before).toBeLessThanOrEqual(1);
  });
});

test("KR-09: a runtime that cannot verify says so: unhealthy, 503, and no holding page for everyone", async () => {
  const world = await createWorld({ runtimeVerifies: () => Promise.resolve(false) });
  const page = await world.get("/events/demo", { headers: PAGE_VIEW });
  expect(page.status).toBe(503);
  expect(page.headers.get("content-type")).toBe("application/problem+json");
  const health = await world.get("/_vestibule/health");
  expect(health.status).toBe(503);
  expect(await health.json()).toMatchObject({ status: "unhealthy" });
  expect((await world.get("/about")).status).toBe(200);
});

test("law 5: with the keys it was deployed with, a location admits before any mint gave it keys or a drip", async () => {
  const world = await createWorld();
  world.mint = ({ url }) =>
    url.endsWith("/v1/manifest") ? undefined : Promise.reject(new Error("away"));
  const Cookie = cookies({ visitor: VISITOR_A, admission: await world.admission() });
  expect((await world.get("/events/demo", { headers: { Cookie } })).status).toBe(200);
});

test("law 6: nothing that a location holds or makes is accepted by another", async () => {
  const [here, there] = [await createWorld(), await createWorld()];
  const own = await newKey();
  const forged = await here.admission({ key: own.key });
  const foreign = await here.admission();
  for (const admission of [forged, foreign]) {
    const headers = { Cookie: cookies({ visitor: VISITOR_A, admission }) };
    expect((await there.get("/events/demo", { headers })).status).toBe(429);
  }
});

test("20 cold requests at once: one fetch of each thing", async () => {
  const world = await createWorld();
  await Promise.all(
    Array.from({ length: 20 }, () => world.get("/events/demo", { headers: PAGE_VIEW })),
  );
  const paths = world.sent.map(({ url }) => new URL(url).pathname).toSorted();
  expect(paths).toEqual([
    ...["/.well-known/jwks.json", "/v1/edges/test/clock"],
    ...["/v1/events/demo/drip", "/v1/manifest"],
  ]);
});

test("health tells the location, its clock, keys, the age of what is known, and what happened", async () => {
  const world = await createWorld({ bindings: { version: "v-1" } });
  await world.get("/events/demo", { headers: PAGE_VIEW });
  world.now = epochMs(NOW + 400);
  expect(await (await world.get("/_vestibule/health")).json()).toEqual({
    ...{ status: "ok", reasons: [], location: "test", version: "v-1", now: NOW + 400 },
    clock: {
      ...{ state: "good", measuredAgoMs: 400 },
      ...{ offsetMs: expect.any(Number) as number, uncertaintyMs: expect.any(Number) as number },
    },
    keys: { ids: [world.key.kid], ageMs: 400 },
    manifest: { seq: 1 },
    drips: { demo: { seq: 1, ageMs: 400, expired: false } },
    circuits: { mints: ["closed", "closed"], purchases: "closed" },
    bindings: { joinLimit: false, claimLimit: false, counters: false },
    exempted: {},
    trustsClientAddress: false,
    counts: expect.objectContaining({ heldPage: 1, admitted: 0 }) as object,
  });
  expect(EVENT.event).toBe("demo");
});
