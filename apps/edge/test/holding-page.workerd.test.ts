/** What somebody who is not admitted gets. */
import { describe, expect, test } from "vitest";
import { epochMs } from "@vestibule/kernel/units";
import { EVENT, HOST, NOW, OWN_PAGE, PAGE_VIEW, VISITOR_A, cookies, createWorld } from "./world.ts";

describe("HP-01: only a page view may get a success status", () => {
  test("a browser's GET: the page, noindex and never stored", async () => {
    const world = await createWorld();
    const response = await world.get("/events/demo?x=1", { headers: PAGE_VIEW });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-robots-tag")).toBe("noindex");
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await response.text()).toContain("Spring concert");
  });
  test.each([
    ["POST", { ...PAGE_VIEW, "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty" }],
    ["POST", { ...PAGE_VIEW, "Sec-Fetch-Mode": "no-cors" }],
    ["POST", { Accept: "*/*" }],
    ["PUT", PAGE_VIEW],
    ["PATCH", PAGE_VIEW],
    ["DELETE", PAGE_VIEW],
  ])("a %s of a script or a webhook: 429", async (method, headers) => {
    const world = await createWorld();
    const response = await world.get("/events/demo", { method, headers, body: "x" });
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    expect(await response.json()).toMatchObject({
      type: "urn:vestibule:problem:waiting",
      join: "/_vestibule/events/demo/tickets",
    });
    expect(world.toOrigin()).toEqual([]);
  });
  test("a script's GET, and one without Accept: 429", async () => {
    const world = await createWorld();
    for (const headers of [
      { Accept: "application/json, text/plain, */*" },
      { Accept: "*/*" },
      {},
    ]) {
      const response = await world.get("/events/demo", { headers });
      expect(response.status).toBe(429);
      expect(response.headers.get("vary")).toContain("Accept");
    }
  });
  test("the organizer's status", async () => {
    const world = await createWorld();
    world.manifest = [{ ...EVENT, holdingStatus: 503 }];
    expect((await world.get("/events/demo", { headers: PAGE_VIEW })).status).toBe(503);
  });
});

test("HP-12: the picture of a page on a protected path takes no cookie and no place", async () => {
  const world = await createWorld();
  const headers = { ...PAGE_VIEW, "Sec-Fetch-Dest": "image" };
  const response = await world.get("/events/demo/a.png", { headers });
  expect(response.status).toBe(429);
  expect(response.headers.getSetCookie()).toEqual([]);
});

test("EP-06, HP-03: HEAD has the head of GET, no body, and takes no place, 1,000 times", async () => {
  const world = await createWorld();
  const get = await world.get("/events/demo", { headers: PAGE_VIEW });
  for (let i = 0; i < 1_000; i += 1) {
    const head = await world.get("/events/demo", { method: "HEAD", headers: PAGE_VIEW });
    if (i > 0) continue;
    expect(head.status).toBe(get.status);
    expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    expect(await head.text()).toBe("");
  }
  expect(world.grants()).toEqual([]);
});

