/** Limits of joins and claims: friction against abuse, and never in the way of whoever holds a place. */
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { type RateLimit, readBindings } from "../src/bindings.ts";
import { LIMITED_RETRY_SECONDS } from "../src/limits.ts";
import { EVENT } from "./event.ts";
import { OWN_PAGE, PAGE_VIEW, VISITOR_A, type World, cookies, createWorld } from "./world.ts";

const BASE = "/_vestibule/events/demo";
const V4 = "203.0.113.7";

/** Lets `most` through for each key, and remembers the keys. */
function limiter(most: number): RateLimit & { readonly keys: string[] } {
  const keys: string[] = [];
  return {
    keys,
    limit: async ({ key }) => {
      keys.push(key);
      return { success: keys.filter((other) => other === key).length <= most };
    },
  };
}

let made = 0;
/** A new visitor each time. */
function join(world: World, address: string | undefined, more: Record<string, string> = {}) {
  made += 1;
  const visitor = `${String(made).padStart(42, "v")}A`;
  const client = address === undefined ? undefined : { "CF-Connecting-IP": address };
  const headers = { ...OWN_PAGE, Cookie: cookies({ visitor }), ...client, ...more };
  return world.post(`${BASE}/tickets`, { headers });
}

async function statuses(answers: Iterable<Promise<Response>>): Promise<number[]> {
  const found: number[] = [];
  for (const answer of answers) found.push((await answer).status);
  return found;
}

describe("a join", () => {
  test("over the limit is 429 too-many-requests, with when to come back, and costs no mint", async () => {
    const world = await createWorld({ bindings: { joinLimit: limiter(2) } });
    expect(await statuses([join(world, V4), join(world, V4)])).toEqual([201, 201]);
    const refused = await join(world, V4);
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({ type: "urn:vestibule:problem:too-many-requests" });
    const seconds = Number(refused.headers.get("retry-after"));
    expect(seconds).toBeGreaterThanOrEqual(LIMITED_RETRY_SECONDS.min);
    expect(seconds).toBeLessThanOrEqual(LIMITED_RETRY_SECONDS.max);
    expect(world.grants()).toHaveLength(2);
    expect(await statuses([join(world, "203.0.113.8")])).toEqual([201]);
  });

  test("without JavaScript: the page, with the same status and Retry-After", async () => {
    const world = await createWorld({ bindings: { joinLimit: limiter(0) } });
    const refused = await join(world, V4, PAGE_VIEW);
    expect(refused.status).toBe(429);
    expect(refused.headers.get("content-type")).toMatch(/^text\/html/);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test.each([
    ["one IPv4 address, however it is written", "203.0.113.7", "::ffff:203.0.113.7", true],
    ["two IPv4 addresses", "203.0.113.7", "203.0.113.8", false],
    ["one IPv6 /64", "2001:db8:1:2::1", "2001:DB8:1:2:ffff::9", true],
    ["two IPv6 /64", "2001:db8:1:2::1", "2001:db8:1:3::1", false],
  ])("is counted by customer: %s", async (_what, one, other, isSame) => {
    const joinLimit = limiter(9);
    const world = await createWorld({ bindings: { joinLimit } });
    await statuses([join(world, one), join(world, other)]);
    expect(new Set(joinLimit.keys).size).toBe(isSame ? 1 : 2);
    expect(joinLimit.keys.every((key) => key.startsWith("demo "))).toBe(true);
  });

  test("of whoever holds a place is never limited: they get it back", async () => {
    const world = await createWorld({ bindings: { joinLimit: limiter(0) } });
    const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(5_000) });
    for (let times = 0; times < 3; times += 1) {
      const headers = { ...OWN_PAGE, Cookie, "CF-Connecting-IP": V4 };
      const answer = await world.post(`${BASE}/tickets`, { headers });
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ number: 5_000 });
    }
  });

  test("that shows a place of which the mint has to judge is limited by that place, as claims are", async () => {
    const bindings = { joinLimit: limiter(0), claimLimit: limiter(2) };
    const world = await createWorld({ bindings });
    // The line has passed both.
    world.drip = { segments: [], committed: 100 };
    const again = async (number: number) => {
      const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(number) });
      const headers = { ...OWN_PAGE, Cookie, "CF-Connecting-IP": V4 };
      return world.post(`${BASE}/tickets`, { headers });
    };
    expect(await statuses([again(5), again(5)])).toEqual([201, 201]);
    const refused = await again(5);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(world.grants()).toHaveLength(2);
    expect(await statuses([again(6)])).toEqual([201]);
    expect([...bindings.joinLimit.keys]).toEqual([]);
  });

  test("that would only have its ticket signed anew, over the limit: the place as it is", async () => {
    const world = await createWorld({ bindings: { claimLimit: limiter(0) } });
    const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(5_000) });
    world.manifest = [{ ...EVENT, endsAt: EVENT.endsAt + 86_400_000 }];
    const answer = await world.post(`${BASE}/tickets`, { headers: { ...OWN_PAGE, Cookie } });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ number: 5_000 });
    expect(world.grants()).toEqual([]);
  });

  test.each<[string, Partial<typeof EVENT>, RateLimit | undefined, string | undefined]>([
    ["the event asks for none", { friction: { limit: false } }, limiter(0), V4],
    ["the platform lends none", {}, undefined, V4],
    ["nobody knows the address", {}, limiter(0), undefined],
    ["the address is none", {}, limiter(0), "unknown"],
    ["the limiter fails", {}, { limit: () => Promise.reject(new Error("down")) }, V4],
    ["the limiter never answers", {}, { limit: () => new Promise(() => undefined) }, V4],
  ])("is let through when %s", async (_why, settings, joinLimit, address) => {
    const world = await createWorld({ bindings: { joinLimit } });
    world.manifest = [{ ...EVENT, ...settings }];
    expect(await statuses([join(world, address)])).toEqual([201]);
  });

  test("a limiter that fails is counted and told", async () => {
    const joinLimit = { limit: () => Promise.reject(new Error("down")) };
    const world = await createWorld({ bindings: { joinLimit } });
    await join(world, V4);
    expect(world.lines.at(-1)).toMatchObject({ kind: "limiter", reason: "failed" });
    const health = await (await world.get("/_vestibule/health")).json<object>();
    expect(health).toMatchObject({ bindings: { joinLimit: true }, counts: { limiterFailed: 1 } });
  });
});

