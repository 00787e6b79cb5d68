/** Laws 1 to 6 and 11, tried against the running system. Each test has an event of its own. */
import { randomUUID } from "node:crypto";

import type { DripView } from "@vestibule/contracts/statements";
import { servingNumber } from "@vestibule/drip/line";
import { opensAt } from "@vestibule/drip/segment";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { type System, freePortBase, openEvent, startSystem } from "./start-system.ts";
import {
  App,
  buy,
  newVisitor,
  problemOf,
  type Claimed,
  type Pass,
  type Place,
} from "./support/app.ts";
import { Cuttable } from "./support/cuttable.ts";
import { eventually, inTurn, watch } from "./support/eventually.ts";
import { forgeries } from "./support/forgeries.ts";
import { Organizer } from "./support/organizer.ts";
import { environmentOf, secretsOf } from "./support/running-parts.ts";
import { type RecordingOrigin, startRecordingOrigin } from "./support/recording-origin.ts";
import { type SecondEdge, startSecondEdge } from "./support/second-edge.ts";

const SKEW_MS = 5_000;
const EVENTS = {
  crowd: { ratePerMinute: 60 },
  places: { ratePerMinute: 300, lifetimeSeconds: 60 },
  held: { ratePerMinute: 60, lifetimeSeconds: 60 },
  drip: { ratePerMinute: 600, lifetimeSeconds: 20, claimWindowSeconds: 20 },
  lapses: { ratePerMinute: 600, lifetimeSeconds: 10, claimWindowSeconds: 5 },
  spend: { ratePerMinute: 60_000, lifetimeSeconds: 300 },
  stock: { ratePerMinute: 60_000, lifetimeSeconds: 300 },
  verify: { ratePerMinute: 60_000, lifetimeSeconds: 300 },
  other: { ratePerMinute: 60_000, lifetimeSeconds: 300 },
  polls: { ratePerMinute: 1 },
} as const;
type EventName = keyof typeof EVENTS;

let system: System;
/** Between the second edge and the mint. */
let mintHop: Cuttable;
let origin: RecordingOrigin;
let second: SecondEdge;

beforeAll(async () => {
  // These tests hammer with one visitor on purpose; the limit has tests of its own.
  system = await startSystem({ environment: { VESTIBULE_LIMIT_PURCHASE: "1000/1ms" } });
  const port = await freePortBase();
  const hosts = [system.portBase, port].flatMap((each) => [
    `localhost:${each}`,
    `127.0.0.1:${each}`,
  ]);
  for (const [event, settings] of Object.entries(EVENTS)) {
    const total = event === "stock" ? 5 : 1_000;
    await openEvent(
      system.ready,
      { event, hosts, horizonSeconds: 10, ...settings },
      { total, perPurchaseMax: 4, showRemaining: true },
    );
  }
  mintHop = await Cuttable.before(system.ready.mint);
  origin = await startRecordingOrigin();
  second = await startSecondEdge(system, { port, mint: mintHop.url, origin: origin.url });
  await Promise.all(Object.keys(EVENTS).map((event) => atFirst(event as EventName).known()));
  await Promise.all(Object.keys(EVENTS).map((event) => atSecond(event as EventName).known()));
});
afterAll(async () => {
  await second?.stop();
  await origin?.close();
  await mintHop?.close();
  await system?.stop();
});

const atFirst = (event: EventName): App => new App(system.ready.edge, event);
const atSecond = (event: EventName): App => new App(second.url, event);
const organizerOf = (event: EventName): Organizer => new Organizer(system.ready, event);
const purchasesOf = (event: EventName): string =>
  `${system.ready.purchase.replace("localhost", "127.0.0.1")}/v1/events/${event}/purchases`;
const ascending = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b);

