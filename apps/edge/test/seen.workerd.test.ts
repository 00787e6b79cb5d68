/** What a location counts and tells, and what it never tells. */
import { PROBLEMS } from "@vestibule/contracts/problems";
import { epochMs } from "@vestibule/kernel/units";
import { describe, expect, test } from "vitest";
import { FLUSH_EVERY_MS, LOG_LINES_PER_SECOND_MAX } from "../src/limits.ts";
import { type Dataset, createSeen } from "../src/seen.ts";
import { NOW } from "./event.ts";
import { OWN_PAGE, PAGE_VIEW, VISITOR_A, type World, cookies, createWorld } from "./world.ts";

const ADDRESS = "203.0.113.77";

type Point = Parameters<Dataset["writeDataPoint"]>[0];

function dataset() {
  const points: Point[] = [];
  return { points, writeDataPoint: (point: Point) => void points.push(point) };
}

/** Each counter's sum over the points written. */
function sums(points: readonly Point[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { blobs, doubles } of points) {
    const name = blobs[1] ?? "";
    found[name] = (found[name] ?? 0) + (doubles[0] ?? 0);
  }
  return found;
}

const admitted = async (world: World) => ({
  "CF-Connecting-IP": ADDRESS,
  Cookie: cookies({
    visitor: VISITOR_A,
    ticket: await world.ticket(5),
    admission: await world.admission(),
  }),
});

/** Something of everything, good and bad. */
async function aRun(world: World): Promise<void> {
  const headers = await admitted(world);
  const base = "/_vestibule/events/demo";
  await world.get("/events/demo", { headers: { ...PAGE_VIEW, "CF-Connecting-IP": ADDRESS } });
  await world.get("/events/demo", { headers: { Accept: "application/json" } });
  await world.get("/events/demo", { headers });
  await world.get("/events/demo/logo.svg", { headers });
  await world.get(`${base}/drip`, { headers });
  await world.get(`${base}/drip`, { headers });
  await world.post(`${base}/tickets`, { headers: { ...OWN_PAGE, ...headers } });
  await world.post(`${base}/tickets`, {
    headers: { ...OWN_PAGE, Cookie: cookies({ visitor: VISITOR_A }) },
  });
  await world.post(`${base}/admissions`, { headers: { ...OWN_PAGE, ...headers } });
  await world.post(`${base}/admissions`, { headers: OWN_PAGE });
  const json = { "Content-Type": "application/json" };
  await world.post(`${base}/purchases`, {
    headers: { ...OWN_PAGE, ...headers, ...json },
    body: "{}",
  });
  await world.get("/_vestibule/events/none/me", { headers });
  world.origin = () => new Response("no", { status: 502 });
  await world.get("/events/demo", { headers });
  world.origin = () => Promise.reject(new Error(`refused ${headers.Cookie}`));
  await world.get("/events/demo", { headers });
  world.mint = ({ method }) => (method === "POST" ? new Response("<p>") : undefined);
  await world.post(`${base}/tickets`, {
    headers: { ...OWN_PAGE, Cookie: cookies({ visitor: VISITOR_A }) },
  });
  await world.settle();
}

describe("counters", () => {
  test("each thing that happens is counted once, per location", async () => {
    const counters = dataset();
    const world = await createWorld({ bindings: { counters }, config: { location: "fra-1" } });
    await aRun(world);
    // Whatever the last second held is written by the next request.
    world.now = epochMs(world.now + FLUSH_EVERY_MS);
    await world.get("/_vestibule/health");
    await world.settle();
    expect(
      counters.points.every(({ indexes, blobs }) => indexes[0] === "fra-1" && blobs[0] === "fra-1"),
    ).toBe(true);
    expect(sums(counters.points)).toEqual({
      ...{ heldPage: 1, heldProblem: 1, admitted: 3, exempted: 1, polls: 2 },
      ...{ kept: 1, joined: 1, claimed: 1, purchases: 1, originErrors: 2, mintFailed: 2 },
      ...{ "refused:forbidden": 1, "refused:event-not-found": 1 },
      ...{ "refused:origin-unreachable": 1, "refused:unavailable": 1 },
    });
  });

  test("are written at most once a second, and not at all without a binding", async () => {
    const counters = dataset();
    const world = await createWorld({ bindings: { counters } });
    const headers = await admitted(world);
    for (let requests = 0; requests < 50; requests += 1)
      await world.get("/events/demo", { headers });
    await world.settle();
    expect(counters.points).toHaveLength(1);
    world.now = epochMs(world.now + FLUSH_EVERY_MS);
    await world.get("/events/demo", { headers });
    await world.settle();
    expect(sums(counters.points)).toEqual({ admitted: 51 });
  });

  test("where nobody does anything but poll, polls are written too", async () => {
    const counters = dataset();
    const world = await createWorld({ bindings: { counters } });
    for (let seconds = 0; seconds < 5; seconds += 1) {
      for (let polls = 0; polls < 10; polls += 1) {
        await world.get("/_vestibule/events/demo/drip");
      }
      await world.settle();
      world.now = epochMs(world.now + FLUSH_EVERY_MS);
    }
    expect(sums(counters.points)["polls"]).toBeGreaterThanOrEqual(31);
  });
});

