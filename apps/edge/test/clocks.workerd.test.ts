/** Design section 10: a location whose clock is surely beyond the tolerance admits nobody, says so, and recovers by itself. */
import { ADMISSION_HEADER, VISITOR_HEADER } from "@vestibule/contracts/names";
import { PROBLEM_TYPE_PREFIX } from "@vestibule/contracts/problems";
import type { DripView } from "@vestibule/contracts/statements";
import { epochMs } from "@vestibule/kernel/units";
import { describe, expect, test } from "vitest";
import {
  EVENT,
  LIFETIME_SECONDS,
  NOW,
  OWN_PAGE,
  PAGE_VIEW,
  VISITOR_A,
  type World,
  cookies,
  createWorld,
  isQuestion,
} from "./world.ts";

const LINE = "/_vestibule/events/demo";
const SKEW_MS = 5_000;
/** Seconds off, and whether that is surely beyond 5 s. */
const OFFSETS = [-600, -66, -6, -4, -2.6, 0, 2.6, 4, 6, 66, 600].map((seconds) => ({
  seconds,
  wrong: Math.abs(seconds) > 5,
}));
const WRONG = OFFSETS.filter(({ wrong }) => wrong);

const questions = (world: World) => world.sent.filter(({ url }) => isQuestion(url)).length;
const codeOf = async (response: Response) =>
  (await response.json<{ type?: string }>()).type?.replace(PROBLEM_TYPE_PREFIX, "");

function bearing(admission: string): RequestInit {
  return { headers: { [ADMISSION_HEADER]: admission, [VISITOR_HEADER]: VISITOR_A } };
}

/** A script of somebody whose slot is well inside its time: 200, or the code of the refusal. */
async function enter(world: World, admission?: string): Promise<number | string | undefined> {
  const shown = admission ?? (await world.admission({ opensAt: world.now - 60_000 }));
  const response = await world.get("/events/demo/seats", bearing(shown));
  await world.settle();
  return response.status === 200 ? 200 : codeOf(response);
}

/** Requests once a second, for at most so long. @returns after how many milliseconds `wanted` came. */
async function until(world: World, wanted: number | string, msMax: number): Promise<number> {
  const since = world.now;
  while ((await enter(world)) !== wanted) {
    world.now = epochMs(world.now + 1_000);
    if (world.now - since > msMax) throw new Error(`not ${wanted} within ${msMax} ms`);
  }
  return world.now - since;
}

describe("from the start", () => {
  test.each(OFFSETS)("$seconds s off: refused is $wrong", async ({ seconds, wrong }) => {
    const world = await createWorld({ clockOffMs: seconds * 1_000 });
    const first = await Promise.all(Array.from({ length: 20 }, () => enter(world)));
    expect(new Set(first)).toEqual(new Set([wrong ? "clock-wrong" : 200]));
    expect(world.toOrigin()).toHaveLength(wrong ? 0 : 20);
    expect(questions(world)).toBe(1);
    const health = await world.get("/_vestibule/health");
    expect(health.status).toBe(wrong ? 503 : 200);
    const { clock, reasons } = await health.json<{
      clock: { state: string; offsetMs: number; uncertaintyMs: number };
      reasons: string[];
    }>();
    // Where half the tolerance is, to the millisecond, is shown in simulated time: round trips are real ones here.
    const warns = Math.abs(seconds) === 4 ? "warn" : "good";
    if (Math.abs(seconds) !== 2.6) expect(clock.state).toBe(wrong ? "wrong" : warns);
    expect(Math.abs(clock.offsetMs - seconds * 1_000)).toBeLessThanOrEqual(clock.uncertaintyMs);
    expect(reasons).toHaveLength(wrong ? 1 : 0);
  });

  test.each(OFFSETS)(
    "$seconds s off: nobody is let in who is over, or early, by more than both tolerances",
    async ({ seconds }) => {
      const world = await createWorld({ clockOffMs: seconds * 1_000 });
      const over = world.now - LIFETIME_SECONDS * 1_000 - 2 * SKEW_MS - 1_000;
      const early = world.now + 2 * SKEW_MS + 1_000;
      for (const opensAt of [over, early]) {
        const admission = await world.admission({ opensAt, iat: Math.floor(over / 1_000) });
        // The first in this isolate, the second by what is remembered of it.
        expect(await enter(world, admission)).not.toBe(200);
        expect(await enter(world, admission)).not.toBe(200);
      }
      expect(world.toOrigin()).toEqual([]);
    },
  );
});