describe("law 1: a number is given once", () => {
  test("law 1: 200 visitors who join at the same time, at two edges, get 200 numbers without a gap", async () => {
    const edges = [atFirst("crowd"), atSecond("crowd")];
    const places = (await Promise.all(edges.map((edge) => edge.joinAll(100, 100)))).flat();
    const numbers = ascending(places.map(({ number }) => number));
    const first = numbers[0] ?? 0;
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => first + index));
  });

  test("law 1: one visitor who joins 50 times at the same time, at two edges, gets one number", async () => {
    const visitor = newVisitor();
    const edges = [atFirst("crowd"), atSecond("crowd")];
    const places = await Promise.all(
      Array.from({ length: 50 }, (_, index) => edges[index % 2]!.join({ visitor })),
    );
    expect(new Set(places.map((place) => place.number)).size).toBe(1);

    const next = await atFirst("crowd").join();
    // The 49 others used no number up.
    expect(next.number).toBe((places[0]?.number ?? 0) + 1);
  });

  test("law 1: a ticket that is shown again gets its own number back, also 50 times at once and at the other edge", async () => {
    const place = await atFirst("crowd").join();
    const again = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? atFirst("crowd") : atSecond("crowd")).tryJoin(place),
      ),
    );
    expect(new Set(again.map(({ body }) => body.number))).toEqual(new Set([place.number]));
    expect(new Set(again.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test("law 1: somebody else's ticket gets nobody's number", async () => {
    const victim = await atFirst("crowd").join();
    const thief = await atFirst("crowd").join({ visitor: newVisitor(), ticket: victim.ticket });
    expect(thief.number).toBeGreaterThan(victim.number);
  });
});

test("law 2: through changes of rate, hold and resume, no place and no serving number goes backwards", async () => {
  const app = atFirst("places");
  const organizer = organizerOf("places");
  await app.joinAll(25);
  const own = await app.join();
  let isOver = false;
  const polling = watch(
    async () => ({ drip: await app.drip(), number: (await app.me(own)).number }),
    { isOver: () => isOver, everyMs: 40 },
  );
  await organizer.change({ ratePerMinute: 1_200 });
  await eventually("some are served", async () => (await app.drip()).serving > 3);
  await organizer.hold();
  await eventually("the edge knows of the hold", async () => (await app.drip()).state === "paused");
  await organizer.change({ ratePerMinute: 120 });
  await eventually("a hold lasts until the next second", async () => {
    await organizer.resume();
    return true;
  });
  await organizer.change({ ratePerMinute: 600 });
  const { opensAt: opens } = await app.claim(own);
  await eventually("the own slot has opened", async () => {
    const drip = await app.drip();
    return servingNumber(drip.segments, Date.now(), drip) >= own.number;
  });
  isOver = true;
  const seen = await polling;

  expect(Date.now()).toBeGreaterThanOrEqual(opens);
  expect(new Set(seen.map(({ number }) => number))).toEqual(new Set([own.number]));
  for (const what of ["serving", "seq", "committed", "at"] as const) {
    const values = seen.map(({ drip }) => drip[what]);
    expect({ what, values }).toEqual({ what, values: ascending(values) });
  }
  expect(new Set(seen.map(({ drip }) => drip.state))).toEqual(new Set(["open", "paused"]));
});

test("a hold acts at once, also at an edge that nobody has asked anything about the event for a while", async () => {
  const app = atSecond("held");
  const places = await app.joinAll(12);
  // One that opens some seconds from now.
  const late = places.toSorted((a, b) => a.number - b.number)[7]!;
  const pass = await app.claim(late);
  await organizerOf("held").hold();
  await eventually("the slot would have opened", () => Date.now() > pass.opensAt + 1_000);
  expect(pass.opensAt).toBeGreaterThan((await organizerOf("held").status()).heldSince ?? Infinity);
  expect(await app.enter(pass)).toBe(429);
  expect((await app.drip()).state).toBe("paused");
});

