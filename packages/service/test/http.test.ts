import { connect } from "node:net";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import * as z from "zod/mini";
import { AppError } from "@vestibule/kernel/app-error";
import { type ServiceApp, createApp, noStore } from "../src/app.ts";
import { assertBearer } from "../src/bearer.ts";
import { readJsonBytes, sendJson, sendProblem } from "../src/fast-http.ts";
import {
  type HttpServerOptions,
  ListenError,
  type RunningServer,
  startHttpServer,
} from "../src/http-server.ts";
import { decodeJson, readJson } from "../src/json-body.ts";
import { type Log, silentLog } from "../src/log.ts";
import { problem } from "../src/problems.ts";
import { Secret } from "../src/secret.ts";

const schema = z.strictObject({ name: z.string() });
const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop({ graceMs: 100 })));
});

const logged: { event: string; error: unknown }[] = [];
const noted: { event: string; reason: unknown }[] = [];
const log: Log = {
  ...silentLog,
  error: (event, error) => void logged.push({ event, error }),
  info: (event, fields) => void noted.push({ event, reason: fields?.["reason"] }),
};

/** `/slow` and `/fast` read the same JSON, through hono and on the fast path. */
async function start(
  more: Partial<HttpServerOptions> = {},
  routes: (app: ServiceApp) => void = () => {},
): Promise<RunningServer> {
  const app = createApp({ log, checks: { a: () => true } });
  app.post("/slow", async (context) =>
    noStore(context, 201, await readJson(context.req.raw, schema, { bytesMax: 100 })),
  );
  routes(app);
  const server = await startHttpServer({
    host: "127.0.0.1",
    port: 0,
    fetch: app.fetch,
    log,
    fast: (incoming, outgoing) => {
      if (incoming.url !== "/fast") return false;
      void (async () => {
        try {
          const bytes = await readJsonBytes(incoming, { bytesMax: 100 });
          sendJson(outgoing, 201, JSON.stringify(decodeJson(bytes, schema)));
        } catch (error) {
          sendProblem(incoming, outgoing, error, log);
        }
      })();
      return true;
    },
    ...more,
  });
  running.push(server);
  return server;
}

const chunked = (text: string, pieces: number): ReadableStream =>
  new ReadableStream({
    pull(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      pieces -= 1;
      if (pieces === 0) controller.close();
    },
  });

const send = async (url: string, type: string, body: BodyInit) => {
  const init = { method: "POST", headers: { "Content-Type": type }, body, duplex: "half" };
  const answer = await fetch(url, init);
  const read = (await answer.json()) as { type?: string };
  expect(answer.headers.get("cache-control")).toBe("no-store");
  return `${answer.status} ${read.type?.replace("urn:vestibule:problem:", "") ?? "ok"}`;
};

test.each(["/slow", "/fast"])("%s answers what is no good JSON in the same way", async (path) => {
  const url = (await start()).url + path;
  const type = "application/json";
  expect(await send(url, type, '{"name":"a"}')).toBe("201 ok");
  expect(await send(url, "application/json; charset=utf-8", '{"name":"a"}')).toBe("201 ok");
  for (const same of ['charset="UTF-8"', "a=b; Charset=utf8", "charset=us-ascii"]) {
    expect(await send(url, `application/json;${same}`, '{"name":"a"}')).toBe("201 ok");
  }
  for (const other of ["charset=utf-16", 'charset="utf-16le"', "a=b;charset=latin1", "charset="]) {
    const answer = await send(url, `application/json; ${other}`, '{"name":"a"}');
    expect(answer).toBe("415 unsupported-media-type");
  }
  expect(await send(url, type, chunked('{"name":"a"}', 1))).toBe("201 ok");
  expect(await send(url, type, "{")).toBe("400 bad-request");
  expect(await send(url, type, "")).toBe("400 bad-request");
  expect(await send(url, type, new Uint8Array([0x22, 0xff, 0x22]))).toBe("400 bad-request");
  expect(await send(url, type, '{"name":1}')).toBe("400 bad-request");
  expect(await send(url, type, '{"name":"a","__proto__":{}}')).toBe("400 bad-request");
  expect(await send(url, "text/plain", '{"name":"a"}')).toBe("415 unsupported-media-type");
  expect(await send(url, "application/jsonp", '{"name":"a"}')).toBe("415 unsupported-media-type");
  expect(await send(url, type, `"${"x".repeat(200)}"`)).toBe("413 body-too-large");
  expect(await send(url, type, chunked("x".repeat(60), 3))).toBe("413 body-too-large");
});

