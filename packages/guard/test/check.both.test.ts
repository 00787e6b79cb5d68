import { createGuard } from "@vestibule/guard";
import type { Admitted, Guard, Refused } from "@vestibule/guard";
import { hashVisitor } from "@vestibule/token/visitor";
import { beforeEach, describe, expect, test } from "vitest";
import {
  EVENT,
  ISSUER,
  LIFETIME_SECONDS,
  MINT,
  OTHER_VISITOR,
  START_MS,
  VISITOR,
  World,
  eventOf,
  requestWith,
} from "./world.ts";

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

describe("a good admission", () => {
  test("is told as a typed value, without token or secret in it, at the first request of all", async () => {
    const verdict = await guard.check(await world.request({ number: 4_711 }));
    expect(verdict).toEqual({
      ok: true,
      admission: {
        event: EVENT,
        number: 4_711,
        jti: expect.stringMatching(/^[\w-]{43}$/) as string,
        visitor: hashVisitor(VISITOR),
        opensAt: START_MS - 60_000,
        closesAt: START_MS - 60_000 + LIFETIME_SECONDS * 1000,
      },
    });
    expect(JSON.stringify(verdict)).not.toContain(VISITOR);
  });

  test("passes again, and asks the mint nothing while what is known is fresh", async () => {
    await verdictOf();
    const asked = world.asked.length;
    world.now += 900;
    expect(await verdictOf()).toBe("admitted");
    expect(world.asked).toHaveLength(asked);
  });

  test("leaves the body to the shop", async () => {
    const admission = await world.admission();
    const request = requestWith(admission, VISITOR, { body: "seat=12" });
    expect(said(await guard.check(request))).toBe("admitted");
    expect(request.bodyUsed).toBe(false);
    expect(await request.text()).toBe("seat=12");
  });
});

describe("the time rules, at their boundaries", () => {
  const opensAt = START_MS;
  const closesAt = opensAt + LIFETIME_SECONDS * 1000;
  const iat = opensAt / 1000 - 30;
  test.each([
    ["the first millisecond within the tolerance", opensAt - 5_000, "admitted"],
    ["a millisecond before that", opensAt - 5_001, "401 too-early"],
    ["the last millisecond of the tolerance", closesAt + 4_999, "admitted"],
    ["the millisecond after it", closesAt + 5_000, "401 over"],
  ])("%s", async (_title, now, expected) => {
    const request = await world.request({ opensAt, iat });
    world.now = now;
    expect(said(await guard.check(request))).toBe(expected);
  });

  test.each([
    ["signed in this second and the tolerance", 5, "admitted"],
    ["signed a second later", 6, "401 issued-in-future"],
  ])("%s", async (_title, ahead, expected) => {
    expect(await verdictOf({ iat: START_MS / 1000 + ahead })).toBe(expected);
  });

  test("a tolerance of its own", async () => {
    guard = world.guard({ skewSeconds: 0 });
    world.now = opensAt - 1;
    expect(await verdictOf({ opensAt, iat })).toBe("401 too-early");
    world.now = opensAt;
    expect(await verdictOf({ opensAt, iat })).toBe("admitted");
  });

  test("a slot longer than the mint states is refused", async () => {
    expect(await verdictOf({ lifetimeSeconds: LIFETIME_SECONDS + 1 })).toBe(
      "401 lifetime-too-long",
    );
  });
});

describe("what a client can make up", () => {
  test.each([
    ["no header at all", {}],
    ["an admission without its visitor", { "Vestibule-Admission": "a.b.c" }],
    ["a visitor without admission", { "Vestibule-Visitor": VISITOR }],
    ["empty ones", { "Vestibule-Admission": "", "Vestibule-Visitor": "" }],
    [
      "the hash in another spelling",
      { "Vestibule-Admission": "a.b.c", "Vestibule-Visitor": `${VISITOR.slice(0, -1)}F` },
    ],
  ])("%s: missing, and the mint is not asked", async (_title, headers) => {
    const verdict = await guard.check(new Request("https://shop.example/", { headers }));
    expect(said(verdict)).toBe("401 missing");
    expect(world.asked).toEqual([]);
  });

  test("a token without its signature, or under another one", async () => {
    const [head, payload] = (await world.admission()).split(".") as [string, string];
    const [, , other] = (await world.admission({ number: 8 })).split(".");
    for (const [token, reason] of [
      [`${head}.${payload}.`, "malformed"],
      [`${head}.${payload}`, "malformed"],
      [`${head}.${payload}.${other}`, "bad-signature"],
    ] as const) {
      expect(said(await guard.check(requestWith(token, VISITOR)))).toBe(`401 ${reason}`);
    }
  });

  test("another visitor's admission, and the hash in the place of the secret", async () => {
    expect(await verdictOf({ visitorShown: OTHER_VISITOR })).toBe("401 wrong-visitor");
    expect(await verdictOf({ visitorShown: hashVisitor(VISITOR) })).toBe("401 wrong-visitor");
  });

  test("one header twice, the good value first or last", async () => {
    const good = await world.admission();
    for (const name of ["Vestibule-Admission", "Vestibule-Visitor"]) {
      for (const order of ["good first", "good last"]) {
        const request = requestWith(good, VISITOR);
        const value = request.headers.get(name)!;
        if (order === "good last") request.headers.set(name, "x");
        request.headers.append(name, order === "good last" ? value : "x");
        expect((await guard.check(request)).ok).toBe(false);
      }
    }
  });

  test("an oversized token is refused by its length, before anything is parsed or asked", async () => {
    for (const several of [EVENT, [EVENT, "autumn-sale"]]) {
      guard = world.guard({ event: several });
      const huge = requestWith(`${"A".repeat(2_049)}.b.c`, VISITOR);
      expect(said(await guard.check(huge))).toBe("401 malformed");
    }
    expect(world.asked).toEqual([]);
  });

  test("all of it gets one and the same answer, which says nothing of the reason", async () => {
    const other = await World.create();
    const requests = [
      new Request("https://shop.example/"),
      requestWith("a.b.c", VISITOR),
      await world.request({ visitorShown: OTHER_VISITOR }),
      await world.request({ opensAt: START_MS + 60_000 }),
      await world.request({ opensAt: START_MS - 3_600_000 }),
      await world.request({ event: "autumn-sale" }),
      await world.request({ key: other.pair.signingKey }),
    ];
    const answers = new Set<string>();
    const reasons = new Set<string>();
    for (const request of requests) {
      const verdict = await guard.check(request);
      if (verdict.ok) throw new Error("admitted");
      reasons.add(verdict.reason);
      const { status, headers } = verdict.response;
      answers.add(JSON.stringify([status, [...headers], await verdict.response.text()]));
    }
    expect(reasons.size).toBe(requests.length);
    expect([...answers]).toEqual([
      JSON.stringify([
        401,
        [
          ["cache-control", "private, no-store"],
          ["content-type", "application/problem+json"],
          ["x-content-type-options", "nosniff"],
        ],
        JSON.stringify({
          type: "urn:vestibule:problem:admission-required",
          title: "A valid admission is needed",
          status: 401,
        }),
      ]),
    ]);
  });
});

