/** The question for the time over HTTP, on a mint in virtual time: floods, slow signatures, a mint that does not lead. */
import type { ClockReport } from "@vestibule/contracts/edges-api";
import { verifyTime } from "@vestibule/token/verify-time";
import { createApp } from "@vestibule/service/app";
import { type RunningServer, startHttpServer } from "@vestibule/service/http-server";
import { createLog } from "@vestibule/service/log";
import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createEdges } from "../src/edges/edges.ts";
import { addEdgeRoutes } from "../src/http/edge-routes.ts";
import {
  CLOCK_SENDER_LIMIT,
  CLOCK_SIGNINGS_MAX,
  CLOCK_TOTAL_LIMIT,
  EDGE_ROWS_MAX,
} from "../src/limits.ts";
import { type Asked, MintClient } from "./support/service.ts";
import { ISSUER, memoryWorld, payload } from "./support/world.ts";

const NONCE = "q83vEjRWeJCrze8SNFZ4kA";
const BODY: ClockReport = { nonce: NONCE, state: "unknown", skewSeconds: 5 };
const PATIENCE = { timeout: 20_000 };
/** What is left of a sender's bucket for requests; the rest is spent without a connection for each. */
const LEFT = 40;
const servers: RunningServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop({ graceMs: 0 });
});

async function served() {
  const world = await memoryWorld();
  const lines: string[] = [];
  const { clock, timers, mint, tokens } = world;
  const log = createLog({ service: "mint", clock, write: (line) => void lines.push(line) });
  /** Signatures wait for it. */
  const gate = { wait: undefined as Promise<void> | undefined, signing: 0 };
  const edges = createEdges({
    ...{ clock, timers, log },
    randomness: new SeededRandomness(1),
    databaseClock: async () => clock.now(),
    tokens: {
      time: async (answer) => {
        gate.signing += 1;
        await gate.wait;
        return tokens.time(answer);
      },
    },
  });
  const app = createApp({ log, checks: {} });
  addEdgeRoutes(app, { mint, edges, trustProxyHops: 1 });
  const server = await startHttpServer({ host: "127.0.0.1", port: 0, fetch: app.fetch, log });
  servers.push(server);
  const client = new MintClient(server.url);
  const ask = (address = "192.0.2.1", body: unknown = BODY): Promise<Asked> =>
    client.ask("POST", "/v1/edges/fra/clock", { body, headers: { "X-Forwarded-For": address } });
  const spendFor = async (address: string): Promise<void> => {
    for (let spent = LEFT; spent < CLOCK_SENDER_LIMIT.capacity; spent += 1)
      await edges.desk.admit(edges.nameOf(address));
  };
  return { world, clock, lines, edges, gate, ask, spendFor };
}

/** At most so many at once: connections are bounded, too. */
async function many(count: number, ask: (index: number) => Promise<Asked>): Promise<number[]> {
  const statuses: number[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++)
      statuses.push((await ask(index)).status);
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  return statuses;
}

const count = (statuses: readonly number[], wanted: number): number =>
  statuses.filter((status) => status === wanted).length;

test("one sender has its share and no more, and one comes back with time; others have theirs", async () => {
  const { ask, clock, lines, spendFor } = await served();
  const { refillMs } = CLOCK_SENDER_LIMIT;
  await spendFor("198.51.100.66");
  const flood = await many(LEFT + 60, () => ask("198.51.100.66"));
  expect([count(flood, 200), count(flood, 429)]).toEqual([LEFT, 60]);
  const refused = await ask("198.51.100.66");
  expect(refused.body).toMatchObject({
    type: "urn:vestibule:problem:too-many-requests",
    retryAfterMs: refillMs,
  });
  expect(refused.headers.get("retry-after")).toBe("1");
  expect((await ask("198.51.100.67")).status).toBe(200);
  clock.advance(refillMs);
  expect((await ask("198.51.100.66")).status).toBe(200);
  expect((await ask("198.51.100.66")).status).toBe(429);
  expect(lines).toEqual([]);
});

test("rubbish is counted as questions are: it costs its sender, and nobody else", async () => {
  const { ask, spendFor } = await served();
  await spendFor("198.51.100.66");
  const rubbish = await many(LEFT + 20, () => ask("198.51.100.66", "{"));
  expect([count(rubbish, 400), count(rubbish, 429)]).toEqual([LEFT, 20]);
  expect((await ask("198.51.100.67")).status).toBe(200);
});