describe("a claim", () => {
  const claim = async (world: World, number: number) => {
    const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(number) });
    const headers = { ...OWN_PAGE, Cookie, "CF-Connecting-IP": V4 };
    return world.post(`${BASE}/admissions`, { headers });
  };

  test("is limited by place: neighbours behind one address are not in each other's way", async () => {
    const world = await createWorld({ bindings: { claimLimit: limiter(1) } });
    expect((await claim(world, 1)).status).toBe(201);
    expect((await claim(world, 2)).status).toBe(201);
    expect((await claim(world, 1)).status).toBe(429);
    expect(world.grants()).toHaveLength(2);
  });

  test("that is answered without a mint is not counted", async () => {
    const claimLimit = limiter(0);
    const world = await createWorld({ bindings: { claimLimit } });
    expect((await claim(world, 4_000)).status).toBe(425);
    expect(claimLimit.keys).toEqual([]);
  });
});

test("polls and looks at one's own place are never limited", async () => {
  const bindings = { joinLimit: limiter(0), claimLimit: limiter(0) };
  const world = await createWorld({ bindings });
  const headers = { "CF-Connecting-IP": V4 };
  for (let polls = 0; polls < 500; polls += 1) {
    expect((await world.get(`${BASE}/drip`, { headers })).status).toBe(200);
  }
  expect((await world.get("/events/demo", { headers: PAGE_VIEW })).status).toBe(200);
  expect([...bindings.joinLimit.keys, ...bindings.claimLimit.keys]).toEqual([]);
});

test("the bindings of wrangler.toml are what the edge takes: the platform's own limiter limits", async () => {
  const bindings = readBindings(env);
  expect(bindings).toEqual({
    joinLimit: expect.anything() as RateLimit,
    claimLimit: expect.anything() as RateLimit,
    counters: expect.anything() as object,
    version: expect.any(String) as string,
  });
  const world = await createWorld({ bindings });
  let refused = 0;
  for (let joins = 0; joins < 600 && refused === 0; joins += 1) {
    if ((await join(world, "198.51.100.1")).status === 429) refused += 1;
  }
  expect(refused).toBe(1);
  expect((await join(world, "198.51.100.2")).status).toBe(201);
});
