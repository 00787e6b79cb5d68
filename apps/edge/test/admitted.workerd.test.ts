/** What reaches the origin of an admitted fan, and what comes back. */
import { describe, expect, test } from "vitest";
import {
  EVENT,
  PAGE_VIEW,
  VISITOR_A,
  VISITOR_B,
  type World,
  cookies,
  createWorld,
} from "./world.ts";

async function admitted(): Promise<{ world: World; headers: Record<string, string> }> {
  const world = await createWorld();
  const admission = await world.admission();
  return { world, headers: { Cookie: cookies({ visitor: VISITOR_A, admission }) } };
}

test("by cookie and by header, and never by a mixture of both", async () => {
  const { world, headers } = await admitted();
  const admission = await world.admission();
  const byHeader = { "Vestibule-Admission": admission, "Vestibule-Visitor": VISITOR_A };
  expect((await world.get("/events/demo", { headers })).status).toBe(200);
  expect((await world.get("/events/demo", { headers: byHeader })).status).toBe(200);
  const mixed = { ...headers, "Vestibule-Visitor": VISITOR_B };
  expect((await world.get("/events/demo", { headers: mixed })).status).toBe(429);
});

test("method, query, headers and body arrive; ours are taken out, the verified ones added", async () => {
  const { world, headers } = await admitted();
  const admission = await world.admission();
  await world.post("/events/demo/buy?seat=1&seat=%2F2", {
    headers: {
      Cookie: `a=1; ${headers["Cookie"]}; session=x%20y`,
      "Content-Type": "text/plain",
      Range: "bytes=0-9",
      "If-None-Match": '"abc"',
      "Vestibule-Mode": "token",
      "Vestibule-Anything": "1",
      "Vestibule-Admission": admission,
      "Vestibule-Visitor": VISITOR_A,
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "gopher",
    },
    body: "hello",
  });
  const [sent] = world.toOrigin();
  expect(sent?.url).toBe("https://origin.internal/events/demo/buy?seat=1&seat=%2F2");
  expect(sent).toMatchObject({ method: "POST", body: "hello", redirect: "manual" });
  expect(Object.fromEntries(sent?.headers ?? [])).toMatchObject({
    cookie: "a=1; session=x%20y",
    "content-type": "text/plain",
    range: "bytes=0-9",
    "if-none-match": '"abc"',
    "vestibule-admission": admission,
    "vestibule-visitor": VISITOR_A,
    "x-forwarded-host": "shop.example",
    "x-forwarded-proto": "https",
  });
  expect([...(sent?.headers.keys() ?? [])].filter((name) => name.startsWith("vestibule-"))).toEqual(
    ["vestibule-admission", "vestibule-visitor"],
  );
});

test("a client's own Vestibule headers never reach the origin, on unprotected paths either", async () => {
  const { world } = await admitted();
  const forged = { "Vestibule-Admission": "forged", "Vestibule-Visitor": VISITOR_A };
  expect((await world.get("/about", { headers: { ...forged, Cookie: "x=1" } })).status).toBe(200);
  const [sent] = world.toOrigin();
  expect([...(sent?.headers.keys() ?? [])].some((name) => name.startsWith("vestibule-"))).toBe(
    false,
  );
  expect(sent?.headers.get("cookie")).toBe("x=1");
});