describe.each(WRONG)("$seconds s off", ({ seconds }) => {
  const start = () => createWorld({ clockOffMs: seconds * 1_000 });

  test("a page view gets the page that says so, with the place, and no turn", async () => {
    const world = await start();
    // Number 5 has its slot, and number 80 its time.
    for (const [number, shown] of [
      [5, true],
      [80, true],
      [5_000, true],
      [undefined, false],
    ] as const) {
      const ticket = number === undefined ? {} : { ticket: await world.ticket(number) };
      const Cookie = cookies({ visitor: VISITOR_A, ...ticket });
      const page = await world.get("/events/demo", { headers: { ...PAGE_VIEW, Cookie } });
      expect([page.status, page.headers.get("cache-control")]).toEqual([200, "private, no-store"]);
      const html = await page.text();
      expect(html).toContain('data-state="clock"');
      const lead = /id="lead">(.*?)</.exec(html)?.[1] ?? "";
      expect(lead).toContain("A clock is wrong here");
      expect(lead.includes("Your place is kept, and this page goes on by itself")).toBe(shown);
      expect(html).toMatch(/id="enter"[^>]* hidden/);
      // The page's time is the mint's: no turn is computed from a clock that is wrong.
      const { now } = JSON.parse(/id="data"[^>]*>(.*?)<\/script>/.exec(html)?.[1] ?? "{}") as {
        now: number;
      };
      expect(Math.abs(now - world.now)).toBeLessThan(1_000);
    }
  });

  test("scripts get 503 clock-wrong with when to come back, readable by the event's pages; preflights pass", async () => {
    const world = await start();
    const shop = "https://www.shop.example";
    const refused = await world.get("/events/demo/seats", { headers: { Origin: shop } });
    expect([refused.status, refused.headers.get("content-type")]).toEqual([
      503,
      "application/problem+json",
    ]);
    expect(refused.headers.get("access-control-allow-origin")).toBe(shop);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(await codeOf(refused)).toBe("clock-wrong");
    const headers = { Origin: shop, "Access-Control-Request-Method": "POST" };
    const asked = await world.get("/events/demo/seats", { method: "OPTIONS", headers });
    expect(asked.status).toBe(204);
  });

  test("a form for the shop is not carried out, and not called done", async () => {
    const world = await start();
    const sent = await world.post("/events/demo/buy", { headers: PAGE_VIEW, body: "a=1" });
    expect([sent.status, sent.headers.has("retry-after")]).toEqual([503, true]);
    expect(await sent.text()).toContain('data-state="clock"');
    expect(world.toOrigin()).toEqual([]);
  });

  test("joins and claims are passed on, since the mint judges them by its own clock; purchases are refused", async () => {
    const world = await start();
    const joined = await world.post(`${LINE}/tickets`, {
      headers: { "Vestibule-Mode": "token" },
    });
    expect(joined.status).toBe(201);
    const { number, ticket, visitor } = await joined.json<{
      number: number;
      ticket: string;
      visitor: string;
    }>();
    const headers = { "Vestibule-Visitor": visitor, "Vestibule-Ticket": ticket };
    const me = await world.get(`${LINE}/me`, { headers });
    expect(await me.json()).toMatchObject({ number, opensAt: expect.any(Number) as number });
    // The turn is taken up in time, for when the clock is right again, or for another location.
    expect((await world.post(`${LINE}/admissions`, { headers })).status).toBe(201);
    const admission = await world.admission();
    const bought = await world.post(`${LINE}/purchases`, {
      headers: {
        ...{ [ADMISSION_HEADER]: admission, [VISITOR_HEADER]: VISITOR_A },
        "Content-Type": "application/json",
      },
      body: "{}",
    });
    expect([bought.status, await codeOf(bought)]).toEqual([503, "clock-wrong"]);
    expect(bought.headers.has("retry-after")).toBe(true);
    expect(world.sent.filter(({ url }) => url.includes("purchase.internal"))).toEqual([]);
    expect(world.grants().map(({ url }) => new URL(url).pathname)).toEqual([
      "/v1/events/demo/tickets",
      "/v1/events/demo/admissions",
    ]);
    // Whoever asks whether they would be let through is told the same.
    const shown = { ...headers, [ADMISSION_HEADER]: admission };
    expect(await (await world.get(`${LINE}/me`, { headers: shown })).json()).toMatchObject({
      admitted: false,
    });
  });

  test("a claim by form, without JavaScript, is made, and leads back to the page that says so", async () => {
    const world = await start();
    const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(5) });
    const claim = await world.post(`${LINE}/admissions`, {
      headers: { ...PAGE_VIEW, ...OWN_PAGE, Cookie },
    });
    expect(claim.status).toBe(303);
    const Claimed = [Cookie, ...claim.headers.getSetCookie().map((set) => set.split(";")[0])].join(
      "; ",
    );
    const seen = await world.get(claim.headers.get("location") ?? "", {
      headers: { ...PAGE_VIEW, Cookie: Claimed },
    });
    expect(await seen.text()).toContain('data-state="clock"');
  });

  test("paths of no event go on, and the mint's word on the line is passed on with the fault", async () => {
    const world = await start();
    expect((await world.get("/about")).status).toBe(200);
    expect((await world.get("/events/demo/logo.svg")).status).toBe(200);
    const poll = await world.get(`${LINE}/drip`);
    expect(await poll.json()).toMatchObject({ state: "open", fault: "clock", at: world.now });
    // A cache before several locations does not give it to everybody for long.
    expect(poll.headers.get("cache-control")).toBe("public, max-age=1, must-revalidate");
    // Right again: other bytes under another name.
    world.clockOffMs = 0;
    world.now = epochMs(world.now + 12_000);
    await world.get(`${LINE}/drip`);
    await world.settle();
    const after = await world.get(`${LINE}/drip`, {
      headers: { "If-None-Match": poll.headers.get("etag") ?? "" },
    });
    expect(after.status).toBe(200);
    expect(await after.json<DripView>()).not.toHaveProperty("fault");
    expect(after.headers.get("cache-control")).toContain("stale-if-error");
  });

  test("an event that its clock takes for over, or for days away, is neither", async () => {
    const world = await start();
    world.manifest = [{ ...EVENT, startsAt: NOW - 60_000, endsAt: NOW + 60_000 }];
    world.drip = { endsAt: NOW + 60_000 };
    const joined = await world.post(`${LINE}/tickets`, {
      headers: { "Vestibule-Mode": "token" },
    });
    expect(joined.status).toBe(201);
    const page = await world.get("/events/demo", { headers: PAGE_VIEW });
    expect(await page.text()).toContain('data-state="clock"');
  });
});