describe("HP-03: preflights", () => {
  const HUGE = { Cookie: "x".repeat(20_000) };
  const preflight = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "content-type",
  };
  test("from a host of the event: answered here, while everything behind is held", async () => {
    const world = await createWorld();
    const headers = { ...preflight, Origin: "https://www.shop.example" };
    const response = await world.get("/events/demo/buy", { method: "OPTIONS", headers });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://www.shop.example");
    expect(response.headers.get("access-control-allow-methods")).toBe("POST");
    expect(response.headers.get("access-control-allow-headers")).toBe("content-type");
    expect(response.headers.get("location")).toBeNull();
    const post = await world.post("/events/demo/buy", {
      headers: { Origin: "https://www.shop.example" },
    });
    expect(post.status).toBe(429);
    expect(post.headers.get("access-control-allow-origin")).toBe("https://www.shop.example");
    expect(post.headers.get("access-control-expose-headers")).toContain("Retry-After");
    expect(world.grants()).toEqual([]);
    expect(world.toOrigin()).toEqual([]);
  });
  test("of our own endpoints, polls too: answered, and every refusal can be read (HP-04)", async () => {
    const world = await createWorld();
    const Origin = "https://www.shop.example";
    for (const name of ["drip", "tickets", "me", "admissions", "purchases"]) {
      const path = `/_vestibule/events/demo/${name}`;
      const asked = { method: "OPTIONS", headers: { ...preflight, Origin } };
      const response = await world.get(path, asked);
      expect([name, response.status]).toEqual([name, 204]);
      expect(response.headers.get("access-control-allow-origin")).toBe(Origin);
    }
    const refusals: [number, Promise<Response>][] = [
      [405, world.post("/_vestibule/events/demo/drip", { headers: { Origin } })],
      [405, world.get("/_vestibule/events/demo/tickets", { headers: { Origin } })],
      [404, world.get("/_vestibule/events/demo/typo", { headers: { Origin } })],
      [403, world.get("/_vestibule/events/demo/me", { headers: { Origin } })],
      [431, world.get("/_vestibule/events/demo/me", { headers: { Origin, ...HUGE } })],
      [431, world.get("/events/demo", { headers: { Origin, ...HUGE } })],
    ];
    for (const [status, answer] of refusals) {
      const response = await answer;
      const { headers } = response;
      expect(response.status).toBe(status);
      expect(headers.get("access-control-allow-origin")).toBe(Origin);
      expect(headers.get("vary")).toContain("Origin");
    }
    const away = await createWorld();
    away.mint = ({ url }) =>
      url.endsWith("/drip") ? new Response("", { status: 500 }) : undefined;
    const poll = await away.get("/_vestibule/events/demo/drip", { headers: { Origin } });
    expect(poll.status).toBe(503);
    expect(poll.headers.get("access-control-allow-origin")).toBe(Origin);
  });
  test("from anywhere else: no header that would let it read or send anything", async () => {
    const world = await createWorld();
    for (const origin of ["https://evil.example", "null", "https://shop.example.evil.example"]) {
      const response = await world.get("/events/demo", {
        method: "OPTIONS",
        headers: { ...preflight, Origin: origin },
      });
      expect(response.status).toBe(204);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
  });
});

describe("EP-14: the way back leads to us, whatever the address says", () => {
  const waysOf = (html: string) =>
    Array.from(html.matchAll(/(?:href|name="return" value)="([^"]*)"/g), ([, to]) => to).filter(
      (to) => to?.startsWith("data:") === false,
    );
  test.each(["//evil.example/", "/\\evil.example/", "/..//evil.example/a", "/.//evil.example"])(
    "%s",
    async (path) => {
      const world = await createWorld();
      world.manifest = [{ ...EVENT, paths: ["/*"] }];
      const response = await world.get(HOST + path, { headers: PAGE_VIEW });
      const ways = waysOf(await response.text());
      expect(ways).toEqual(ways.map(() => "/events/demo"));
      if (response.status === 200) expect(ways).toHaveLength(6);
    },
  );
  test("an ordinary address is kept, query and all", async () => {
    const world = await createWorld();
    const response = await world.get("/events/demo/a?b=c", { headers: PAGE_VIEW });
    expect(waysOf(await response.text())).toEqual(Array(6).fill("/events/demo/a?b=c"));
  });
});