describe("law 3: the drip is exact", () => {
  test("law 3: nothing lapses: between any two openings no more slots open than rate × time, and the shop sees nobody before their slot", async () => {
    const { ratePerMinute } = EVENTS.drip;
    const app = atSecond("drip");
    const places = await app.joinAll(150);
    const slots = new SlotsSeen();
    let isOver = false;
    const polling = watch(async () => slots.note(await app.drip()), { isOver: () => isOver });
    const passes = await inTurn(places, 12, (place) => app.claim(place));
    // Everybody tries at the very edge of the tolerance, and before it.
    await inTurn(passes, 24, (pass) => app.enterWhenOpen(pass));
    isOver = true;
    await polling;

    const opens = slots.of(places);
    expect(opens).toHaveLength(150);
    expect(worstExcess(opens, ratePerMinute)).toBeLessThanOrEqual(1);
    const arrived = origin.arrivals.filter(({ path }) => path === "/events/drip");
    expect(new Set(arrived.map(({ number }) => number)).size).toBe(150);
    for (const { number = 0, at } of arrived) {
      expect(at).toBeGreaterThan((slots.byNumber.get(number) ?? 0) - SKEW_MS - 1_000);
    }
    for (const [index, { at }] of arrived.entries()) {
      const opened = opens.filter(
        (open) => Math.floor(open / 1_000) * 1_000 <= at + SKEW_MS,
      ).length;
      expect(index + 1).toBeLessThanOrEqual(opened);
    }
  });

  test("law 3: everything lapses: what comes back is never more than lapsed, and never faster than the overdrive of 1.5", async () => {
    const { ratePerMinute } = EVENTS.lapses;
    const app = atFirst("lapses");
    const places = await app.joinAll(150);
    const slots = new SlotsSeen();
    await watch(async () => slots.note(await app.drip()), {
      isOver: () => slots.byNumber.size === 150,
    });
    const opens = slots.of(places);
    expect(worstExcess(opens, ratePerMinute * 1.5)).toBeLessThanOrEqual(1);
    const first = opens[0] ?? 0;
    const { lapsed } = await organizerOf("lapses").status();
    for (const [index, at] of opens.entries()) {
      // A slot lapses 5 s after it opened: only then may it come back.
      const mayBeBack = opens.filter((open) => open + 5_000 <= at).length;
      const byRate = ((at - first) * ratePerMinute) / 60_000 + 1;
      expect(index + 1).toBeLessThanOrEqual(Math.ceil(byRate) + mayBeBack);
    }
    expect(lapsed).toBeLessThanOrEqual(150);
  });
});

/** Every slot that some statement has listed. A slot that was shown never moves without a hold. */
class SlotsSeen {
  readonly byNumber = new Map<number, number>();

  note({ segments }: DripView): void {
    for (const segment of segments) {
      for (let n = segment.base; n < segment.base + segment.count; n += 1) {
        const at = opensAt(segment, n);
        if ((this.byNumber.get(n) ?? at) !== at) throw new Error(`the slot of ${n} has moved`);
        this.byNumber.set(n, at);
      }
    }
  }

  of(places: readonly Place[]): number[] {
    return ascending(places.flatMap(({ number }) => this.byNumber.get(number) ?? []));
  }
}

/** By how much the fullest window between two openings exceeds the rate; 1 is the opening itself. */
function worstExcess(opens: readonly number[], ratePerMinute: number): number {
  let worst = 0;
  for (const [i, from] of opens.entries()) {
    for (const [j, to] of opens.entries()) {
      if (j <= i) continue;
      // Openings are whole milliseconds, rounded down.
      worst = Math.max(worst, j - i - ((to - from + 1) * ratePerMinute) / 60_000);
    }
  }
  return worst;
}

async function admitted(app: App): Promise<Claimed> {
  const pass = await app.claim(await app.join());
  await app.enterWhenOpen(pass);
  return pass;
}

