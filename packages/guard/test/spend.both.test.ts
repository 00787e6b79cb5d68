import type { Admission, Guard, SpendOutcome } from "@vestibule/guard";
import { beforeEach, describe, expect, test } from "vitest";
import { EVENT, PURCHASE, VISITOR, World, problem } from "./world.ts";

let world: World;
let guard: Guard;
let admission: Admission;
beforeEach(async () => {
  world = await World.create();
  guard = world.guard();
  admission = await admit(7);
});

async function admit(number: number): Promise<Admission> {
  const verdict = await guard.check(await world.request({ number }));
  if (!verdict.ok) throw new Error(verdict.reason);
  return verdict.admission;
}
const spend = (idempotencyKey = "cart-1"): Promise<SpendOutcome> =>
  guard.spend(admission, { idempotencyKey });

describe("one admission, one sale", () => {
  test("is spent; the same key again is the same spend; another key is told so", async () => {
    const first = await spend();
    expect(first).toEqual({
      kind: "spent",
      jti: admission.jti,
      spend: { event: EVENT, jti: admission.jti, number: 7, spentAt: world.now },
    });
    world.now += 5_000;
    expect(await spend()).toEqual(first);
    expect(await spend("cart-2")).toEqual({ kind: "already-spent" });
  });

  test("what goes out: one POST with the three headers, and nothing of the client's besides", async () => {
    await spend();
    const [sent] = world.spendRequests;
    expect(sent?.url).toBe(`${PURCHASE}/v1/events/${EVENT}/spends`);
    expect(sent?.method).toBe("POST");
    expect([...sent!.headers].map(([name]) => name)).toEqual([
      "idempotency-key",
      "vestibule-admission",
      "vestibule-visitor",
    ]);
    expect(sent?.headers.get("Vestibule-Visitor")).toBe(VISITOR);
    expect(await sent?.text()).toBe("");
  });

  test("for a user of the shop's, by its token, which no other request carries", async () => {
    const shopToken = "a-token-of-the-shop-of-32-or-more-characters";
    guard = world.guard({ shopToken });
    admission = await admit(7);
    await guard.spend(admission, { idempotencyKey: "cart-1", user: "user-4711" });
    await spend();
    const sent = world.spendRequests.map(({ headers }) => [
      headers.get("Vestibule-User"),
      headers.get("Authorization"),
    ]);
    expect(sent).toEqual([
      ["user-4711", `Bearer ${shopToken}`],
      [null, null],
    ]);
  });

  test("from the two headers alone, as a job that runs later has them", async () => {
    const credentials = { event: EVENT, admission: await world.admission(), visitor: VISITOR };
    const later = world.guard();
    expect(await later.spend(credentials, { idempotencyKey: "cart-1" })).toMatchObject({
      kind: "spent",
      spend: { number: 7 },
    });
  });
});

describe("what each answer means", () => {
  const CASES: [title: string, answer: () => Response, outcome: object][] = [
    [
      "a pause",
      () => problem(503, "held", { headers: { "Retry-After": "10" } }),
      { kind: "held", retryAfterMs: 10_000 },
    ],
    [
      "too many requests, to the millisecond",
      () =>
        problem(429, "too-many-requests", {
          headers: { "Retry-After": "1" },
          extensions: { retryAfterMs: 432 },
        }),
      { kind: "too-many-requests", retryAfterMs: 432 },
    ],
    [
      "too many requests, in seconds",
      () => problem(429, "too-many-requests", { headers: { "Retry-After": "2" } }),
      { kind: "too-many-requests", retryAfterMs: 2_000 },
    ],
    [
      "no time to come back at, or an absurd one",
      () => problem(429, "too-many-requests", { extensions: { retryAfterMs: -5 } }),
      { kind: "too-many-requests", retryAfterMs: 1_000 },
    ],
    [
      "a wait of years",
      () => problem(503, "held", { headers: { "Retry-After": "999999999" } }),
      { kind: "held", retryAfterMs: 3_600_000 },
    ],
    [
      "a refusal",
      () => problem(401, "admission-required"),
      { kind: "refused", status: 401, code: "admission-required" },
    ],
    [
      "a key that was used for a purchase",
      () => problem(422, "idempotency-mismatch"),
      { kind: "refused", status: 422, code: "idempotency-mismatch" },
    ],
    [
      "the same request is still running",
      () => problem(409, "in-progress", { headers: { "Retry-After": "1" } }),
      { kind: "away", reason: "in-progress", retryAfterMs: 1_000 },
    ],
    [
      "trouble over there, with a credit for the fan",
      () => problem(503, "unavailable", { extensions: { credit: "a.b.c" } }),
      { kind: "away", reason: "unavailable", retryAfterMs: 1_000, credit: "a.b.c" },
    ],
    [
      "a proxy's 502",
      () => new Response("<html>", { status: 502 }),
      { kind: "away", reason: "unavailable", retryAfterMs: 1_000 },
    ],
  ];
  test.each(CASES)("%s", async (_title, answer, outcome) => {
    world.purchase = answer;
    expect(await spend()).toEqual(outcome);
  });
});

