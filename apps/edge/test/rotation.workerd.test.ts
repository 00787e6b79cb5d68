import { describe, expect, test } from "vitest";
import { epochMs } from "@vestibule/kernel/units";
import {
  LIFETIME_SECONDS,
  NOW,
  VISITOR_A,
  VISITOR_B,
  type World,
  cookies,
  createWorld,
  newKey,
} from "./world.ts";

async function show(world: World, admission: string): Promise<number> {
  const headers = { Cookie: cookies({ visitor: VISITOR_A, admission }) };
  const { status } = await world.get("/events/demo", { headers });
  await world.settle();
  return status;
}

const jwksFetches = (world: World) =>
  world.sent.filter(({ url }) => url.endsWith("jwks.json")).length;

/** What a location says of an admission, without a way to the shop. */
async function asked(world: World, admission: string): Promise<unknown> {
  const headers = {
    "Vestibule-Visitor": VISITOR_A,
    "Vestibule-Ticket": await world.ticket(1),
    "Vestibule-Admission": admission,
  };
  const answer = await world.get("/_vestibule/events/demo/me", { headers });
  await world.settle();
  return (await answer.json<{ admitted?: unknown }>()).admitted;
}

describe("whether a location would let an admission through", () => {
  test("is asked without reaching the shop, and answered as at the gate: genuine, in its time, by a key in force", async () => {
    const world = await createWorld();
    const good = await world.admission();
    expect(await asked(world, good)).toBe(true);
    const [head, body, signature = ""] = good.split(".");
    const forged = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
    expect(await asked(world, `${head}.${body}.${forged}`)).toBe(false);
    expect(await asked(world, await world.admission({ key: (await newKey()).key }))).toBe(false);
    expect(await asked(world, await world.admission({ visitor: VISITOR_B }))).toBe(false);
    expect(await asked(world, await world.admission({ opensAt: NOW + 7_000 }))).toBe(false);
    expect(world.toOrigin()).toEqual([]);
  });
});

describe("TV-12: what was verified once is asked for again", () => {
  test("time: the second request is denied when the token is over", async () => {
    const world = await createWorld();
    const admission = await world.admission({ opensAt: NOW - (LIFETIME_SECONDS - 2) * 1_000 });
    expect(await show(world, admission)).toBe(200);
    expect(await show(world, admission)).toBe(200);
    world.now = epochMs(NOW + 6_000);
    expect(await show(world, admission)).toBe(200);
    world.now = epochMs(NOW + 7_000);
    expect(await show(world, admission)).toBe(429);
  });

  test("key: a revoked key admits nobody once the new key set is known", async () => {
    const world = await createWorld();
    const admission = await world.admission();
    expect(await show(world, admission)).toBe(200);
    world.keys = [(await newKey()).jwk];
    world.now = epochMs(NOW + 61_000);
    await show(world, admission);
    expect(await show(world, admission)).toBe(429);
  });

  test.each([
    ["in the very request that hears of it, after a quiet moment", 4_000, [429]],
    ["with the next refresh of a busy location", 1_000, [200, 429]],
  ])(
    "key: a revoked key is refused %s, long before the key set is due",
    async (_when, ms, expected) => {
      const world = await createWorld();
      const admissions = await newKey();
      const set = { seq: 1, keys: [...world.keys, admissions.jwk] };
      world.mint = ({ url }) => (url.includes("jwks.json") ? Response.json(set) : undefined);
      world.drip = { keysSeq: 1 };
      const admission = await world.admission({ key: admissions.key });
      // Warm: verified once, remembered since.
      for (let visit = 0; visit < 3; visit += 1) expect(await show(world, admission)).toBe(200);
      set.seq = 2;
      set.keys = world.keys.slice();
      world.drip = { keysSeq: 2 };
      world.now = epochMs(NOW + ms);
      for (const status of expected) expect(await show(world, admission)).toBe(status);
      expect(world.sent.filter(({ url }) => url.endsWith("jwks.json?seq=2"))).toHaveLength(1);
      // Whoever comes with an admission of the next key is in.
      expect(await show(world, await world.admission())).toBe(200);
    },
  );

  test("KR-07: a key past its end is over by the location's clock, also when no mint answers", async () => {
    const world = await createWorld();
    const [jwk] = world.keys;
    if (jwk === undefined) throw new Error("a key");
    world.keys = [{ ...jwk, exp: NOW / 1000 + 30 }];
    const admission = await world.admission();
    expect(await show(world, admission)).toBe(200);
    world.mint = () => Promise.reject(new Error("away"));
    world.now = epochMs(NOW + 29_000);
    expect(await show(world, admission)).toBe(200);
    world.now = epochMs(NOW + 30_000);
    expect(await show(world, admission)).toBe(429);
  });

  test("visitor: the token of one visitor is worth nothing with the secret of another", async () => {
    const world = await createWorld();
    const admission = await world.admission();
    expect(await show(world, admission)).toBe(200);
    const copied = cookies({ visitor: `${"C".repeat(42)}A`, admission });
    const { status } = await world.get("/events/demo", { headers: { Cookie: copied } });
    expect(status).toBe(429);
  });
});

test("law 7: a key that the location has not heard of yet is looked up once, and its token admitted", async () => {
  const world = await createWorld();
  await show(world, await world.admission());
  const next = await newKey();
  world.keys = [...world.keys, next.jwk];
  world.now = epochMs(NOW + 20_000);
  expect(await show(world, await world.admission({ key: next.key, opensAt: NOW }))).toBe(200);
});

test("KR-01: 1,000 made-up key ids cost one fetch, and valid tokens are unaffected", async () => {
  const world = await createWorld();
  const valid = await world.admission();
  expect(await show(world, valid)).toBe(200);
  const before = jwksFetches(world);
  const stranger = await newKey();
  const forged = await world.admission({ key: stranger.key });
  const [, payload, signature] = forged.split(".");
  for (let i = 0; i < 1_000; i += 1) {
    const header = btoa(JSON.stringify({ alg: "Ed25519", typ: "vst-admission+jwt", kid: `k${i}` }));
    const made = `${header.replace(/=+$/, "")}.${payload}.${signature}`;
    expect(
      (
        await world.get("/events/demo", {
          headers: { Cookie: cookies({ visitor: VISITOR_A, admission: made }) },
        })
      ).status,
    ).toBe(429);
    if (i % 100 === 0) expect(await show(world, valid)).toBe(200);
  }
  expect(jwksFetches(world) - before).toBeLessThanOrEqual(1);
});