describe("the page", () => {
  test("law 6 of its own: what is inline is named by its hash, nothing comes from elsewhere, not frameable", async () => {
    const world = await createWorld();
    const first = await world.get("/events/demo", { headers: PAGE_VIEW });
    const policy = first.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const html = await first.text();
    const inline = [...html.matchAll(/<(script|style)>([^]*?)<\/\1>/g)];
    expect(inline).toHaveLength(3);
    for (const [, tag, text = ""] of inline) {
      const hash = new Uint8Array(
        await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)),
      );
      const source = `'sha256-${btoa(String.fromCharCode(...hash))}'`;
      expect(policy.split("; ").find((one) => one.startsWith(`${tag}-src`))).toContain(source);
    }
    expect(html).not.toMatch(/\b(?:src|href)="(?:https?:)?\/\/|http-equiv|style="|\son[a-z]+=/i);
  });

  test("EP-10: who has no place is given the bytes of everybody, and a name of their own; what is one person's is nobody else's", async () => {
    const world = await createWorld();
    const view = async (path: string, cookie?: string) => {
      const headers = cookie === undefined ? PAGE_VIEW : { ...PAGE_VIEW, Cookie: cookie };
      const response = await world.get(path, { headers });
      return { html: await response.text(), cookies: response.headers.getSetCookie() };
    };
    const mine = cookies({ visitor: VISITOR_A, ticket: await world.ticket(50) });
    const own = await view("/events/demo", mine);
    const [first, second, other] = [
      await view("/events/demo"),
      await view("/events/demo"),
      await view("/events/demo/seats?row=7"),
    ];
    expect(first.html).toBe(second.html);
    expect([own, first].map(({ html }) => html.includes(">50<"))).toEqual([true, false]);
    expect(own.cookies).toEqual([]);
    expect(first.cookies).toHaveLength(1);
    expect(first.cookies[0]).not.toBe(second.cookies[0]);
    expect([other, first].map(({ html }) => html.includes("row=7"))).toEqual([true, false]);
    world.drip = { state: "soldout" };
    world.now = epochMs(world.now + 1_000);
    await world.get("/_vestibule/events/demo/drip");
    expect((await view("/events/demo")).html.includes("Sold out")).toBe(true);
  });

  test("it is under 14,336 bytes compressed, everything included", async () => {
    const world = await createWorld();
    const ticket = await world.ticket(50);
    const response = await world.get("/events/demo", {
      headers: { ...PAGE_VIEW, Cookie: cookies({ visitor: VISITOR_A, ticket }) },
    });
    const packed = response.body?.pipeThrough(new CompressionStream("gzip"));
    const bytes = (await new Response(packed).arrayBuffer()).byteLength;
    expect(bytes).toBeLessThan(14_336);
  });

  test("AO-06: an event's name is text, in the page and in its data", async () => {
    const world = await createWorld();
    const title = `</script><img src=x onerror=alert(1)>"'{{1}}`;
    world.manifest = [{ ...EVENT, title }];
    world.drip = { notice: title };
    const html = await (await world.get("/events/demo", { headers: PAGE_VIEW })).text();
    expect(html).not.toContain("<img");
    expect(html.match(/<script\b/g)).toHaveLength(3);
    expect(html.match(/<\/script>/g)).toHaveLength(3);
  });

  test("the first view is there without JavaScript: number, people ahead, exact time, forms", async () => {
    const world = await createWorld();
    const page = async (number: number) => {
      const ticket = await world.ticket(number);
      const headers = { ...PAGE_VIEW, Cookie: cookies({ visitor: VISITOR_A, ticket }) };
      return (await world.get("/events/demo?a=1&b=2", { headers })).text();
    };
    const waiting = await page(1_234);
    expect(waiting).toContain(">1,234</b>");
    expect(waiting).toContain('data-state="waiting"');
    expect(waiting).toContain("people ahead");
    expect(waiting).toContain('<a href="/events/demo?a=1&amp;b=2">Look again</a>');
    expect(await page(60)).toContain('data-state="known"');
    const turn = await page(5);
    expect(turn).toContain('data-state="turn"');
    expect(turn).toContain('name="return" value="/events/demo?a=1&amp;b=2"');
    expect(turn).not.toContain("http-equiv");
  });

  test("every state has its words", async () => {
    const world = await createWorld();
    const state = async (number: number | undefined, drip: object, event: object = {}) => {
      world.now = epochMs(world.now + 6_000);
      world.seq += 1;
      world.drip = drip;
      world.manifest = [{ ...EVENT, ...event }];
      const ticket = number === undefined ? undefined : await world.ticket(number);
      const Cookie = cookies({ visitor: VISITOR_A, ...(ticket === undefined ? {} : { ticket }) });
      for (let i = 0; i < 2; i += 1) {
        await world.get("/events/demo", { headers: { ...PAGE_VIEW, Cookie } });
        await world.settle();
      }
      const html = await (
        await world.get("/events/demo", { headers: { ...PAGE_VIEW, Cookie } })
      ).text();
      return /data-state="(\w+)"/.exec(html)?.[1];
    };
    expect(await state(undefined, {})).toBe("joining");
    expect(await state(undefined, { state: "scheduled" }, { startsAt: NOW + 9_000_000 })).toBe(
      "scheduled",
    );
    expect(await state(500, { state: "scheduled", startsAt: NOW + 9_000_000 })).toBe("scheduled");
    expect(await state(500, {})).toBe("waiting");
    const soon = { base: 1, count: 100, from: NOW - 10_000, until: NOW + 60_000 };
    expect(await state(105, { segments: [soon] })).toBe("near");
    expect(await state(60, {})).toBe("known");
    expect(await state(500, { state: "paused", heldSince: NOW - 9_000 })).toBe("paused");
    expect(await state(500, { state: "soldout" })).toBe("soldout");
    expect(await state(500, { state: "ended" })).toBe("ended");
    const old = { base: 1, count: 10, from: NOW - 400_000, until: NOW - 390_000 };
    expect(await state(5, { segments: [old] })).toBe("missed");
    expect(await state(5, { segments: [] })).toBe("passed");
  });
});