test("no header with which a client could claim another address, host or path reaches the origin", async () => {
  const { world, headers } = await admitted();
  const forged = [
    ...["Forwarded", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Port", "X-Forwarded-Prefix"],
    ...["X-Original-URL", "X-Original-Host", "X-Rewrite-URL", "X-Host", "X-Real-IP"],
    ...["X_Forwarded_Host", "X-Forwarded_Proto", "Vestibule_Admission", "vestibule_visitor"],
  ];
  const kept = { "X-Requested-With": "fetch", "X-Hostess": "1", "X-Forwarding": "1", Via: "1.1 a" };
  const sent = { ...Object.fromEntries(forged.map((name) => [name, "evil"])), ...kept };
  for (const path of ["/events/demo", "/about"]) {
    await world.get(path, { headers: { ...headers, ...sent } });
  }
  await world.get("/about", { headers: { "CF-Connecting-IP": "192.0.2.7" } });
  const [one, two, three] = world.toOrigin().map((request) => Object.fromEntries(request.headers));
  for (const seen of [one, two]) {
    expect(Object.values(seen ?? {})).not.toContain("evil");
    expect(seen).toMatchObject({ "x-forwarded-host": "shop.example", "x-requested-with": "fetch" });
    for (const name of Object.keys(kept)) expect(seen).toHaveProperty(name.toLowerCase());
    expect(seen).not.toHaveProperty("x-forwarded-for");
  }
  expect(three).toMatchObject({ "x-forwarded-for": "192.0.2.7" });
});

test("headers arrive as they were sent, whatever their names, and those that are no text as well", async () => {
  const { world, headers } = await admitted();
  const odd = { ["__proto__"]: "a", constructor: "b", "1": "c", "X-Tab": "a\tb", "X-Empty": "" };
  const forged = { "X-Forwarded-Host": "evil", "Vestibule-Mode": "evil", "X-Real-IP": "evil" };
  const sent = new Headers({ ...headers, ...odd, ...forged, "CF-Connecting-IP": "192.0.2.7" });
  await world.get("/events/demo", { headers: sent });
  // One header that may come several times, or bytes that are no UTF-8: then all of them are copied.
  const twice = new Headers(sent);
  twice.append("Set-Cookie", "a=1");
  twice.append("Set-Cookie", "b=2");
  await world.get("/events/demo", { headers: twice });
  const bytes = new Headers(sent);
  bytes.set("X-Bytes", "caf\ufffd");
  await world.get("/events/demo", { headers: bytes });
  await world.get("/about", { headers: { Cookie: "shop=\ufffd; vst-visitor-other=x" } });
  await world.get("/about", { headers: { Cookie: "shop=\ufffd" } });
  const [text, cookies, unsaid, cut, whole] = world.toOrigin().map((request) => request.headers);
  for (const seen of [text, cookies, unsaid]) {
    const entries = [...(seen ?? [])];
    for (const [name, value] of Object.entries(odd)) {
      expect(entries).toContainEqual([name.toLowerCase(), value]);
    }
    expect(entries.map(([, value]) => value)).not.toContain("evil");
    expect(Object.fromEntries(entries)).toMatchObject({
      "x-forwarded-host": "shop.example",
      "x-forwarded-for": "192.0.2.7",
      "vestibule-visitor": VISITOR_A,
    });
    expect(seen?.has("cookie")).toBe(false);
  }
  expect(cookies?.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(unsaid?.get("x-bytes")).toBe("caf\ufffd");
  expect([cut, whole].map((seen) => seen?.get("cookie"))).toEqual(["shop=\ufffd", "shop=\ufffd"]);
});

test("what passes by a bypass rule is counted by rule, and nothing else is", async () => {
  const { world, headers } = await admitted();
  const exempted = async () =>
    (await (await world.get("/_vestibule/health")).json<{ exempted: unknown }>()).exempted;
  world.manifest = [
    { ...EVENT, bypass: [{ paths: ["/events/demo/health"] }, ...EVENT.bypass] },
    { ...EVENT, event: "other", paths: ["/other"], bypass: [] },
  ];
  expect(await exempted()).toEqual({});
  for (const path of ["/about", "/events/demo", "/events/demo/logo.svg", "/events/demo/logo.svg"]) {
    expect((await world.get(path, { headers })).status).toBe(200);
  }
  await world.post("/events/demo/logo.svg", { body: "no" });
  await world.get("/other");
  expect(await exempted()).toEqual({ demo: [0, 2] });
  await world.get("/events/demo/health");
  expect(await exempted()).toEqual({ demo: [1, 2] });
});

test("a fault of ours is a 500, at once and later, and opens nothing", async () => {
  const { world, headers } = await admitted();
  const breaking = (path: string, readsLeft: number): Request => {
    const request = new Request(`https://shop.example${path}`);
    let left = readsLeft;
    return new Proxy(request, {
      get: (target, name) => {
        if (name === "headers" && left-- === 0) throw new Error("broken");
        const value: unknown = Reflect.get(target, name, target);
        return value;
      },
    });
  };
  // The first request of a location waits for what it must know; the others wait for nothing.
  for (const reads of [1, 0, 1]) {
    const answer = world.edge.fetch(breaking("/events/demo", reads), {
      waitUntil: () => undefined,
    });
    expect((await answer).status).toBe(500);
  }
  expect(world.toOrigin()).toEqual([]);
  expect((await world.get("/events/demo", { headers })).status).toBe(200);
});

describe("bodies", () => {
  test.each(["GET", "HEAD"])("a %s has none, whatever its head says", async (method) => {
    const { world, headers } = await admitted();
    const request = new Request("https://shop.example/events/demo", {
      method: "POST",
      body: "hi",
      headers: { ...headers, "Content-Length": "2" },
    });
    // No client of this runtime can make one; its server can.
    const odd = new Proxy(request, {
      get: (target, name) => {
        if (name === "method") return method;
        const value: unknown = Reflect.get(target, name, target);
        return value;
      },
    });
    const response = await world.edge.fetch(odd, { waitUntil: () => undefined });
    expect(response.status).toBe(200);
    const [sent] = world.toOrigin();
    expect(sent).toMatchObject({ method, body: "" });
    expect(sent?.headers.has("content-length")).toBe(false);
  });
  test("one that breaks on its way to us is the client's fault: 400; the origin's going away is not: 502", async () => {
    const { world, headers } = await admitted();
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode("hi"));
      },
      pull: (controller) => {
        controller.error(new TypeError("malformed chunk"));
      },
    });
    let abandoned = false;
    world.whenAborted = () => {
      abandoned = true;
    };
    expect((await world.post("/events/demo/buy", { headers, body })).status).toBe(400);
    // What arrived of it must not look like all of it to the origin.
    expect([abandoned, world.toOrigin()]).toEqual([true, []]);
    world.origin = () => Promise.reject(new Error("gone"));
    expect((await world.post("/events/demo/buy", { headers, body: "hi" })).status).toBe(502);
  });
});