describe("law 4: a token is spent once, and no sale sells more than its stock", () => {
  test("law 4: 200 purchases with one token at the same time, at two edges and directly, make exactly one order", async () => {
    const { sku } = system.ready;
    const pass = await admitted(atSecond("spend"));
    const urls = [
      atFirst("spend").endpoint("purchases"),
      atSecond("spend").endpoint("purchases"),
      purchasesOf("spend"),
    ];
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        buy(urls[index % 3] ?? "", pass, { key: randomUUID(), sku }),
      ),
    );
    const outcomes = tally(answers.map((answer) => problemOf(answer)));
    expect(outcomes.get("201")).toBe(1);
    // Whoever was kept from the row for too long is told to come back; nothing else may happen.
    for (const outcome of outcomes.keys()) {
      expect(["201", "already-spent", "unavailable"]).toContain(outcome);
    }
    expect(await organizerOf("spend").sold()).toBe(1);
  });

  test("law 4: 60 tries of one purchase with one key, at all three addresses, are one order and one answer", async () => {
    const { sku } = system.ready;
    const before = await organizerOf("spend").sold();
    const pass = await admitted(atSecond("spend"));
    const urls = [atFirst("spend").endpoint("purchases"), purchasesOf("spend")];
    const key = randomUUID();
    const tries = Array.from({ length: 60 }, (_, index) =>
      buy(urls[index % 2] ?? "", pass, { key, sku, quantity: 2 }),
    );
    const answers = await Promise.all(tries);
    const orders = answers.filter(({ status }) => status === 201).map(({ body }) => body.orderId);
    expect(new Set(orders).size).toBe(1);
    const rest = answers.map((answer) => problemOf(answer)).filter((code) => code !== "201");
    for (const code of rest) expect(["in-progress", "unavailable"]).toContain(code);
    expect(await organizerOf("spend").sold()).toBe(before + 2);
  });

  test("law 4: of a stock of 5, 30 buyers at the same time get 5, and whoever went without has their token left", async () => {
    const { sku } = system.ready;
    const app = atSecond("stock");
    const places = await app.joinAll(30);
    const passes = await inTurn(places, 10, (place) => app.claim(place));
    await inTurn(passes, 10, (pass) => app.enterWhenOpen(pass));
    const answers = await Promise.all(passes.map((pass) => patient(app, pass, sku)));
    expect(tally(answers)).toEqual(
      new Map([
        ["201", 5],
        ["sold-out", 25],
      ]),
    );
    expect(await organizerOf("stock").sold()).toBe(5);
    const loser = passes[answers.indexOf("sold-out")];
    expect(loser && (await patient(app, loser, sku))).toBe("sold-out");
  });

  /** Comes back with the same key when it is told to. */
  async function patient(app: App, pass: Pass, sku: string): Promise<string> {
    const key = randomUUID();
    return eventually("an answer that is final", async () => {
      const outcome = problemOf(await app.buy(pass, { key, sku }));
      return outcome !== "unavailable" && outcome;
    });
  }
});

function tally(outcomes: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return counts;
}