test("a mistake in a body is named without its value", async () => {
  const { url } = await start();
  const answer = await fetch(`${url}/slow`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: '{"name":["hunter2"],"extra":1}',
  });
  const text = await answer.text();
  expect(JSON.parse(text)).toMatchObject({ errors: [{ field: "name" }, { field: "extra" }] });
  expect(text).not.toContain("hunter2");
});

test("unknown paths are 404, known paths with another method 405 with what is allowed", async () => {
  const { url } = await start();
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
  const wrong = await fetch(`${url}/slow`, { method: "DELETE" });
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
  expect((await fetch(`${url}/healthz`, { method: "HEAD" })).status).toBe(200);
});

test("an unknown error is 500 and logged as one, a decided 503 only noted; neither tells the caller why", async () => {
  const { url } = await start({}, (app) => {
    app.get("/boom", () => {
      throw new Error("password is hunter2");
    });
    app.get("/odd", () => {
      throw new AppError("no-such-code", { detail: "hunter2" });
    });
    app.get("/known", () => {
      throw problem("unavailable", { internal: "hunter2", retryAfterSeconds: 1.2 });
    });
  });
  for (const path of ["/boom", "/odd"]) {
    const answer = await fetch(url + path);
    const text = await answer.text();
    expect([answer.status, text.includes("hunter2")]).toEqual([500, false]);
    expect(logged.at(-1)?.event).toBe("request-failed");
  }
  const errors = logged.length;
  const known = await fetch(`${url}/known`);
  expect([known.status, known.headers.get("retry-after")]).toEqual([503, "2"]);
  expect(await known.text()).not.toContain("hunter2");
  expect(logged).toHaveLength(errors);
  expect(noted).toEqual([{ event: "request-unavailable", reason: "hunter2" }]);
});

test("what is only noted is shown, and never makes an instance unready", async () => {
  const down = () => false;
  const notes = {
    store: down,
    other: () => Promise.reject(new Error("broken")),
    third: () => true,
  };
  const ready = createApp({ log, checks: { a: () => true }, notes });
  const answer = await ready.request("/readyz");
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({
    ready: true,
    checks: { a: true },
    notes: { store: false, other: false, third: true },
  });
  const unready = createApp({ log, checks: { a: down }, notes: { store: () => true } });
  const refused = await unready.request("/readyz");
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ ready: false, notes: { store: true } });
});

test("not ready is 503 with the name of what is missing, and floods no log", async () => {
  const lines = [logged.length, noted.length];
  const app = createApp({
    log,
    checks: { a: () => true, b: () => Promise.reject(new Error("away")) },
  });
  const answer = await app.request("/readyz");
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ ready: false, checks: { a: true, b: false } });
  expect([logged.length, noted.length]).toEqual(lines);
});

test("a taken port is said in words", async () => {
  const { port } = await start();
  const second = start({ port });
  await expect(second).rejects.toThrow(ListenError);
  await expect(second).rejects.toThrow(`127.0.0.1:${port} is in use`);
});

test("a stop lets accepted requests finish, closes idle connections and takes no new one", async () => {
  const release = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const server = await start({}, (app) => {
    app.get("/wait", async (context) => {
      arrived.resolve();
      await release.promise;
      return noStore(context, 200, { done: true });
    });
  });
  const idle = connect(server.port, "127.0.0.1");
  await once(idle, "connect");
  idle.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  await once(idle, "data");
  const waiting = fetch(`${server.url}/wait`);
  await arrived.promise;
  const stopped = server.stop({ graceMs: 5_000 });
  await once(idle, "close");
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow("fetch failed");
  release.resolve();
  expect(await (await waiting).json()).toEqual({ done: true });
  await stopped;
});

test("a stop ends in bounded time when a request never ends", async () => {
  const arrived = Promise.withResolvers<void>();
  const server = await start({}, (app) => {
    app.get("/never", () => {
      arrived.resolve();
      return new Promise<Response>(() => {});
    });
  });
  const lost = Promise.allSettled([fetch(`${server.url}/never`)]);
  await arrived.promise;
  const startedAt = performance.now();
  await server.stop({ graceMs: 100 });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  expect(await lost).toMatchObject([{ status: "rejected" }]);
});

