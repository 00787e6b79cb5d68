/** Holds, keys that change, and a mint that is away: what the guard knows, and what it does without. */
import type { Admitted, Guard, Refused } from "@vestibule/guard";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { EVENT, MINT, START_MS, World, eventOf, newPair } from "./world.ts";

const JWKS = "/.well-known/jwks.json";
const DRIP = `/v1/events/${EVENT}/drip`;
let world: World;
let guard: Guard;
beforeEach(async () => {
  world = await World.create();
  guard = world.guard();
});

function said(verdict: Admitted | Refused): string {
  return verdict.ok ? "admitted" : `${verdict.status} ${verdict.reason}`;
}
async function verdictOf(over: Parameters<World["request"]>[0] = {}): Promise<string> {
  return said(await guard.check(await world.request(over)));
}
const count = (path: string) => world.asked.filter((each) => each === path).length;
const away = () => new Response("", { status: 503 });

describe("holds", () => {
  const heldSince = START_MS - 30_000;

  test("a pause for all refuses every purchase, and says when to come back", async () => {
    world.drip = { state: "paused", heldSince, heldScope: "all" };
    const verdict = await guard.check(await world.request());
    expect(verdict).toMatchObject({ status: 503, reason: "held", retryAfterSeconds: 10 });
    if (verdict.ok) throw new Error("admitted");
    expect(verdict.response.headers.get("Retry-After")).toBe("10");
    expect(await verdict.response.json()).toMatchObject({ type: "urn:vestibule:problem:held" });
  });

  test("a pause of entries refuses slots that open after it, and lets the others go on", async () => {
    world.drip = { state: "paused", heldSince, heldScope: "entries" };
    expect(await verdictOf({ opensAt: heldSince })).toBe("admitted");
    expect(await verdictOf({ opensAt: heldSince + 1_000 })).toBe("503 held");
  });

  test("a slot that an ended pause cut is void until it was claimed again", async () => {
    const until = START_MS - 10_000;
    world.drip = { cuts: [{ since: heldSince, until }] };
    const opensAt = heldSince + 1_000;
    expect(await verdictOf({ opensAt, iat: until / 1000 - 1 })).toBe("401 cut");
    expect(await verdictOf({ opensAt, iat: until / 1000 })).toBe("admitted");
    expect(await verdictOf({ opensAt: heldSince })).toBe("admitted");
  });

  test("is seen at the first request after a quiet time, with no timer in between", async () => {
    expect(await verdictOf()).toBe("admitted");
    world.drip = { state: "paused", heldSince: world.now, heldScope: "all" };
    world.now += 3_001;
    expect(await verdictOf()).toBe("503 held");
  });

  test("is seen within a second and one request of a busy shop", async () => {
    await verdictOf();
    world.drip = { state: "paused", heldSince: world.now, heldScope: "all" };
    world.now += 1_000;
    const started: Promise<unknown>[] = [];
    const waitUntil = (work: Promise<unknown>) => void started.push(work);
    const first = await guard.check(await world.request(), { waitUntil });
    expect(said(first)).toBe("admitted"); // it does not wait for what it started
    expect(started).toHaveLength(1);
    await Promise.all(started);
    expect(await verdictOf()).toBe("503 held");
  });

  test("stays in force when the mint falls silent", async () => {
    world.drip = { state: "paused", heldSince, heldScope: "all" };
    await verdictOf();
    world.mint = away;
    world.now += 120_000;
    expect(await verdictOf()).toBe("503 held");
  });

  test("is asked of listed sales only, and forged admissions ask for nothing", async () => {
    const other = await newPair();
    expect(await verdictOf({ key: other.signingKey })).toBe("401 unknown-key");
    expect(count(DRIP)).toBe(0);
  });
});

