/** Each adapter in front of its real framework, over HTTP; one list of guarantees for all of them. */
import { getRequestListener } from "@hono/node-server";
import type { Admission, Guard } from "@vestibule/guard";
import { requireAdmission as forExpress, admissionOf as ofExpress } from "@vestibule/guard/express";
import { requireAdmission as forFastify, admissionOf as ofFastify } from "@vestibule/guard/fastify";
import { requireAdmission as forHono } from "@vestibule/guard/hono";
import { requireAdmission as forNext, withAdmission } from "@vestibule/guard/next";
import express from "express";
import express4 from "express-4";
import Fastify from "fastify";
import { Hono } from "hono";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Shop, ask, listen } from "./servers.ts";
import { EVENT, OTHER_VISITOR, VISITOR, World, eventOf, requestWith } from "./world.ts";

/** `{ event }` of the path, and what the checkout got to see, body included. */
type Build = (guard: Guard) => Promise<Shop> | Shop;
const sold = (admission: Admission, body: unknown) => ({ number: admission.number, body });
const OWN_PAGE = "please wait your turn";

function expressShop(create: typeof express): Build {
  return (guard) => {
    const app = create();
    app.post("/checkout", forExpress(guard), create.text({ type: "*/*" }), (req, res) => {
      res.json(sold(ofExpress(req), req.body));
    });
    app.post(
      "/sales/:event",
      forExpress(guard, { event: (req) => req.params?.["event"] }),
      (req, res) => {
        res.json(sold(ofExpress(req), ""));
      },
    );
    app.post("/lost", forExpress(guard, { event: () => undefined }), (req, res) => {
      res.json(sold(ofExpress(req), ""));
    });
    app.post(
      "/page",
      forExpress(guard, {
        onRefused: (_refused, _req: express.Request, res: express.Response) => res.send(OWN_PAGE),
      }),
      (_req, res) => void res.end("in"),
    );
    app.post("/forgot", (req, res) => void res.json(ofExpress(req)));
    app.use(((error: Error, _req, res, _next) => {
      res.status(500).send(error.name);
    }) as express.ErrorRequestHandler);
    return listen(app);
  };
}

const fastifyShop: Build = async (guard) => {
  const app = Fastify();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.post("/checkout", { onRequest: forFastify(guard) }, (request) =>
    sold(ofFastify(request), request.body),
  );
  const ofPath = forFastify(guard, { event: ({ params }) => (params as { event: string }).event });
  app.post("/sales/:event", { onRequest: ofPath }, (request) => sold(ofFastify(request), ""));
  const lost = forFastify(guard, { event: () => undefined });
  app.post("/lost", { onRequest: lost }, (request) => sold(ofFastify(request), ""));
  const page = forFastify(guard, {
    onRefused: (_refused, _request, reply) => reply.send(OWN_PAGE),
  });
  app.post("/page", { onRequest: page }, () => "in");
  app.post("/forgot", (request) => ofFastify(request));
  app.setErrorHandler((error: Error, _request, reply) => reply.code(500).send(error.name));
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { url, close: () => app.close() };
};

const honoShop: Build = (guard) => {
  const app = new Hono();
  app.post("/checkout", forHono(guard), async (c) => {
    const admission: Admission = c.get("admission");
    return c.json(sold(admission, await c.req.text()));
  });
  const ofPath = forHono(guard, { event: (c) => c.req.param("event") });
  app.post("/sales/:event", ofPath, (c) => c.json(sold(c.get("admission"), "")));
  const lost = forHono(guard, { event: () => undefined });
  app.post("/lost", lost, (c) => c.json(sold(c.get("admission"), "")));
  app.post("/page", forHono(guard, { onRefused: (_refused, c) => c.text(OWN_PAGE) }), (c) =>
    c.text("in"),
  );
  app.post("/forgot", (c) => {
    if (c.get("admission" as never) === undefined) throw new TypeError("no admission");
    return c.text("in");
  });
  app.onError((error, c) => c.text(error.name, 500));
  return listen((request, response) => void getRequestListener(app.fetch)(request, response));
};

/** Next hands web-standard requests to its handlers: a server that does nothing else. */
const nextShop: Build = (guard) => {
  type Handler = (request: Request, context: object) => Promise<Response>;
  const POST = withAdmission(guard, async (request: Request, _context: object, admission) =>
    Response.json(sold(admission, await request.text())),
  );
  const ofPath = { event: (request: Request) => new URL(request.url).pathname.split("/")[2] };
  const plain = (_request: Request, _context: object, admission: Admission) =>
    Response.json(sold(admission, ""));
  const page = forNext(guard, { onRefused: () => new Response(OWN_PAGE) });
  const routes: Record<string, Handler> = {
    "/checkout": POST,
    "/lost": withAdmission(guard, plain, { event: () => undefined }),
    "/page": async (request) => (await page(request)) ?? new Response("in"),
    "/forgot": () => Promise.reject(new TypeError("no admission")),
  };
  const route: Handler = (request, context) =>
    (routes[new URL(request.url).pathname] ?? withAdmission(guard, plain, ofPath))(
      request,
      context,
    );
  const fetch = (request: Request) =>
    route(request, {}).catch((error: Error) => new Response(error.name, { status: 500 }));
  return listen((request, response) => void getRequestListener(fetch)(request, response));
};

const FRAMEWORKS: [name: string, build: Build][] = [
  ["Express 5", expressShop(express)],
  ["Express 4", expressShop(express4)],
  ["Fastify 5", fastifyShop],
  ["Hono 4", honoShop],
  ["Next (web-standard handlers)", nextShop],
];