/** Sends bytes as they are; what comes back until the connection's end. */
async function raw(
  port: number,
  text: string,
): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  let answer = "";
  socket.setEncoding("utf8").on("data", (part: string) => (answer += part));
  socket.on("error", () => {});
  await once(socket, "close");
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), head, body };
}

const HEAD = "Host: x\r\nContent-Type: application/json\r\n";
test.each([
  [
    "a body that trickles in, through hono",
    "request-timeout",
    `POST /slow HTTP/1.1\r\n${HEAD}Content-Length: 90\r\n\r\n{`,
  ],
  [
    "a body that trickles in, on the fast path",
    "request-timeout",
    `POST /fast HTTP/1.1\r\n${HEAD}Content-Length: 90\r\n\r\n{`,
  ],
  [
    "a body in pieces that never ends",
    "request-timeout",
    `POST /fast HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
  ],
  ["a head that trickles in", "request-timeout", "GET /healthz HTTP/1.1\r\nHo"],
  [
    "a head that is too large",
    "head-too-large",
    `GET /healthz HTTP/1.1\r\nHost: x\r\nCookie: ${"c".repeat(33_000)}\r\n\r\n`,
  ],
  [
    "a length that is no number",
    "bad-request",
    `POST /slow HTTP/1.1\r\n${HEAD}Content-Length: ten\r\n\r\n{}`,
  ],
  [
    "two lengths",
    "bad-request",
    `POST /slow HTTP/1.1\r\n${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  ],
  ["what is not HTTP", "bad-request", "\u0016\u0003\u0001 hello\r\n\r\n"],
  ["no Host, through hono", "bad-request", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"],
  ["no Host, on the fast path", "bad-request", "POST /fast HTTP/1.1\r\nConnection: close\r\n\r\n"],
  [
    "a Host that is none",
    "bad-request",
    "GET /healthz HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n",
  ],
] as const)(
  "%s is refused with %s, as a problem document, and the connection ends",
  async (_, code, text) => {
    const { port } = await start({ requestTimeoutMs: 300, headTimeoutMs: 200 });
    const { status, head, body } = await raw(port, text);
    expect(JSON.parse(body)).toMatchObject({ type: `urn:vestibule:problem:${code}`, status });
    expect(head).toMatch(/^Content-Type: application\/problem\+json$/im);
    expect(head).toMatch(/^Connection: close$/im);
    expect(head).toMatch(/^Cache-Control: no-store$/im);
    const length = /^Content-Length: (\d+)$/im.exec(head)?.[1];
    if (length !== undefined) expect(Number(length)).toBe(Buffer.byteLength(body));
  },
);

test("an answer that has begun is not written into", async () => {
  const begun = Promise.withResolvers<void>();
  const { port } = await start({ requestTimeoutMs: 300, headTimeoutMs: 200 }, (app) => {
    app.post("/begin", () => {
      begun.resolve();
      return new Response(
        new ReadableStream({ start: (body) => body.enqueue(Buffer.from("part")) }),
      );
    });
  });
  const { status, head, body } = await raw(
    port,
    `POST /begin HTTP/1.1\r\n${HEAD}Content-Length: 90\r\n\r\n{`,
  );
  expect(status).toBe(200);
  expect(head + body).not.toContain("408");
});

test("an Expect that nobody knows is no reason to refuse", async () => {
  const { port } = await start();
  const { status } = await raw(
    port,
    "GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: wonders\r\nConnection: close\r\n\r\n",
  );
  expect(status).toBe(200);
});

test.each([
  undefined,
  "",
  "Bearer",
  "Bearer ",
  "Basic abc",
  "Bearer wrong",
  "Bearer right x",
  "right",
])("the bearer token %j opens nothing", (header) => {
  expect(() => assertBearer(header, new Secret("right"))).toThrow(
    expect.objectContaining({ code: "unauthorized" }),
  );
});

test("the right bearer token opens, however the scheme is written", () => {
  for (const scheme of ["Bearer", "bearer", "BEARER"]) {
    expect(() => assertBearer(`${scheme} right`, new Secret("right"))).not.toThrow();
  }
});