describe("the log", () => {
  test("no line holds a token, a visitor's secret, a cookie, or an address", async () => {
    const world = await createWorld({ bindings: { counters: dataset() } });
    await aRun(world);
    expect(world.lines.length).toBeGreaterThan(3);
    for (const line of world.lines) {
      const text = JSON.stringify(line);
      expect(text).not.toMatch(/[\w-]{16,}\.[\w-]{8,}\.[\w-]{8,}/);
      expect(text).not.toMatch(/[\w-]{40,}/);
      expect(text).not.toContain("vst-");
      expect(text).not.toContain(ADDRESS);
    }
  });

  test("each line says when, where and what kind, and is counted", async () => {
    const world = await createWorld();
    await aRun(world);
    for (const line of world.lines) {
      expect(line).toMatchObject({ location: "test", kind: expect.any(String) as string });
    }
    const kinds = world.lines.map((line) => (line as { kind: string }).kind);
    expect(kinds).toEqual([
      ...["bindings", "origin-error", "origin-unreachable", "mint-failed", "mint-failed"],
    ]);
  });

  test("has so many lines in a second at most, and says how many more there were", () => {
    const lines: object[] = [];
    let now = NOW;
    const seen = createSeen({
      clock: { now: () => now },
      location: "x",
      log: (line) => lines.push(line),
    });
    for (let faults = 0; faults < 1_000; faults += 1) seen.tell("internal", { kind: "internal" });
    expect(lines).toHaveLength(LOG_LINES_PER_SECOND_MAX);
    now = epochMs(now + 1_000);
    seen.tell("internal", { kind: "internal" });
    expect(lines.at(-1)).toMatchObject({ dropped: 1_000 - LOG_LINES_PER_SECOND_MAX });
    expect(seen.counts.internal).toBe(1_001);
  });

  test("says once which bindings are absent", async () => {
    const world = await createWorld();
    expect(world.lines).toEqual([
      {
        at: NOW,
        location: "test",
        kind: "bindings",
        absent: ["JOIN_LIMIT", "CLAIM_LIMIT", "COUNTERS"],
      },
    ]);
  });
});

describe("headers of our own answers", () => {
  test("Server-Timing names the kind of answer and no duration; the origin's answers get none", async () => {
    const world = await createWorld();
    const headers = await admitted(world);
    const of = async (response: Promise<Response>) => (await response).headers.get("server-timing");
    const base = "/_vestibule/events/demo";
    expect(await of(world.get("/events/demo", { headers: PAGE_VIEW }))).toBe('vst;desc="page"');
    expect(await of(world.get("/events/demo"))).toBe('vst;desc="waiting"');
    expect(await of(world.get(`${base}/me`, { headers }))).toBe('vst;desc="me"');
    expect(await of(world.get("/_vestibule/events/none/me"))).toBe('vst;desc="event-not-found"');
    expect(await of(world.get("/events/demo", { headers }))).toBeNull();
    // A million polls an hour would carry it for nobody.
    expect(await of(world.get(`${base}/drip`))).toBeNull();
  });

  test("Cache-Status says whether a poll was answered from memory, or waited for a newer statement", async () => {
    const world = await createWorld();
    const status = async () =>
      (await world.get("/_vestibule/events/demo/drip")).headers.get("cache-status");
    expect(await status()).toBe("vestibule; fwd=miss; stored");
    expect(await status()).toBe("vestibule; hit");
    world.now = epochMs(world.now + 60_000);
    world.seq += 1;
    expect(await status()).toBe("vestibule; fwd=stale; stored");
    world.now = epochMs(world.now + 60_000);
    world.mint = () => new Response(null, { status: 503 });
    expect(await status()).toBe("vestibule; fwd=stale; detail=kept");
    expect(await status()).toBe("vestibule; hit");
  });
});

describe("a broken invariant of ours", () => {
  test("is a 500 that the event's own pages can read, and says nothing of what broke", async () => {
    const world = await createWorld();
    const headers = { ...PAGE_VIEW, Origin: "https://www.shop.example" };
    await world.get("/events/demo", { headers });
    world.fault = Object.assign(new Error("secret"), { name: "Fault" });
    const response = await world.get("/events/demo", { headers });
    expect(response.status).toBe(PROBLEMS.internal.status);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://www.shop.example");
    expect(await response.text()).not.toContain("secret");
    expect(world.lines.at(-1)).toEqual({
      at: NOW,
      location: "test",
      kind: "internal",
      error: "Fault",
    });
  });
});
