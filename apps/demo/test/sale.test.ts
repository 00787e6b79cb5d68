/** Which sale a start opens or goes on with, against admin APIs that remember what they were told. */
import { beforeEach, expect, test } from "vitest";

import type { StoredSale } from "../src/home.ts";
import type { Http } from "../src/http.ts";
import { DEFAULTS, type StartOptions, readOptions } from "../src/options.ts";
import { Admin, openSale } from "../src/sale.ts";

type Row = Record<string, unknown>;
let events: Map<string, Row>;
let stocks: Map<string, Row>;

/** `GET`, `POST`, `PUT` and `PATCH` of both APIs, as far as the launcher uses them. */
const http: Http = {
  send: async ({ method = "GET", url, body }) => {
    const answer = (status: number, value: unknown) => ({
      status,
      headers: { etag: '"1"' },
      text: JSON.stringify(value),
    });
    const { pathname } = new URL(url);
    const name = /events\/([^/]+)/.exec(pathname)?.[1] ?? "";
    const table = pathname.includes("/stock/") ? stocks : events;
    if (method === "POST") {
      const settings = body as { event: string };
      events.set(settings.event, { state: "open", ...settings });
      return answer(201, {});
    }
    const row = table.get(name);
    if (method === "PUT") table.set(name, { sold: 0, ...row, ...(body as Row) });
    if (method === "PATCH") table.set(name, { ...row, ...(body as Row) });
    return method === "GET" && row === undefined ? answer(404, {}) : answer(200, row ?? {});
  },
  close: () => {},
};

beforeEach(() => {
  events = new Map();
  stocks = new Map();
});

function start(words: string, stored?: StoredSale, portBase = 8_787) {
  const read = readOptions(
    words.split(" ").filter((word) => word !== ""),
    "/",
  );
  const options = (read.ok ? read.value : {}) as StartOptions;
  const admin = new Admin({
    http,
    mintUrl: "http://mint",
    purchaseUrl: "http://p",
    adminToken: "t",
  });
  return openSale({ admin, options, stored, portBase, now: 1 });
}

test("the first start opens a sale with what was given and the defaults, and has nothing to explain", async () => {
  const { sale, notes } = await start("--seats 50 --lifetime 60");
  expect(notes).toEqual([]);
  expect(sale).toMatchObject({ event: "demo", lifetimeSeconds: 60, fans: DEFAULTS.fans });
  expect(stocks.get("demo")).toMatchObject({ total: 50 });
  expect(events.get("demo")).toMatchObject({ ratePerMinute: DEFAULTS.ratePerMinute });
});

test("after a sale that is over the next one is as the one before, but for what is given now; both are told", async () => {
  const first = await start("--seats 50 --rate 600 --lifetime 60 --horizon 10 --fans 7");
  stocks.get("demo")!["sold"] = 50;
  const { sale, notes } = await start("--rate 300", first.sale);
  expect(sale).toMatchObject({ event: "demo-2", lifetimeSeconds: 60, horizonSeconds: 10, fans: 7 });
  expect(stocks.get("demo-2")).toMatchObject({ total: 50, sold: 0 });
  expect(events.get("demo-2")).toMatchObject({ ratePerMinute: 300 });
  expect(notes.join("\n")).toMatch(/demo is over.*demo-2/);
  for (const words of ["50 seats", "300 a minute", "60 s to buy", "10 s ahead", "crowd of 7"]) {
    expect(notes.join("\n")).toContain(words);
  }
});

test.each([
  ["every seat is sold", {}, { sold: 50 }],
  ["an organizer declared it sold out", { state: "soldout", soldoutAt: 1 }, {}],
  ["it has ended", { state: "ended" }, {}],
])("a sale is over when %s", async (_, event, stock) => {
  const first = await start("--seats 50");
  Object.assign(events.get("demo")!, event);
  Object.assign(stocks.get("demo")!, stock);
  expect((await start("", first.sale)).sale.event).toBe("demo-2");
});

test("a sale whose last seats are only held is not over", async () => {
  const first = await start("--seats 50 --fans 9");
  Object.assign(events.get("demo")!, { state: "soldout" });
  Object.assign(stocks.get("demo")!, { sold: 40 });
  const { sale, notes } = await start("", first.sale);
  expect(sale).toMatchObject({ event: "demo", fans: 9 });
  expect(notes.join("\n")).toMatch(/Going on with the sale demo/);
});

test("what a first start of an older version wrote knows no crowd, and goes on", async () => {
  const { sale } = await start("");
  const { fans: _, ...old } = sale;
  expect((await start("", old)).sale).toMatchObject({ event: "demo", fans: DEFAULTS.fans });
  expect((await start("--fans 3", old)).sale).toMatchObject({ fans: 3 });
});

test("pages look every second in a last call, unless the crowd is more than one machine can play", async () => {
  const { sale } = await start("--fans 1000");
  expect(events.get("demo")).toMatchObject({ lastCallSeconds: 600 });
  await start("", sale);
  expect(events.get("demo")).toMatchObject({ lastCallSeconds: 600 });
  const { sale: larger } = await start("--fans 1001", sale);
  expect(events.get("demo")).toMatchObject({ lastCallSeconds: 0 });
  await start("", larger);
  expect(events.get("demo")).toMatchObject({ lastCallSeconds: 0 });
  await start("--fans 10", larger);
  expect(events.get("demo")).toMatchObject({ lastCallSeconds: 600 });
});

test("whether fans are asked is as before, unless it is said: changed while the sale runs, and kept by the next one", async () => {
  const { sale } = await start("");
  expect(events.get("demo")).toMatchObject({ presence: "auto" });
  const { notes } = await start("--presence confirm", sale);
  expect(events.get("demo")).toMatchObject({ presence: "confirm" });
  expect(notes.join("\n")).toContain("asked whether they are there from now on");
  await start("", sale);
  expect(events.get("demo")).toMatchObject({ presence: "confirm" });
  Object.assign(events.get("demo")!, { state: "ended" });
  await start("", sale);
  expect(events.get("demo-2")).toMatchObject({ presence: "confirm" });
});

test("another port is another sale: its links and its hosts are of that port", async () => {
  const { sale } = await start("--seats 5");
  const next = await start("", sale, 9_000);
  expect(next.sale).toMatchObject({ event: "demo-2", portBase: 9_000 });
  expect(stocks.get("demo-2")).toMatchObject({ total: 5 });
  expect(next.notes[0]).toContain("belongs to port 8787");
});

test("an option that cannot change a running sale is told, and one that can is changed", async () => {
  const { sale } = await start("--seats 50 --lifetime 60");
  stocks.get("demo")!["sold"] = 10;
  const more = await start("--seats 60 --rate 30 --lifetime 90", sale);
  expect(stocks.get("demo")).toMatchObject({ total: 60, sold: 10 });
  expect(events.get("demo")).toMatchObject({ ratePerMinute: 30 });
  expect(more.notes.join("\n")).toMatch(/60 seats now[^]*--lifetime stays 60/);
  const fewer = await start("--seats 5", sale);
  expect(fewer.notes.join("\n")).toMatch(/--seats 5 is not possible: 10 are sold/);
  expect(stocks.get("demo")).toMatchObject({ total: 60 });
});
