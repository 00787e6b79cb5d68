import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { Shoppers } from "../src/load/shoppers-handle.ts";
import { Processes } from "../src/processes.ts";
import { tallyText } from "../src/purchase/answers.ts";

interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const shoppers = Array.from({ length: 10 }, (_, index) => ({
  visitor: `visitor-${index}`,
  token: `token-${index}`,
}));

describe("the crowd", () => {
  const processes = new Processes();
  const seen: Seen[] = [];
  /** Sells to these visitors, whenever they ask. */
  let winning = new Set<string>();
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => (body += part));
    request.once("end", () => {
      const { url: path = "", headers } = request;
      seen.push({ path, headers, body });
      const visitor = String(headers["vestibule-visitor"]);
      const sells = winning.has(visitor);
      response.writeHead(sells ? 201 : 409, { "content-type": "application/json" });
      response.end(
        JSON.stringify(sells ? { orderId: `order of ${visitor}` } : { type: "urn:x:sold-out" }),
      );
    });
  });
  let crowd: Shoppers;

  beforeEach(async () => {
    seen.length = 0;
    winning = new Set();
    if (!server.listening) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    crowd = Shoppers.start(processes);
    await crowd.connect([(server.address() as AddressInfo).port], 10);
  });
  afterEach(async () => {
    await processes.stopAll();
    server.closeAllConnections();
  });

  const keys = (): string[] => seen.map(({ headers }) => String(headers["idempotency-key"]));

  it("sends each shopper's purchase once in a rush, with the headers of the wire and keys of their own", async () => {
    winning = new Set(["visitor-3"]);
    const { answers } = await crowd.rush({ event: "sale", sku: "seat", shoppers });
    expect(tallyText(answers)).toBe("1 × 201, 9 × 409 sold-out");
    expect(answers.find(({ said }) => said === "201")).toMatchObject({
      shopper: 3,
      orderId: "order of visitor-3",
    });
    expect(new Set(keys()).size).toBe(10);
    expect(seen[0]).toMatchObject({
      path: "/v1/events/sale/purchases",
      body: '{"sku":"seat","quantity":1}',
    });
    expect(new Set(seen.map(({ headers }) => headers["vestibule-admission"])).size).toBe(10);
  });

  it("shows the user with the shop's token, and neither without a user", async () => {
    const named = [{ visitor: "v", token: "t", user: "user-1" }];
    await crowd.rush({ event: "sale", sku: "seat", shoppers: named, shopToken: "of-the-shop" });
    await crowd.rush({ event: "sale", sku: "seat", shoppers: shoppers.slice(0, 1) });
    const shown = seen.map(({ headers }) => [headers["vestibule-user"], headers.authorization]);
    expect(shown).toEqual([
      ["user-1", "Bearer of-the-shop"],
      [undefined, undefined],
    ]);
  });

  it("sends exactly so many requests when it hammers, and lets go of who has bought", async () => {
    winning = new Set(["visitor-0", "visitor-1"]);
    const order = { event: "sale", sku: "seat", shoppers, requests: 82, doubleEvery: 0 };
    const { answers } = await crowd.hammer(order);
    expect(tallyText(answers)).toBe("2 × 201, 80 × 409 sold-out");
    expect(seen).toHaveLength(82);
    expect(new Set(keys()).size).toBe(82);
  });

  it("ends when everybody has bought", async () => {
    winning = new Set(shoppers.map(({ visitor }) => visitor));
    const order = { event: "sale", sku: "seat", shoppers, requests: 1_000, doubleEvery: 0 };
    expect(tallyText((await crowd.hammer(order)).answers)).toBe("10 × 201");
  });

  it("sends a double click twice with one key, and goes on with new keys", async () => {
    const order = { event: "sale", sku: "seat", shoppers, requests: 40, doubleEvery: 3 };
    await crowd.hammer(order);
    const times = keys().map((key) => keys().filter((other) => other === key).length);
    expect(times.filter((count) => count === 2)).toHaveLength(8);
    expect(times.filter((count) => count === 1)).toHaveLength(32);
  });

  it("keeps its pace until it is halted, and says what it heard", async () => {
    await crowd.pace({ event: "sale", sku: "seat", shoppers, perSecond: 100 });
    while (seen.length < 20) await once(server, "request");
    const { answers } = await crowd.halt();
    expect(answers.length).toBe(seen.length);
    expect(answers.length).toBeGreaterThanOrEqual(20);
  });

  it("says of a server that ends its connections that there was no answer", async () => {
    const [first] = shoppers;
    server.prependOnceListener("request", (request) => request.socket.destroy());
    const { answers } = await crowd.rush({
      event: "sale",
      sku: "seat",
      shoppers: first === undefined ? [] : [first],
    });
    expect(tallyText(answers)).toMatch(/^1 × none: /);
  });
});