describe("which sale", () => {
  beforeEach(() => {
    world.events = [eventOf(EVENT), eventOf("autumn-sale", { lifetimeSeconds: 60 })];
  });

  test("an admission to one sale buys in no other", async () => {
    expect(await verdictOf({ event: "autumn-sale", lifetimeSeconds: 60 })).toBe(
      "401 wrong-audience",
    );
  });

  test("a guard of several sales takes each, by its own terms, and says which", async () => {
    guard = world.guard({ event: [EVENT, "autumn-sale"] });
    const spring = await guard.check(await world.request());
    const short = { event: "autumn-sale", opensAt: START_MS - 1_000, lifetimeSeconds: 60 };
    const autumn = await guard.check(await world.request(short));
    expect([spring, autumn]).toMatchObject([
      { ok: true, admission: { event: EVENT } },
      { ok: true, admission: { event: "autumn-sale" } },
    ]);
    expect(await verdictOf({ ...short, lifetimeSeconds: 61 })).toBe("401 lifetime-too-long");
    expect(await verdictOf({ event: "winter-sale" })).toBe("401 wrong-audience");
    expect(said(await guard.check(requestWith("a.bnVsbA.c", VISITOR)))).toBe("401 wrong-audience");
  });

  test("a check names its own; it must be one of the guard's, when the guard has some", async () => {
    const request = await world.request({ event: "autumn-sale", lifetimeSeconds: 60 });
    const open = createGuard({ mintUrls: MINT, issuer: ISSUER, fetch: world.fetch as never });
    await expect(open.check(request)).rejects.toThrow(TypeError);
    guard = world.guard({ event: [EVENT, "autumn-sale"] });
    expect(said(await guard.check(request, { event: "autumn-sale" }))).toBe("admitted");
    expect(said(await guard.check(request, { event: EVENT }))).toBe("401 wrong-audience");
    guard = world.guard();
    expect(said(await guard.check(request, { event: "autumn-sale" }))).toBe("401 unknown-event");
  });

  test("names that cannot be one, or that the mint does not list, are refused and not asked for", async () => {
    const open = createGuard({
      ...{ mintUrls: MINT, issuer: ISSUER, fetch: world.fetch as never, now: () => world.now },
    });
    for (const event of ["", "../v1", "A", "winter-sale", "__proto__", "x".repeat(65)]) {
      const request = await world.request();
      expect(said(await open.check(request, { event }))).toBe("401 unknown-event");
    }
    expect(world.asked.filter((path) => path.endsWith("/drip"))).toEqual([]);
  });

  test("a sale that was set up a moment ago is looked for again", async () => {
    guard = world.guard({ event: [EVENT, "winter-sale"] });
    expect(await verdictOf({ event: "winter-sale" })).toBe("401 unknown-event");
    world.events = [...world.events, eventOf("winter-sale")];
    world.now += 5_000;
    expect(await verdictOf({ event: "winter-sale" })).toBe("admitted");
  });
});

test("wrong use is a TypeError that names every mistake and repeats no value", () => {
  const options = {
    ...{ mintUrls: ["ftp://mint.example", "https://user:secret@mint.example"], issuer: "" },
    ...{ event: "Not a slug", purchaseUrl: "https://p.example/?key=secret", skewSeconds: NaN },
    ...{ spendDeadlineMs: 1, shopToken: "a short secret", onAlarm: "log", typo: true },
  };
  const create = () => createGuard(options as never);
  expect(create).toThrow(TypeError);
  for (const name of ["mintUrls", "issuer", "event", "purchaseUrl", "skewSeconds"]) {
    expect(create).toThrow(name);
  }
  for (const name of ["spendDeadlineMs", "shopToken", "onAlarm", "`typo`"])
    expect(create).toThrow(name);
  expect(create).not.toThrow(/secret/);
});