describe("law 5 and law 6: every location decides alike, and none can mint", () => {
  let good: Claimed;
  beforeAll(async () => {
    good = await admitted(atSecond("verify"));
  });

  test("law 5: a good token is accepted by both edges and by the purchase API, without a call to the mint", async () => {
    await mintHop.cut();
    try {
      expect(await atSecond("verify").enter(good)).toBe(200);
    } finally {
      await mintHop.mend();
    }
    // The first edge's shop has no page for this event; that it was asked is what counts.
    expect(await atFirst("verify").enter(good)).not.toBe(429);
    const { sku } = system.ready;
    const answer = await buy(purchasesOf("verify"), good, { key: randomUUID(), sku });
    expect(answer.status).toBe(201);
  });

  test("law 5 and law 6: what the holder of everything that an edge has can make is refused everywhere: by both edges and by the purchase API", async () => {
    const { sku } = system.ready;
    const stranger = newVisitor();
    const place = await atFirst("verify").join();
    const other = await admitted(atSecond("other"));
    const passes = new Map<string, Pass>([
      ...forgeries(good, second.vars["JWKS"] ?? ""),
      ["another visitor", { admission: good.admission, visitor: stranger }],
      ["a ticket for an admission", { admission: place.ticket, visitor: place.visitor }],
      ["an admission of another event", other],
    ]);
    expect(passes.size).toBeGreaterThan(12);
    const before = await organizerOf("verify").sold();
    for (const [name, pass] of passes) {
      const entered = await Promise.all([
        atFirst("verify").enter(pass),
        atSecond("verify").enter(pass),
      ]);
      expect({ name, entered }).toEqual({ name, entered: [429, 429] });
      const key = randomUUID();
      const bought = await Promise.all([
        atFirst("verify").buy(pass, { key, sku }),
        atSecond("verify").buy(pass, { key, sku }),
        buy(purchasesOf("verify"), pass, { key, sku }),
      ]);
      const refused = "admission-required";
      expect({ name, bought: bought.map((answer) => problemOf(answer)) }).toEqual({
        name,
        bought: [refused, refused, refused],
      });
    }
    expect(await organizerOf("verify").sold()).toBe(before);
  });

  test("law 6: an edge is given public keys and addresses, and no secret of any kind", async () => {
    const { keys } = JSON.parse(second.vars["JWKS"] ?? "") as { keys: Record<string, unknown>[] };
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) {
      expect(key).toMatchObject({ kty: "OKP", crv: "Ed25519" });
      for (const member of ["d", "k", "p", "q", "dp", "dq", "qi"])
        expect(key).not.toHaveProperty(member);
    }
    const running = environmentOf(system, "edge");
    const secrets = Object.values(secretsOf(system));
    expect(secrets.length).toBeGreaterThanOrEqual(3);
    for (const text of [JSON.stringify(second.vars), ...(running === undefined ? [] : [running])]) {
      for (const secret of secrets) expect(text.includes(secret)).toBe(false);
      expect(text).not.toMatch(/"d\\*":/);
      expect(text).not.toMatch(/postgres(ql)?:\/\//);
    }
  });

  test("law 6: an admission that one edge has accepted is worth nothing there or elsewhere without the visitor's secret", async () => {
    const { admission } = good;
    for (const app of [atFirst("verify"), atSecond("verify")]) {
      for (const visitor of ["", newVisitor()]) {
        expect(await app.enter({ admission, visitor })).toBe(429);
      }
    }
  });
});

/** A join close to its turn makes the edge look this often for its slot; a poll never does. */
const JOIN_LOOKS_MAX = 8;

test("law 11: 1,000 polls of fans who wait cost the mint one request a second, the time now and then, and nothing else", async () => {
  const app = atSecond("polls");
  const places = await app.joinAll(5);
  const before = mintHop.requests.length;
  const began = performance.now();
  await inTurn(Array.from({ length: 1_000 }), 20, () => app.drip());
  const asked = await Promise.all(places.map((place) => app.me(place)));
  // Whoever is not committed is answered at the edge.
  const refused = await Promise.all(places.slice(2).map((place) => app.tryClaim(place)));
  const seconds = (performance.now() - began) / 1_000;
  const requests = mintHop.requests.slice(before);

  expect(asked.map(({ number }) => number)).toEqual(places.map(({ number }) => number));
  expect(tally(refused.map((answer) => problemOf(answer)))).toEqual(new Map([["too-early", 3]]));
  const drips = requests.filter((request) => request === "GET /v1/events/polls/drip");
  const statements = requests.filter((request) => request === "GET /v1/manifest");
  const keys = requests.filter((request) => request === "GET /.well-known/jwks.json");
  expect(drips.length).toBeLessThanOrEqual(Math.ceil(seconds) + 1 + JOIN_LOOKS_MAX);
  expect(statements.length).toBeLessThanOrEqual(Math.ceil(seconds / 5) + 1);
  expect(keys.length).toBeLessThanOrEqual(2);
  const clocks = requests.filter((request) => /^POST \/v1\/edges\/[^/]+\/clock$/.test(request));
  expect(clocks.length).toBeLessThanOrEqual(Math.ceil(seconds / 5) + 1);
  const known = drips.length + statements.length + keys.length + clocks.length;
  expect(known).toBe(requests.length);
});
