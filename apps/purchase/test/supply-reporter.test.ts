import { createMintOrder } from "@vestibule/feed/mint-order";
import { AppError } from "@vestibule/kernel/app-error";
import { type LogFields, silentLog } from "@vestibule/service/log";
import { Secret } from "@vestibule/service/secret";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { beforeEach, expect, test } from "vitest";
import { createSupplyReporter, type PutReport } from "../src/supply-reporter.ts";
import type { PendingReport, Supply } from "../src/supply.ts";

const MINTS = ["https://one.test", "https://two.test"];
const TOKEN = "the-token-of-the-supply-of-these-tests";

/** The table, and the stock beside it. */
let soldOut: Map<string, boolean>;
let rows: Map<string, PendingReport & { acked: number }>;
let events: string[];
let sent: { url: string; body: string; token: string; deadlineMs: number }[];
/** What each mint answers, by base address. */
let answers: Map<string, () => number | undefined | Promise<number | undefined>>;
let lines: { event: string; fields: LogFields }[];

beforeEach(() => {
  soldOut = new Map();
  rows = new Map();
  events = ["spring"];
  sent = [];
  answers = new Map(MINTS.map((base) => [base, () => 204]));
  lines = [];
});

const supply: Supply = {
  due: async (names) =>
    names.filter((name) => {
      const row = rows.get(name);
      const says = row?.soldOut ?? false;
      return says !== (soldOut.get(name) ?? false) || (row !== undefined && row.acked < row.seq);
    }),
  look: async (event) => {
    const row = rows.get(event) ?? { event, soldOut: false, seq: 1, acked: 1 };
    const now = soldOut.get(event) ?? false;
    const next = row.soldOut === now ? row : { ...row, soldOut: now, seq: row.seq + 1 };
    rows.set(event, next);
    return next.acked < next.seq ? { event, soldOut: now, seq: next.seq } : undefined;
  },
  acknowledge: async ({ event, seq }) => {
    const row = rows.get(event);
    if (row !== undefined && row.acked < seq) rows.set(event, { ...row, acked: seq });
  },
};

const put: PutReport = async (request) => {
  sent.push(request);
  return answers.get(new URL(request.url).origin)?.();
};

function reporterOf(over: Partial<Supply> = {}) {
  const line = (event: string, fields: LogFields = {}) => void lines.push({ event, fields });
  return createSupplyReporter({
    supply: { ...supply, ...over },
    events: () => events,
    mints: createMintOrder(MINTS),
    token: new Secret(TOKEN),
    put,
    clock: new FakeClock(),
    log: { ...silentLog, info: line, warn: line, error: line },
  });
}

const bodies = () => sent.map(({ body }) => JSON.parse(body) as { soldOut: boolean; seq: number });

test("the last seat is told at once, to the first mint that hears it, and once", async () => {
  const reporter = reporterOf();
  soldOut.set("spring", true);
  reporter.look("spring");
  reporter.look("spring");
  await reporter.idle();
  for (let ticks = 0; ticks < 20; ticks += 1) await reporter.tick();
  expect(sent).toEqual([
    {
      url: "https://one.test/v1/supply/events/spring",
      token: TOKEN,
      body: '{"soldOut":true,"seq":2}',
      deadlineMs: 1_000,
    },
  ]);
});

test("what nobody said is found within a second, and what came back is told as well", async () => {
  const reporter = reporterOf();
  soldOut.set("spring", true);
  await reporter.tick();
  await reporter.tick();
  soldOut.set("spring", false);
  await reporter.tick();
  await reporter.tick();
  expect(bodies()).toEqual([
    { soldOut: true, seq: 2 },
    { soldOut: false, seq: 3 },
  ]);
});

test("an event that was never sold out is never told of", async () => {
  const reporter = reporterOf();
  for (let ticks = 0; ticks < 10; ticks += 1) await reporter.tick();
  expect(sent).toEqual([]);
});