describe("keys that change", () => {
  test("KR-01: an unknown kid asks once per cool-down, and the fan of the new key is let in", async () => {
    await verdictOf();
    const next = await newPair();
    world.jwks = [...world.jwks, next.publicJwk];
    expect(count(JWKS)).toBe(1);
    expect(await verdictOf({ key: next.signingKey })).toBe("admitted");
    expect(count(JWKS)).toBe(2);
    const stranger = await newPair();
    for (let tries = 0; tries < 20; tries += 1) {
      expect(await verdictOf({ key: stranger.signingKey })).toBe("401 unknown-key");
    }
    expect(count(JWKS)).toBe(2);
    world.now += 10_000;
    await verdictOf({ key: stranger.signingKey });
    expect(count(JWKS)).toBe(3);
  });

  test("all who come at once with the new key are let in by one question", async () => {
    await verdictOf();
    const next = await newPair();
    world.jwks = [...world.jwks, next.publicJwk];
    const requests = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        world.request({ key: next.signingKey, number: index + 1 }),
      ),
    );
    const verdicts = await Promise.all(requests.map((request) => guard.check(request)));
    expect(verdicts.map(said)).toEqual(Array.from({ length: 20 }, () => "admitted"));
    expect(count(JWKS)).toBe(2);
  });

  test("law 7: no admission is refused while keys rotate on plan", async () => {
    const old = await world.request();
    await guard.check(old);
    const next = await newPair();
    world.jwks = [world.pair.publicJwk, next.publicJwk]; // staged
    world.now += 61_000;
    expect(said(await guard.check(old))).toBe("admitted");
    world.pair = next; // signing; the old one is retiring
    expect(said(await guard.check(old))).toBe("admitted");
    expect(await verdictOf()).toBe("admitted");
  });

  test("a revoked key is refused at the first request after a quiet time", async () => {
    const request = await world.request();
    expect(said(await guard.check(request))).toBe("admitted");
    const next = await newPair();
    world.pair = next;
    world.jwks = [next.publicJwk];
    world.now += 76_000;
    expect(said(await guard.check(request))).toBe("401 unknown-key");
  });

  test("a revoked key is refused in the very request that hears of it, also of a guard whose keys are fresh", async () => {
    const next = await newPair();
    world.jwks = [world.pair.publicJwk, next.publicJwk];
    world.keysSeq = 1;
    const request = await world.request();
    expect(said(await guard.check(request))).toBe("admitted");
    world.pair = next;
    world.jwks = [next.publicJwk];
    world.keysSeq = 2;
    world.now += 4_000;
    expect(said(await guard.check(request))).toBe("401 unknown-key");
  });

  test("law 8: a key that said when it ends is let go of without the mint", async () => {
    world.jwks = [{ ...world.pair.publicJwk, exp: START_MS / 1000 + 10 }];
    const request = await world.request();
    expect(said(await guard.check(request))).toBe("admitted");
    world.mint = away;
    world.now += 10_000;
    expect(said(await guard.check(request))).toBe("401 key-over");
  });
});