test("all senders together have a bound: 503 with Retry-After, without a line in the log, and it ends with time", async () => {
  const { ask, clock, lines, edges } = await served();
  const { capacity, refillMs } = CLOCK_TOTAL_LIMIT;
  // Spends what there is, without a connection for each.
  const { desk } = edges;
  for (let index = 0; index < capacity; index += 1) {
    const question = { location: "fra", sender: `s${index % 10}`, report: BODY } as const;
    await desk.answer(question);
  }
  const refused = await ask();
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(refused.headers.get("cache-control")).toBe("no-store");
  expect(lines).toEqual([]);
  expect(edges.desk.counts).toEqual({ answered: capacity, limited: 0, busy: 1 });
  clock.advance(refillMs);
  expect((await ask()).status).toBe(200);
});

describe("signatures that take their time", () => {
  test("a bounded number of answers waits, more get 503, and all that waited are answered", async () => {
    const { ask, gate, lines } = await served();
    const open = Promise.withResolvers<void>();
    gate.wait = open.promise;
    const waiting = Array.from({ length: CLOCK_SIGNINGS_MAX }, () => ask());
    await vi.waitFor(() => expect(gate.signing).toBe(CLOCK_SIGNINGS_MAX), PATIENCE);
    const refused = await ask("198.51.100.67");
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("1");
    open.resolve();
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(count(statuses, 200)).toBe(CLOCK_SIGNINGS_MAX);
    expect((await ask("198.51.100.67")).status).toBe(200);
    expect(lines).toEqual([]);
  });

  test("the time is of a moment between the question's arrival and the answer's end", async () => {
    const { ask, gate, clock, world } = await served();
    const open = Promise.withResolvers<void>();
    gate.wait = open.promise;
    const sentAt = clock.now();
    const asked = ask();
    await vi.waitFor(() => expect(gate.signing).toBe(1), PATIENCE);
    clock.advance(4_000);
    open.resolve();
    const { body } = await asked;
    const { at } = payload(body.time);
    expect(at).toBeGreaterThanOrEqual(sentAt);
    expect(at).toBeLessThanOrEqual(clock.now());
    const { verify: keys } = world.ring;
    expect(await verifyTime(body.time, { keys, issuer: ISSUER, nonce: NONCE })).toMatchObject({
      ok: true,
    });
  });
});

test("a sender that finds no room in the table gets the time all the same; it is counted, and said once", async () => {
  const { ask, edges, lines } = await served();
  const { nonce: _, ...report } = BODY;
  for (let index = 0; index < EDGE_ROWS_MAX; index += 1)
    edges.table.hear({ location: "x", sender: `s${index}`, report }, edges.moment());
  const { status, body } = await ask();
  expect([status, typeof body.time]).toEqual([200, "string"]);
  expect(edges.table.turnedAway).toBe(1);
  expect(edges.table.rows(edges.moment().monotonicMs)).toHaveLength(EDGE_ROWS_MAX);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", msg: "edges-turned-away", turnedAway: 1 },
  ]);
});

describe("who is counted", () => {
  test("the address that our own proxy saw: whatever a client claims before it changes nothing", async () => {
    const { ask, edges } = await served();
    for (let index = 0; index < 5; index += 1) await ask(`10.0.0.${index}, 198.51.100.66`);
    expect(edges.table.rows(edges.moment().monotonicMs)).toHaveLength(1);
  });

  test("an IPv6 /64 is one sender", async () => {
    const { ask, edges } = await served();
    for (const end of ["::1", "::2", ":ffff:ffff:ffff:ffff"]) await ask(`2001:db8:0:7${end}`);
    await ask("2001:db8:0:8::1");
    expect(edges.table.rows(edges.moment().monotonicMs)).toHaveLength(2);
  });
});

test("a mint that does not lead answers 503, hears nothing, and writes no line for each", async () => {
  const { ask, world, edges, lines } = await served();
  world.term = undefined;
  const statuses = await many(50, () => ask());
  expect(count(statuses, 503)).toBe(50);
  expect(edges.table.rows(edges.moment().monotonicMs)).toEqual([]);
  expect(lines).toEqual([]);
  await world.crash();
  expect((await ask()).status).toBe(200);
});