describe("a clock that is set while people come", () => {
  test.each(WRONG)(
    "$seconds s at once: noticed within 36 s, and well again within 6 s of being set right",
    async ({ seconds }) => {
      const world = await createWorld();
      expect(await enter(world)).toBe(200);
      for (let round = 0; round < 3; round += 1) {
        world.clockOffMs = seconds * 1_000;
        expect(await until(world, "clock-wrong", 36_000)).toBeLessThanOrEqual(36_000);
        world.clockOffMs = 0;
        expect(await until(world, 200, 6_000)).toBeLessThanOrEqual(6_000);
        world.now = epochMs(world.now + 1_000);
      }
    },
  );
  test("behind: statements from its future tell within 4 s, before somebody who is over gets far", async () => {
    const world = await createWorld();
    expect(await enter(world)).toBe(200);
    world.now = epochMs(world.now + 20_000);
    expect(await enter(world)).toBe(200);
    world.clockOffMs = -60_000;
    expect(await until(world, "clock-wrong", 4_000)).toBeLessThanOrEqual(4_000);
  });
  test("ahead: statements that are older than any cache makes them tell within 8 s", async () => {
    const world = await createWorld();
    expect(await enter(world)).toBe(200);
    world.now = epochMs(world.now + 20_000);
    expect(await enter(world)).toBe(200);
    world.clockOffMs = 60_000;
    expect(await until(world, "clock-wrong", 8_000)).toBeLessThanOrEqual(8_000);
  });
  test("drifting 5 s a minute: a warning first, refused beyond the tolerance, well again when it drifts back", async () => {
    const world = await createWorld();
    const states: string[] = [];
    const answers: unknown[] = [];
    const note = (list: unknown[], what: unknown) => {
      if (list.at(-1) !== what) list.push(what);
    };
    const drift = async (perSecond: number, seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        world.now = epochMs(world.now + 1_000);
        world.clockOffMs += perSecond;
        note(answers, await enter(world));
        const health = await world.get("/_vestibule/health");
        note(states, (await health.json<{ clock: { state: string } }>()).clock.state);
      }
    };
    await drift(80, 100);
    await drift(-80, 100);
    expect(states).toEqual(["good", "warn", "wrong", "warn", "good"]);
    expect(answers).toEqual([200, "clock-wrong", 200]);
  });
  test("a location that was left alone asks before it decides", async () => {
    const world = await createWorld();
    expect(await enter(world)).toBe(200);
    world.now = epochMs(world.now + 3_600_000);
    world.clockOffMs = 600_000;
    const burst = await Promise.all(Array.from({ length: 20 }, () => enter(world)));
    expect(new Set(burst)).toEqual(new Set(["clock-wrong"]));
    expect(questions(world)).toBe(2);
    world.now = epochMs(world.now + 3_600_000);
    world.clockOffMs = 0;
    expect(await enter(world)).toBe(200);
  });
});