describe("never sold by mistake: whatever is not surely a spend of this admission is away", () => {
  const good = () => ({ event: EVENT, jti: admission.jti, number: 7, spentAt: 1 });
  const RUBBISH: [title: string, answer: () => Response | Promise<Response>][] = [
    ["201 with nothing", () => new Response("", { status: 201 })],
    ["201 with HTML", () => new Response("<html>", { status: 201 })],
    ["201 with another shape", () => Response.json([1], { status: 201 })],
    ["201 for another jti", () => Response.json({ ...good(), jti: "x" }, { status: 201 })],
    ["201 for another sale", () => Response.json({ ...good(), event: "x" }, { status: 201 })],
    ["201 with half of it", () => Response.json({ ...good(), spentAt: null }, { status: 201 })],
    ["200", () => Response.json(good())],
    [
      "201 of a megabyte",
      () => Response.json({ ...good(), more: "x".repeat(1 << 20) }, { status: 201 }),
    ],
    ["201 in broken UTF-8", () => new Response(new Uint8Array([0x22, 0xff]), { status: 201 })],
    ["a redirect", () => new Response("", { status: 307, headers: { Location: "/elsewhere" } })],
    ["a login page", () => new Response("<html>", { status: 401 })],
    ["a 409 of somebody else", () => Response.json({ error: "conflict" }, { status: 409 })],
    ["a problem with another status", () => Response.json(problemOf(409), { status: 400 })],
    ["a connection that is refused", () => Promise.reject(new TypeError("fetch failed"))],
    ["an answer that breaks off", () => new Response(brokenOff(), { status: 201 })],
  ];
  test.each(RUBBISH)("%s", async (_title, answer) => {
    world.purchase = answer;
    expect(await spend()).toMatchObject({ kind: "away", retryAfterMs: 1_000 });
    world.purchase = undefined;
    expect(await spend()).toMatchObject({ kind: "spent" });
  });

  test.each([
    ["a head that never comes", () => new Promise<Response>(() => undefined)],
    ["a body that never ends", () => new Response(neverEnding(), { status: 201 })],
  ])("%s: given up at the deadline", async (_title, answer) => {
    guard = world.guard({ spendDeadlineMs: 100 });
    admission = await admit(7);
    world.purchase = answer;
    expect(await spend()).toEqual({ kind: "away", reason: "timeout", retryAfterMs: 1_000 });
  });
});

describe("wrong use is a TypeError, before anything is sent", () => {
  test.each([
    ["no key", ""],
    ["a key with a space", "two words"],
    ["a key of 201 characters", "x".repeat(201)],
    ["a key that would end the header", "a\r\nb: c"],
  ])("%s", async (_title, key) => {
    await expect(spend(key)).rejects.toThrow(TypeError);
    expect(world.spendRequests).toEqual([]);
  });

  test("an admission that `check` did not give, or a copy of one", async () => {
    const options = { idempotencyKey: "cart-1" };
    await expect(guard.spend({ ...admission }, options)).rejects.toThrow(TypeError);
    await expect(world.guard().spend(admission, options)).rejects.toThrow(TypeError);
    for (const bad of [
      { event: "../admin", admission: "a.b.c", visitor: VISITOR },
      { event: EVENT, admission: "a\r\nb", visitor: VISITOR },
      { event: EVENT, admission: "a.b.c", visitor: "" },
    ]) {
      await expect(guard.spend(bad, options)).rejects.toThrow(TypeError);
    }
    expect(world.spendRequests).toEqual([]);
  });

  test("a user that cannot be one, or whom nothing vouches for", async () => {
    const idempotencyKey = "cart-1";
    await expect(guard.spend(admission, { idempotencyKey, user: "u" })).rejects.toThrow(
      "shopToken",
    );
    guard = world.guard({ shopToken: "x".repeat(32) });
    admission = await admit(7);
    for (const user of ["", "two words", "a\r\nb", "x".repeat(201)]) {
      await expect(guard.spend(admission, { idempotencyKey, user })).rejects.toThrow(TypeError);
    }
    expect(world.spendRequests).toEqual([]);
  });

  test("a guard without the purchase API's address", async () => {
    guard = world.guard({ purchaseUrl: undefined as never });
    admission = await admit(7);
    await expect(spend()).rejects.toThrow(TypeError);
  });
});

function problemOf(status: number): object {
  return { type: "urn:vestibule:problem:already-spent", title: "", status };
}

function neverEnding(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode("{")) });
}

function brokenOff(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(to) {
      to.error(new Error("reset"));
    },
  });
}
