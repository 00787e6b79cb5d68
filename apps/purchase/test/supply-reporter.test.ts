import type { SupplyReport } from "@vestibule/contracts/supply-api";
import { createMintOrder } from "@vestibule/feed/mint-order";
import { AppError } from "@vestibule/kernel/app-error";
import { type LogFields, silentLog } from "@vestibule/service/log";
import { Secret } from "@vestibule/service/secret";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { beforeEach, describe, expect, test } from "vitest";
import { createSupplyReporter } from "../src/supply-reporter.ts";
import type { PutReport } from "../src/supply-tell.ts";
import type { Supply } from "../src/supply.ts";

const MINTS = ["https://one.test", "https://two.test"];
const TOKEN = "the-token-of-the-supply-of-these-tests";

interface Row {
  readonly soldOut: boolean;
  readonly lastCall: boolean;
  readonly seq: number;
  readonly acked: number;
  readonly lastCallAcked: number;
  readonly unsold: number | undefined;
  readonly leftAcked: number;
}
const FIRST: Row = {
  ...{ soldOut: false, lastCall: false, unsold: undefined },
  ...{ seq: 1, acked: 1, lastCallAcked: 1, leftAcked: 1 },
};

/** The table, the stock beside it, and what the pace of selling says of it. */
let soldOut: Map<string, boolean>;
let rows: Map<string, Row>;
let lastCall: Map<string, boolean | undefined>;
/** The band of what is not sold; an event without one tells none, as before there were any. */
let unsold: Map<string, number>;
let events: string[];
let sent: { url: string; body: string; token: string; deadlineMs: number }[];
/** What each mint answers, by base address. */
let answers: Map<string, () => number | undefined | Promise<number | undefined>>;
let lines: { event: string; fields: LogFields }[];

beforeEach(() => {
  soldOut = new Map();
  rows = new Map();
  lastCall = new Map();
  unsold = new Map();
  events = ["spring"];
  sent = [];
  answers = new Map(MINTS.map((base) => [base, () => 204]));
  lines = [];
});

const supply: Supply = {
  levels: async (names) =>
    names.map((event) => {
      const row = rows.get(event) ?? FIRST;
      return {
        event,
        ...{ left: 1, taken: 0, toldForMs: 0, soldOut: soldOut.get(event) ?? false, told: row },
        unsold: unsold.get(event) as number,
        unheard: {
          soldOut: row.acked < row.seq,
          lastCall: row.lastCallAcked < row.seq,
          unsold: row.leftAcked < row.seq,
        },
        wasTold: row.seq > 1,
      };
    }),
  look: async (event, { lastCall: wanted, again = false } = {}) => {
    const row = rows.get(event) ?? FIRST;
    const isOut = soldOut.get(event) ?? false;
    const left = unsold.get(event);
    const now = { soldOut: isOut, lastCall: isOut || (wanted ?? row.lastCall), unsold: left };
    const isSame =
      row.soldOut === now.soldOut && row.lastCall === now.lastCall && row.unsold === left;
    const next = isSame ? row : { ...row, ...now, seq: row.seq + 1 };
    rows.set(event, next);
    const { seq } = next;
    const heard = { soldOutHeard: next.acked >= seq, lastCallHeard: next.lastCallAcked >= seq };
    const isHeard = heard.soldOutHeard && heard.lastCallHeard && next.leftAcked >= seq;
    if (isHeard && !(again && seq > 1)) return undefined;
    const { soldOut: out, lastCall: last } = now;
    return {
      ...{ event, soldOut: out, lastCall: last, seq, ...heard },
      ...(left === undefined ? {} : { left }),
    };
  },
  acknowledge: async ({ event, seq }, heard) => {
    const row = rows.get(event);
    if (row === undefined) return;
    const acked = Math.max(row.acked, seq);
    const lastCallAcked = heard === "sold-out" ? row.lastCallAcked : seq;
    const leftAcked = heard === "all" ? seq : row.leftAcked;
    rows.set(event, { ...row, acked, lastCallAcked, leftAcked });
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
    lastCalls: { judge: (event) => lastCall.get(event), keep: () => undefined },
    rate: () => 60,
    events: () => events,
    mints: createMintOrder(MINTS),
    token: new Secret(TOKEN),
    put,
    clock: new FakeClock(),
    log: { ...silentLog, info: line, warn: line, error: line },
  });
}

const bodies = () => sent.map(({ body }) => JSON.parse(body) as SupplyReport);

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
      body: '{"soldOut":true,"lastCall":true,"seq":2}',
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
    { soldOut: true, lastCall: true, seq: 2 },
    { soldOut: false, lastCall: true, seq: 3 },
  ]);
});

test("what was heard is told again once a minute: a database that failed over may have forgotten it", async () => {
  const reporter = reporterOf();
  soldOut.set("spring", true);
  reporter.look("spring");
  await reporter.idle();
  for (let ticks = 0; ticks < 119; ticks += 1) await reporter.tick();
  expect(sent).toHaveLength(1);
  for (let ticks = 0; ticks < 241; ticks += 1) await reporter.tick();
  expect(bodies()).toEqual(Array.from({ length: 4 }, () => bodies()[0]));
  // Said once: that it is repeated is no news.
  expect(lines.map(({ event }) => event)).toEqual(["supply-reported"]);
});