describe("who cannot be asked calls nobody wrong", () => {
  test.each([
    ["an older mint", () => new Response("{}", { status: 404 })],
    ["rubbish", () => Response.json({ time: "e30.e30.c2ln" })],
    ["a mint that is away", () => Promise.reject(new Error("away"))],
  ] as const)("%s: everybody goes by this location's own clock", async (_title, answer) => {
    const world = await createWorld({ clockOffMs: 4_000 });
    world.mint = ({ url }) => (isQuestion(url) ? answer() : undefined);
    expect(await enter(world)).toBe(200);
    const health = await world.get("/_vestibule/health");
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({
      clock: { state: "unknown", offsetMs: null, uncertaintyMs: null, measuredAgoMs: null },
    });
  });
  test("but who was wrong stays so while nobody answers, and is well again with an answer", async () => {
    const world = await createWorld({ clockOffMs: 300_000 });
    expect(await enter(world)).toBe("clock-wrong");
    world.mint = ({ url }) => (isQuestion(url) ? new Response("", { status: 503 }) : undefined);
    for (let minute = 0; minute < 30; minute += 1) {
      world.now = epochMs(world.now + 60_000);
      expect(await enter(world)).toBe("clock-wrong");
    }
    world.clockOffMs = 0;
    world.mint = () => undefined;
    expect(await until(world, 200, 6_000)).toBeLessThanOrEqual(6_000);
  });
});

test("an admitted fan's requests ask nothing and wait for nothing: 1,000 in one second", async () => {
  const world = await createWorld();
  const admission = await world.admission();
  expect(await enter(world, admission)).toBe(200);
  const before = world.sent.length;
  world.slept = 0;
  for (let i = 0; i < 1_000; i += 1) {
    await world.get("/events/demo/seats", bearing(admission));
  }
  expect([world.sent.length - before, world.slept]).toEqual([1_000, 0]);
});

test("what it reports names the location, what it found, and the tolerance; nothing of anybody else's", async () => {
  const world = await createWorld({ clockOffMs: 3_000, config: { location: "fra-1" } });
  await enter(world);
  world.now = epochMs(world.now + 6_000);
  await enter(world);
  const [first, second] = world.sent.filter(({ url }) => isQuestion(url));
  expect(first?.url).toBe("https://mint-1.internal/v1/edges/fra-1/clock");
  expect(first?.method).toBe("POST");
  const { nonce, estimate, ...report } = JSON.parse(second?.body ?? "{}") as {
    nonce: string;
    estimate: { offsetMs: number; uncertaintyMs: number };
  };
  expect(report).toEqual({ state: "warn", skewSeconds: 5 });
  expect(Math.abs(estimate.offsetMs - 3_000)).toBeLessThanOrEqual(estimate.uncertaintyMs);
  expect(nonce).toMatch(/^[\w-]{22}$/);
  expect([...(second?.headers.keys() ?? [])].toSorted()).toEqual(["accept", "content-type"]);
});