describe.each(FRAMEWORKS)("%s", (_name, build) => {
  let world: World;
  let shop: Shop;
  let good: readonly (readonly [string, string])[];

  beforeEach(async () => {
    world = await World.create();
    world.events = [eventOf(EVENT), eventOf("autumn-sale")];
    shop = await build(world.guard({ event: [EVENT, "autumn-sale"] }));
    good = headersOf(await world.admission({ number: 4_711 }));
  });
  afterEach(() => shop.close());

  const headersOf = (admission: string, visitor = VISITOR) =>
    [
      ["Vestibule-Admission", admission],
      ["Vestibule-Visitor", visitor],
    ] as const;

  test("lets a good admission in, as a typed value, its body untouched", async () => {
    const body = "seat=12&note=%C3%BC";
    const answer = await ask(`${shop.url}/checkout`, { headers: good, body });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body)).toEqual({ number: 4_711, body });
  });

  test("answers one dull problem document to everything else", async () => {
    const bodies = new Set<string>();
    for (const headers of [
      [],
      headersOf("a.b.c"),
      headersOf(await world.admission(), OTHER_VISITOR),
      headersOf(await world.admission({ opensAt: world.now - 3_600_000 })),
    ]) {
      const answer = await ask(`${shop.url}/checkout`, { headers, body: "x=1" });
      expect(answer.status).toBe(401);
      expect(answer.headers).toMatchObject({
        // Fastify adds the character set, which changes nothing.
        "content-type": expect.stringMatching(/^application\/problem\+json(; charset=utf-8)?$/),
        "cache-control": "private, no-store",
        "x-content-type-options": "nosniff",
      });
      bodies.add(answer.body);
    }
    expect(bodies.size).toBe(1);
    expect(JSON.parse([...bodies][0] ?? "")).toMatchObject({ status: 401 });
  });

  test("says when to come back while the mint is unknown", async () => {
    world.mint = () => new Response("", { status: 503 });
    const answer = await ask(`${shop.url}/checkout`, { headers: good });
    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "3"]);
  });

  test("refuses a header that comes twice", async () => {
    const [admission, visitor] = good as [readonly [string, string], readonly [string, string]];
    for (const headers of [
      [...good, ["Vestibule-Visitor", OTHER_VISITOR] as const],
      [["Vestibule-Visitor", OTHER_VISITOR] as const, ...good],
      [admission, admission, visitor],
      [...good, visitor],
    ]) {
      expect((await ask(`${shop.url}/checkout`, { headers })).status).toBe(401);
    }
  });

  test("compares the sale of the path, and refuses when the path names none", async () => {
    const status = async (path: string) => (await ask(shop.url + path, { headers: good })).status;
    expect(await status(`/sales/${EVENT}`)).toBe(200);
    expect(await status("/sales/autumn-sale")).toBe(401);
    expect(await status("/sales/winter-sale")).toBe(401);
    expect(await status("/lost")).toBe(401);
  });

  test("shows a page of the shop's own, and only to those who are refused", async () => {
    expect((await ask(`${shop.url}/page`, { headers: [] })).body).toBe(OWN_PAGE);
    expect((await ask(`${shop.url}/page`, { headers: good })).body).toBe("in");
  });

  test("a route that forgot the guard fails, and sells nothing", async () => {
    const answer = await ask(`${shop.url}/forgot`, { headers: good });
    expect([answer.status, answer.body]).toEqual([500, "TypeError"]);
  });
});

test.each([
  ["Express 5", express],
  ["Express 4", express4],
])("%s hears of a guard that throws", async (_name, create) => {
  const world = await World.create();
  const app = create();
  app.use(forExpress(world.guard(), { event: () => thrown() }), (_req, res) => void res.end("in"));
  app.use(((error: Error, _req, res, _next) => {
    res.status(500).send(error.message);
  }) as express.ErrorRequestHandler);
  const shop = await listen(app);
  const answer = await ask(shop.url, { headers: [] });
  await shop.close();
  expect([answer.status, answer.body]).toEqual([500, "the shop's own mistake"]);
});
function thrown(): string {
  throw new Error("the shop's own mistake");
}

describe("where the runtime ends with the request", () => {
  test("Hono hands refreshes to waitUntil", async () => {
    const world = await World.create();
    const app = new Hono().post("/", forHono(world.guard()), (c) => c.text("in"));
    const work: Promise<unknown>[] = [];
    const context = { waitUntil: (each: Promise<unknown>) => void work.push(each) };
    const fetch = async () => {
      const request = requestWith(await world.admission(), VISITOR);
      const more = { passThroughOnException: () => undefined, props: {} };
      return app.fetch(new Request("https://shop.example/", request), {}, { ...context, ...more });
    };
    expect((await fetch()).status).toBe(200);
    world.now += 1_000;
    expect((await fetch()).status).toBe(200);
    expect(work).toHaveLength(1);
    await Promise.all(work);
  });

  test("Next's proxy hands them to its event, and goes on with undefined", async () => {
    const world = await World.create();
    const proxy = forNext(world.guard());
    const work: Promise<unknown>[] = [];
    const event = { waitUntil: (each: Promise<unknown>) => void work.push(each) };
    expect(await proxy(await world.request(), event)).toBeUndefined();
    world.now += 1_000;
    expect(await proxy(await world.request(), event)).toBeUndefined();
    expect(work).toHaveLength(1);
    expect((await proxy(new Request("https://shop.example/")))?.status).toBe(401);
  });
});
