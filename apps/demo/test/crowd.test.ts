/** The crowd against a small line of our own, honest or lying in one way. */
import { once } from "node:events";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

import { afterEach, expect, test, vi } from "vitest";

import { Checks } from "../src/checks.ts";
import { Crowd } from "../src/crowd.ts";

type Lie = "takes-silence" | "same-number" | "sells-twice" | "opens-late" | "new-order";

/** What the line says of the sale. */
let state = "open";
let cuts: { since: number; until: number }[] = [];
/** A hold comes between the first announcement and its claim. */
let holds = false;
let presence: "confirm" | undefined;
let server: Server | undefined;
let crowd: Crowd | undefined;

afterEach(async () => {
  state = "open";
  cuts = [];
  holds = false;
  presence = undefined;
  await crowd?.stop();
  server?.close();
  server?.closeAllConnections();
});

/** Everybody's slot opens when they come; seats do not run out. */
async function startLine(lie?: Lie): Promise<string> {
  let issued = 0;
  let opens = Date.now() - 10_000;
  const orders = new Map<string, string>();
  const spent = new Set<string>();
  server = createServer((request, response) => {
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const { url = "", headers } = request;
    const body = text(request);
    if (url.endsWith("/tickets")) {
      issued += 1;
      const number = lie === "same-number" ? 1 : issued;
      return answer(201, { event: "demo", number, issuedAt: 1, visitor: "v", ticket: `${number}` });
    }
    if (url.endsWith("/drip")) {
      return answer(200, {
        at: Date.now(),
        state,
        presence,
        cuts,
        segments: [{ base: 1, count: 10_000, from: opens, until: opens + 10_000 }],
        committed: 10_000,
        skips: [],
        rate: 600,
        serving: 10_000,
      });
    }
    if (url.endsWith("/admissions")) {
      const n = Number(headers["vestibule-ticket"]);
      if (holds && cuts.length === 0) {
        const until = Date.now() + 1;
        cuts.push({ since: opens - 1, until });
        opens = until;
      }
      const opensAt = opens + (n - 1) + (lie === "opens-late" ? 1 : 0);
      void body.then((sent) =>
        presence === "confirm" && !sent.includes("confirmed") && lie !== "takes-silence"
          ? answer(409, { type: "urn:vestibule:problem:confirm-presence" })
          : answer(201, { opensAt, closesAt: opensAt + 60_000, admission: String(n) }),
      );
      return;
    }
    if (url.endsWith("/purchases")) {
      const admission = String(headers["vestibule-admission"]);
      const key = String(headers["idempotency-key"]);
      const order = lie === "new-order" ? undefined : orders.get(key);
      if (order !== undefined) return answer(201, { orderId: order });
      if (spent.has(admission) && lie === undefined) {
        return answer(409, { type: "urn:vestibule:problem:already-spent" });
      }
      spent.add(admission);
      orders.set(key, `order-${orders.size}-${Math.random()}`);
      return answer(201, { orderId: orders.get(key) });
    }
    return answer(200, "the shop");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function send(edgeUrl: string, checks: Checks): Crowd {
  crowd = new Crowd({
    edgeUrl,
    event: "demo",
    eventPath: "/events/demo",
    sku: "seat",
    fans: 120,
    checks,
    alreadyWaiting: 0,
    ratePerMinute: () => 600,
    isOpen: () => state === "open",
  });
  crowd.start();
  return crowd;
}

test("fans join, get in and buy, and an honest line passes every check", async () => {
  const checks = new Checks();
  const fans = send(await startLine(), checks);
  await vi.waitFor(() => expect(fans.counts.bought).toBeGreaterThan(40), { timeout: 12_000 });
  expect(checks.violations).toEqual([]);
  expect(fans.entries).toBeGreaterThanOrEqual(fans.counts.bought);
  expect(fans.counts.left).toBeGreaterThan(0); // no-shows, and who only looks
  expect(fans.purchases.get("bought")).toBeGreaterThan(40);
}, 20_000);

test.each<Lie>(["same-number", "opens-late", "sells-twice", "new-order"])(
  "canary: a line that lies (%s) is found out",
  async (lie) => {
    const checks = new Checks();
    send(await startLine(lie), checks);
    await vi.waitFor(() => expect(checks.violationCount).toBeGreaterThan(0), { timeout: 15_000 });
  },
  20_000,
);

test("a hold that cuts announced slots is no lie of the line", async () => {
  holds = true;
  const checks = new Checks();
  const claimed = vi.spyOn(checks, "claimed");
  send(await startLine(), checks);
  await vi.waitFor(() => expect(claimed).toHaveBeenCalledWith(expect.objectContaining({ cuts })), {
    timeout: 15_000,
  });
  expect(cuts).toHaveLength(1);
  expect(checks.violations).toEqual([]);
}, 20_000);

test("asked whether they are there, fans press and get in; a line that takes silence for an answer is found out", async () => {
  presence = "confirm";
  const checks = new Checks();
  const fans = send(await startLine(), checks);
  await vi.waitFor(() => expect(fans.counts.bought).toBeGreaterThan(5), { timeout: 25_000 });
  expect(checks.violations).toEqual([]);
  await fans.stop();
  server?.close();
  const lies = new Checks();
  send(await startLine("takes-silence"), lies);
  await vi.waitFor(() => expect(lies.violations.join()).toContain("without saying"), {
    timeout: 15_000,
  });
}, 50_000);

test("nobody comes to a sale that is sold out; when it reopens, buying goes on", async () => {
  const fans = send(await startLine(), new Checks());
  await vi.waitFor(() => expect(fans.purchases.get("bought")).toBeGreaterThan(0), {
    timeout: 15_000,
  });
  state = "soldout";
  // Whoever was inside has tried by now, and whoever joined waits or went home.
  await vi.waitFor(() => expect(fans.counts.inside + fans.counts.joining).toBe(0), {
    timeout: 15_000,
  });
  const bought = fans.purchases.get("bought") ?? 0;
  state = "open";
  await vi.waitFor(() => expect(fans.purchases.get("bought")).toBeGreaterThan(bought), {
    timeout: 15_000,
  });
}, 50_000);

test("sent home, nobody stays", async () => {
  const fans = send(await startLine(), new Checks());
  await vi.waitFor(() => expect(fans.counts.waiting + fans.counts.inside).toBeGreaterThan(0));
  await fans.stop();
  const before = { ...fans.counts };
  expect(fans.counts).toEqual(before);
});