describe("HP-10, QP-04: a GET never joins", () => {
  test("50 page views without cookies, and 100 reloads with: no place is taken", async () => {
    const world = await createWorld();
    for (let i = 0; i < 50; i += 1) await world.get("/events/demo", { headers: PAGE_VIEW });
    const Cookie = cookies({ visitor: VISITOR_A, ticket: await world.ticket(9) });
    for (let i = 0; i < 100; i += 1)
      await world.get("/events/demo", { headers: { ...PAGE_VIEW, Cookie } });
    expect(world.grants()).toEqual([]);
  });
  test("a page names the browser once, so that its tabs are one visitor", async () => {
    const world = await createWorld();
    const first = await world.get("/events/demo", { headers: PAGE_VIEW });
    expect(first.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-vst-visitor-demo=[A-Za-z0-9_-]{43}; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    const again = await world.get("/events/demo", {
      headers: { ...PAGE_VIEW, Cookie: cookies({ visitor: VISITOR_A }) },
    });
    expect(again.headers.getSetCookie()).toEqual([]);
  });
  test("a browser that keeps no cookies is told so, and takes no place however often it asks", async () => {
    const world = await createWorld();
    for (let i = 0; i < 5; i += 1) {
      const script = await world.post("/_vestibule/events/demo/tickets", { headers: OWN_PAGE });
      expect(script.status).toBe(400);
      expect(await script.json()).toMatchObject({ reason: "cookies-off" });
      const form = await world.post("/_vestibule/events/demo/tickets", {
        headers: { ...OWN_PAGE, ...PAGE_VIEW, "Content-Type": "application/x-www-form-urlencoded" },
        body: "return=/events/demo",
      });
      expect(form.status).toBe(400);
      expect(await form.text()).toContain('data-state="cookies"');
    }
    expect(world.grants()).toEqual([]);
  });
});

test("EP-10: whatever sets a cookie is private and never stored", async () => {
  const world = await createWorld();
  const responses = [
    await world.get("/events/demo", { headers: PAGE_VIEW }),
    await world.post("/_vestibule/events/demo/tickets", { headers: { Origin: HOST } }),
  ];
  for (const response of responses) {
    expect(response.headers.getSetCookie().length).toBeGreaterThan(0);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
  }
});