test.each([
  ["no answer", () => undefined],
  ["503 of a standby", () => 503],
  ["200 of something else", () => 200],
  ["302", () => 302],
  ["401", () => 401],
  ["404", () => 404],
])("%s: the next mint is tried at once", async (_name, answer) => {
  answers.set(MINTS[0]!, answer);
  const reporter = reporterOf();
  soldOut.set("spring", true);
  reporter.look("spring");
  await reporter.idle();
  expect(sent.map(({ url }) => new URL(url).origin)).toEqual(MINTS);
  expect(rows.get("spring")).toMatchObject({ seq: 2, acked: 2 });
});

test("every mint away: tried after 0.5, 1, 2, 4, 5, 5 … s, and heard when one is back, as it is then", async () => {
  for (const base of MINTS) answers.set(base, () => undefined);
  const reporter = reporterOf();
  soldOut.set("spring", true);
  reporter.look("spring");
  await reporter.idle();
  const triedAt: number[] = [];
  for (let tick = 1; tick <= 60; tick += 1) {
    const before = sent.length;
    await reporter.tick();
    if (sent.length > before) triedAt.push(tick);
  }
  expect(triedAt).toEqual([1, 3, 7, 15, 25, 35, 45, 55]);
  // A few lines, not one for each try.
  expect(lines.filter(({ event }) => event === "supply-report-fails").length).toBeLessThan(6);
  soldOut.set("spring", false);
  for (const base of MINTS) answers.set(base, () => 204);
  for (let tick = 0; tick < 10; tick += 1) await reporter.tick();
  expect(bodies().at(-1)).toEqual({ soldOut: false, seq: 3 });
  expect(rows.get("spring")).toMatchObject({ seq: 3, acked: 3 });
  expect(bodies().filter(({ seq }) => seq === 3)).toHaveLength(1);
});

test("one event whose reports fail keeps no other from being told", async () => {
  events = ["autumn", "spring"];
  for (const base of MINTS) answers.set(base, () => undefined);
  const reporter = reporterOf();
  soldOut.set("autumn", true);
  reporter.look("autumn");
  await reporter.idle();
  for (const base of MINTS) answers.set(base, () => 204);
  soldOut.set("spring", true);
  reporter.look("spring");
  await reporter.idle();
  expect(rows.get("spring")).toMatchObject({ acked: 2 });
});

test("a slow mint: a change meanwhile is told afterwards, in order", async () => {
  const slow = Promise.withResolvers<number>();
  answers.set(MINTS[0]!, () => slow.promise);
  const reporter = reporterOf();
  soldOut.set("spring", true);
  reporter.look("spring");
  await expect.poll(() => sent.length).toBe(1);
  soldOut.set("spring", false);
  for (let looks = 0; looks < 100; looks += 1) reporter.look("spring");
  slow.resolve(204);
  await reporter.idle();
  expect(bodies()).toEqual([
    { soldOut: true, seq: 2 },
    { soldOut: false, seq: 3 },
  ]);
});

test("two instances: every report carries the sequence of both, and what is acknowledged never falls", async () => {
  const [one, two] = [reporterOf(), reporterOf()];
  for (let turn = 0; turn < 50; turn += 1) {
    soldOut.set("spring", turn % 2 === 0);
    (turn % 3 === 0 ? one : two).look("spring");
    one.look("spring");
    await Promise.all([one.tick(), two.tick(), one.idle(), two.idle()]);
  }
  const heard = bodies();
  for (const { soldOut: says, seq } of heard) expect(says).toBe(seq % 2 === 0);
  expect(Math.max(...heard.map(({ seq }) => seq))).toBe(rows.get("spring")?.acked);
});

test("PostgreSQL away is waited for; an event that the mint does not know any more is let go", async () => {
  const away = () => Promise.reject(new AppError("unavailable"));
  const reporter = reporterOf({ due: away, look: away });
  reporter.look("spring");
  await reporter.idle();
  for (let ticks = 0; ticks < 4; ticks += 1) await reporter.tick();
  expect(new Set(lines.map(({ event }) => event))).toEqual(new Set(["supply-look-postponed"]));

  for (const base of MINTS) answers.set(base, () => 404);
  const other = reporterOf();
  soldOut.set("spring", true);
  other.look("spring");
  await other.idle();
  events = [];
  const before = sent.length;
  for (let ticks = 0; ticks < 40; ticks += 1) await other.tick();
  expect(sent.length).toBe(before);
});