describe("what the origin answers is what the fan gets", () => {
  test.each([301, 302, 303, 307, 308])("EP-01: %i is not followed", async (status) => {
    const { world, headers } = await admitted();
    world.origin = () =>
      new Response(null, {
        status,
        headers: [
          ["Location", "https://pay.example/x?y=1"],
          ["Set-Cookie", "a=1"],
          ["Set-Cookie", "b=2; Expires=Wed, 21 Oct 2027 07:28:00 GMT"],
        ],
      });
    const response = await world.post("/events/demo/buy", { headers, body: "x" });
    expect(response.status).toBe(status);
    expect(response.headers.get("location")).toBe("https://pay.example/x?y=1");
    expect(response.headers.getSetCookie()).toEqual([
      "a=1",
      "b=2; Expires=Wed, 21 Oct 2027 07:28:00 GMT",
    ]);
    expect(world.toOrigin()).toHaveLength(1);
  });

  test.each([204, 205, 304, 404, 500, 503])(
    "EP-06: status %i passes, with every header",
    async (status) => {
      const { world, headers } = await admitted();
      const body = status < 400 ? null : "oops";
      world.origin = () =>
        new Response(body, { status, headers: { ETag: '"1"', "Cache-Control": "max-age=9" } });
      const response = await world.get("/events/demo", { headers: { ...PAGE_VIEW, ...headers } });
      expect(response.status).toBe(status);
      expect(response.headers.get("etag")).toBe('"1"');
      expect(response.headers.get("cache-control")).toBe("max-age=9");
      expect(response.headers.getSetCookie()).toEqual([]);
      expect(await response.text()).toBe(body ?? "");
    },
  );

  test("EP-07: a WebSocket opens for who is admitted, and others get a plain refusal", async () => {
    const { world, headers } = await admitted();
    world.origin = () => {
      const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
      server.accept();
      return new Response(null, {
        status: 101,
        webSocket: client,
        headers: { "Set-Cookie": "s=1" },
      });
    };
    const upgrade = { Upgrade: "websocket", Connection: "Upgrade", ...PAGE_VIEW };
    const open = await world.get("/events/demo/seats", { headers: { ...headers, ...upgrade } });
    expect(open.status).toBe(101);
    expect(open.webSocket).not.toBeNull();
    const refused = await world.get("/events/demo/seats", { headers: upgrade });
    expect(refused.status).toBe(429);
    expect(refused.headers.get("content-type")).toBe("application/problem+json");
  });
});

describe("AO-10: an origin in trouble is never answered with the holding page", () => {
  test("it cannot be reached: 502", async () => {
    const { world, headers } = await admitted();
    world.origin = () => Promise.reject(new Error("refused"));
    const response = await world.get("/events/demo", { headers: { ...PAGE_VIEW, ...headers } });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({
      type: "urn:vestibule:problem:origin-unreachable",
    });
  });
  test("it sends no head within the deadline: 504", async () => {
    const world = await createWorld({ config: { originDeadlineMs: 100 } });
    const admission = await world.admission();
    world.origin = () =>
      new Promise((_resolve, reject) => {
        world.whenAborted = () => reject(new Error("aborted"));
      });
    const response = await world.get("/events/demo", {
      headers: { Cookie: cookies({ visitor: VISITOR_A, admission }) },
    });
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ type: "urn:vestibule:problem:origin-timeout" });
  });
});

describe("holds", () => {
  const since = 1_800_000_000_000;
  test("entries: whoever's slot opened before goes on, whoever's opened after is out", async () => {
    const world = await createWorld();
    world.drip = { heldSince: since - 30_000, heldScope: "entries" };
    const before = await world.admission({ number: 1, opensAt: since - 31_000 });
    const after = await world.admission({ number: 2, opensAt: since - 20_000 });
    const show = async (admission: string) =>
      (
        await world.get("/events/demo", {
          headers: { Cookie: cookies({ visitor: VISITOR_A, admission }) },
        })
      ).status;
    expect([await show(before), await show(after)]).toEqual([200, 429]);
    expect([await show(before), await show(after)]).toEqual([200, 429]);
  });

  test("after the resume a token of a cut slot is void, and one signed anew is good", async () => {
    const world = await createWorld();
    world.drip = { cuts: [{ since: since - 60_000, until: since - 30_000 }] };
    const stale = await world.admission({ opensAt: since - 50_000, iat: since / 1000 - 70 });
    const fresh = await world.admission({ opensAt: since - 20_000, iat: since / 1000 - 25 });
    const show = async (admission: string) =>
      (
        await world.get("/events/demo", {
          headers: { Cookie: cookies({ visitor: VISITOR_A, admission }) },
        })
      ).status;
    expect([await show(stale), await show(fresh)]).toEqual([429, 200]);
  });
});