describe("a mint that is away", () => {
  test("from the start: everything is refused with 503, never let pass", async () => {
    world.mint = away;
    const verdict = await guard.check(await world.request());
    expect(verdict).toMatchObject({ status: 503, reason: "mint-unknown", retryAfterSeconds: 3 });
    if (verdict.ok) throw new Error("admitted");
    expect(verdict.response.headers.get("Retry-After")).toBe("3");
    expect(await verdict.response.json()).toEqual({
      type: "urn:vestibule:problem:unavailable",
      title: "This is not available right now",
      status: 503,
    });
    expect(guard.isReady()).toBe(false);
    world.mint = undefined;
    world.now += 3_000;
    expect(await verdictOf()).toBe("admitted");
    expect(guard.isReady()).toBe(true);
  });

  test.each([
    ["keys without terms", (path: string) => (path === JWKS ? undefined : away())],
    ["terms without keys", (path: string) => (path === JWKS ? away() : undefined)],
    ["terms signed by a stranger", undefined],
    ["rubbish", () => new Response("<html>welcome</html>")],
    ["an empty key set", () => new Response('{"keys":[]}')],
    ["a redirect", () => new Response("", { status: 302, headers: { Location: "/login" } })],
    ["nothing", () => new Response("")],
  ])("%s: refused", async (_title, mint) => {
    world.mint = mint;
    if (mint === undefined) {
      const stranger = await World.create();
      world.mint = (path) => (path === JWKS ? undefined : stranger.statement(path).then(asAnswer));
    }
    expect(await verdictOf()).toBe("503 mint-unknown");
    expect(world.alarms.length).toBeGreaterThan(0);
  });

  test("later: those already admitted go on, for a day and no longer", async () => {
    const opensAt = START_MS;
    const lifetimeSeconds = 86_400;
    world.events = [eventOf(EVENT, { lifetimeSeconds })];
    world.now = START_MS + 60_000;
    const request = await world.request({ opensAt, lifetimeSeconds });
    expect(said(await guard.check(request))).toBe("admitted");
    world.mint = away;
    world.now += 86_400_000;
    const long = await world.request({ opensAt: world.now, lifetimeSeconds });
    expect(said(await guard.check(long))).toBe("admitted");
    world.now += 1;
    expect(said(await guard.check(long))).toBe("503 mint-unknown");
  });

  test("without a drip, those with a good admission go on", async () => {
    world.mint = (path) => (path === DRIP ? away() : undefined);
    expect(await verdictOf()).toBe("admitted");
  });

  test("is asked no more often than its backoff, however many come", async () => {
    world.mint = away;
    for (let tries = 0; tries < 50; tries += 1) await verdictOf();
    expect(world.asked.length).toBeLessThan(5);
  });

  test("the next mint of the list is asked", async () => {
    const fetch = (url: string, init: RequestInit) =>
      url.startsWith("https://dead.example")
        ? Promise.reject(new TypeError("refused"))
        : world.fetch(url, init);
    guard = world.guard({ mintUrls: ["https://dead.example/", MINT], fetch: fetch as never });
    expect(await verdictOf()).toBe("admitted");
  });

  test("one that accepts and never answers costs no more than its deadline", async () => {
    world.mint = (_path, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      });
    const both = await Promise.all([verdictOf(), verdictOf({ number: 8 })]);
    expect(both).toEqual(["503 mint-unknown", "503 mint-unknown"]);
  });

  test("a log that throws changes nothing", async () => {
    world.mint = (path) => (path === DRIP ? away() : undefined);
    guard = world.guard({
      onAlarm: () => {
        throw new Error("the log is full");
      },
    });
    expect(await verdictOf()).toBe("admitted");
  });
});

describe("a runtime without Ed25519: our fault, and closed", () => {
  test.each(["importKey", "verify"] as const)("%s fails", async (verb) => {
    const request = await world.request();
    const failing = vi.spyOn(crypto.subtle, verb).mockRejectedValue(new Error("not supported"));
    try {
      const verdict = await guard.check(request);
      expect(verdict).toMatchObject({ ok: false, status: 503 });
    } finally {
      failing.mockRestore();
    }
  });
});

describe("in the background", () => {
  test("start keeps keys, terms and the sale's drip fresh; close ends it; both may be repeated", async () => {
    guard.start();
    guard.start();
    await vi.waitFor(() => expect(guard.isReady()).toBe(true));
    await vi.waitFor(() => expect(count(DRIP)).toBe(1));
    world.now += 1_000;
    await vi.waitFor(() => expect(count(DRIP)).toBe(2));
    expect(count(JWKS)).toBe(1);
    guard.close();
    guard.close();
    const asked = world.asked.length;
    world.now += 2_900;
    expect(await verdictOf()).toBe("admitted");
    expect(world.asked.length).toBeGreaterThan(asked); // by the request: it goes on without
  });
});

function asAnswer(text: string): Response {
  return new Response(text);
}