test("an event that was never sold out is never told of", async () => {
  const reporter = reporterOf();
  for (let ticks = 0; ticks < 250; ticks += 1) await reporter.tick();
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
  expect(bodies().at(-1)).toEqual({ soldOut: false, lastCall: true, seq: 3 });
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
    { soldOut: true, lastCall: true, seq: 2 },
    { soldOut: false, lastCall: true, seq: 3 },
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
  const reporter = reporterOf({ levels: away, look: away });
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

test("a last call is told once it begins and once it is over, and whatever is not clear changes nothing", async () => {
  const reporter = reporterOf();
  const pass = async (seconds: number) => {
    for (let ticks = 0; ticks < 2 * seconds; ticks += 1) await reporter.tick();
  };
  for (const now of [undefined, true, true, undefined, false, undefined, false]) {
    lastCall.set("spring", now);
    await pass(5);
  }
  expect(bodies()).toEqual([
    { soldOut: false, lastCall: true, seq: 2 },
    { soldOut: false, lastCall: false, seq: 3 },
  ]);
});

test("what is sold out is told with the last call that there is", async () => {
  const reporter = reporterOf();
  lastCall.set("spring", true);
  for (let ticks = 0; ticks < 4; ticks += 1) await reporter.tick();
  soldOut.set("spring", true);
  reporter.look("spring");
  await reporter.idle();
  expect(bodies().at(-1)).toEqual({ soldOut: true, lastCall: true, seq: 3 });
});

test("how much is left is told when its band changes, not for each sale, and once a minute after that", async () => {
  const reporter = reporterOf();
  const pass = async (seconds: number) => {
    for (let ticks = 0; ticks < 2 * seconds; ticks += 1) await reporter.tick();
  };
  for (const band of [100, 100, 50, 50, 50, 100]) {
    unsold.set("spring", band);
    await pass(5);
  }
  const told = [
    { soldOut: false, lastCall: false, left: 100, seq: 2 },
    { soldOut: false, lastCall: false, left: 50, seq: 3 },
    { soldOut: false, lastCall: false, left: 100, seq: 4 },
  ];
  expect(bodies()).toEqual(told);
  await pass(120);
  expect(bodies()).toEqual([...told, told[2], told[2]]);
});

test("a mint from before it was told how much is left hears the rest at once, and is asked once a minute", async () => {
  const answer = () => (bodies().at(-1)?.left === undefined ? 204 : 400);
  for (const base of MINTS) answers.set(base, answer);
  const reporter = reporterOf();
  unsold.set("spring", 50);
  lastCall.set("spring", true);
  await reporter.tick();
  await reporter.tick();
  expect(bodies()).toEqual([
    { soldOut: false, lastCall: true, left: 50, seq: 2 },
    { soldOut: false, lastCall: true, seq: 2 },
  ]);
  expect(rows.get("spring")).toMatchObject({ acked: 2, lastCallAcked: 2, leftAcked: 1 });
  soldOut.set("spring", true);
  reporter.look("spring");
  await reporter.idle();
  expect(bodies().at(-1)).toEqual({ soldOut: true, lastCall: true, seq: 3 });
  for (const base of MINTS) answers.set(base, () => 204);
  sent.length = 0;
  for (let ticks = 0; ticks < 122; ticks += 1) await reporter.tick();
  expect(bodies()).toEqual([{ soldOut: true, lastCall: true, left: 50, seq: 3 }]);
  expect(rows.get("spring")).toMatchObject({ leftAcked: 3 });
});

describe("a mint from before there was a last call", () => {
  /** It refuses what it does not know; a newer one takes all. */
  let isOlder: boolean;
  beforeEach(() => {
    isOlder = true;
    const answer = () => {
      const { lastCall: known } = bodies().at(-1) ?? {};
      return isOlder && known !== undefined ? 400 : 204;
    };
    for (const base of MINTS) answers.set(base, answer);
  });

  test("hears of sold out in the same moment, and is asked about the rest once a minute", async () => {
    const reporter = reporterOf();
    lastCall.set("spring", true);
    for (let ticks = 0; ticks < 4; ticks += 1) await reporter.tick();
    expect(bodies()).toEqual([
      { soldOut: false, lastCall: true, seq: 2 },
      { soldOut: false, seq: 2 },
    ]);
    soldOut.set("spring", true);
    reporter.look("spring");
    await reporter.idle();
    expect(bodies().at(-1)).toEqual({ soldOut: true, seq: 3 });
    sent.length = 0;
    for (let ticks = 0; ticks < 600; ticks += 1) await reporter.tick();
    expect(bodies()).toEqual(
      Array.from({ length: 5 }, () => ({ soldOut: true, lastCall: true, seq: 3 })),
    );
    expect(lines.map(({ event }) => event)).not.toContain("supply-report-fails");
  });

  test("is told of the last call within a minute of its upgrade, with the number that it knows", async () => {
    const reporter = reporterOf();
    lastCall.set("spring", true);
    for (let ticks = 0; ticks < 4; ticks += 1) await reporter.tick();
    isOlder = false;
    for (let ticks = 0; ticks < 122; ticks += 1) await reporter.tick();
    expect(bodies().at(-1)).toEqual({ soldOut: false, lastCall: true, seq: 2 });
    expect(rows.get("spring")).toMatchObject({ acked: 2, lastCallAcked: 2 });
    sent = [];
    for (let ticks = 0; ticks < 600; ticks += 1) await reporter.tick();
    // Once a minute, as to every mint.
    expect(bodies()).toEqual(
      Array.from({ length: 5 }, () => ({ soldOut: false, lastCall: true, seq: 2 })),
    );
  });
});
