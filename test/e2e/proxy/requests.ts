/** What of a request reaches the origin. */
import { randomBytes } from "node:crypto";

import { describe, expect, test } from "vitest";

import { statusOf, valueOf } from "../support/wire.ts";
import { type ProxyWorld, inOrder, plainAnswer, expectSame } from "../support/proxy-world.ts";

const METHODS = [
  ...["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY", "PURGE"],
  ...["PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "SEARCH", "REPORT"],
];

const TARGETS = [
  ...["/p", "/p/", "/p/x?", "/p/x?&&=&", "/p/x?a=1&a=2&a[]=3&b", "/p/x?q=%20+b%2B&c=%2f%2F%zz"],
  ...["/p/a%2Fb", "/p/a%2fb", "/p/%20+x", "/p/caf%c3%a9", "/p/%7Etilde%41", "/p/%E2%82%AC"],
  ...["/p/a;v=1/b;w", "/p/a//b/", "/p/x/https://cdn.example/a.png", "/p/:@!$&'()*+,=-._~"],
  ...["/p/a|b[c]", "/p/x?a=|^`{}[]\\/?:@", "/p/x?%F0%9F%8E%AB", "/p/...", "/p/a%252Fb", "/p/%E9"],
  ...[`/p/${"long/".repeat(1_600)}`, `/p/x?${"q".repeat(30_000)}`],
];

export function requests(world: () => ProxyWorld): void {
  describe("a request", () => {
    test.each(METHODS)("%s reaches the origin as it was sent", async (method) => {
      const hasBody = !["GET", "HEAD", "TRACE"].includes(method);
      const request = { start: `${method} /p/x`, ...(hasBody ? { body: "a body" } : {}) };
      await expectSame(world(), request);
      await expectSame(world(), { start: `${method} /p/x` });
    });

    test.each(TARGETS)("%s arrives byte for byte", async (target) => {
      const { seen } = await expectSame(world(), { start: `GET ${target}` });
      expect(seen?.start).toBe(`GET ${target} HTTP/1.1`);
    });

    test.each([
      ['/p/a"b{c}^d', "/p/a%22b%7Bc%7D%5Ed"],
      ["/p/x?it's", "/p/x?it%27s"],
      ["/p/a/../b/./c", "/p/b/c"],
      ["/p/a/%2e%2E/b", "/p/b"],
      ["/p/a\\b", "/p/a/b"],
      ["/p/x#part", "/p/x"],
      ["http://other.example/p/x", "/p/x"],
    ])("%s arrives as the runtime's URL has it: %s", async (target, arrives) => {
      const { seen } = await world().exchange({ start: `GET ${target}` }, plainAnswer);
      expect(seen?.start).toBe(`GET ${arrives} HTTP/1.1`);
    });

    test.each(["FOO /p/x", "get /p/x", "CONNECT /p/x", "OPTIONS *", "GET /p/\xe9", "GET /p/%zz"])(
      "%s: what the runtime or we cannot carry is refused and never reaches the origin",
      async (start) => {
        const { seen, got } = await world().exchange({ start }, plainAnswer);
        expect(seen).toBeUndefined();
        expect(statusOf(got)).toBeGreaterThanOrEqual(400);
      },
    );

    test("headers of every shape arrive, repeated ones in their order", async () => {
      await expectSame(world(), {
        start: "GET /p/x",
        fields: [
          ...["X-Many: 1", "x-many: 2, 3", "X-MANY: 4", "Accept: a/b", "Accept: c/d;q=0.5"],
          ...["X-Empty:", "X-Latin: caf\xe9", "X-Utf: caf\xc3\xa9", "X_Under: 1", "X-Tab: a\tb"],
          ...["!#$%&'*+-.^_`|~: legal", "1: digit", "__proto__: a", "constructor: b", 'X-Q: "\\""'],
          `X-Long: ${"l".repeat(16_000)}`,
          ...[
            "Authorization: Basic YTpi",
            "Proxy-Authorization: Basic YTpi",
            "Via: 1.1 a",
            "DNT: 1",
          ],
          ...["Referer: http://a.example/?b#c", "From: a@b", "Max-Forwards: 3"],
          ...["Date: soon", "Origin: null", "Pragma: no-cache", "Cache-Control: no-cache, x=1"],
          ...["CF-Ray: 1-FRA", "CDN-Loop: cloudflare", "Accept-Language: de;q=0.1, *"],
        ],
      });
    });

    test("what makes it conditional or asks for a part arrives", async () => {
      await expectSame(world(), {
        start: "GET /p/x",
        fields: [
          ...['If-None-Match: "a", W/"b"', "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT"],
          ...["If-Match: *", "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT"],
          ...["Range: bytes=0-1,4-,-2", 'If-Range: "a"'],
        ],
      });
    });

    test.each([["gzip, br;q=0.9, zstd, x-odd"], ["identity;q=1, *;q=0"], [undefined]])(
      "Accept-Encoding: %s arrives as it is",
      async (accepted) => {
        const fields = accepted === undefined ? [] : [`Accept-Encoding: ${accepted}`];
        await expectSame(world(), { start: "GET /p/x", fields });
      },
    );

    test("what is for one hop stays with us: the well known ones, and those that Connection names", async () => {
      const { seen } = await world().exchange(
        {
          start: "GET /p/x",
          fields: [
            ...["Connection: keep-alive, X-Hop, x-other", "X-Hop: 1", "X-Other: 2", "X-Kept: 3"],
            ...["Keep-Alive: timeout=5", "TE: trailers", "Trailer: X-T", "Upgrade: h2c"],
            "Proxy-Connection: keep-alive",
          ],
        },
        plainAnswer,
      );
      const names = seen?.fields.map(([name]) => name.toLowerCase()) ?? [];
      const gone = ["connection", "keep-alive", "te", "trailer", "upgrade", "proxy-connection"];
      for (const name of [...gone, "x-hop", "x-other"]) expect(names).not.toContain(name);
      expect(names).toContain("x-kept");
    });

    test("nobody can have taken away by Connection what the network or we say", async () => {
      const { seen } = await world().exchange(
        {
          start: "POST /p/x",
          fields: [
            "Connection: close, CF-Connecting-IP, X-Forwarded-Host, X-Forwarded-For, Cookie, Host, Content-Length",
            "CF-Connecting-IP: 192.0.2.7",
          ],
          body: "a body",
        },
        plainAnswer,
      );
      expect(inOrder(seen?.fields ?? [])).toEqual(
        expect.arrayContaining([
          "cf-connecting-ip: 192.0.2.7",
          "x-forwarded-for: 192.0.2.7",
          `x-forwarded-host: ${world().host}`,
          "content-length: 6",
          'cookie: shop=a b; basket="1,2"',
        ]),
      );
    });

    test("under the visitor's host, and told by the headers that are configured", async () => {
      const { origin, visitorsEdge } = world();
      const host = `127.0.0.1:${origin.port}`;
      const request = { start: "GET /p/x", host, fields: ["CF-Connecting-IP: 2001:db8::1"] };
      const { seen } = await world().exchange(request, plainAnswer, visitorsEdge.port);
      const lines = inOrder(seen?.fields ?? []).filter((line) =>
        /^(?:host|x-f|x-r|forw)/.test(line),
      );
      expect(lines).toEqual([
        `forwarded: for="[2001:db8::1]";host="${host}";proto=http`,
        `host: ${host}`,
        `x-forwarded-port: ${origin.port}`,
        "x-real-ip: 2001:db8::1",
      ]);
    });

    test("for a host that no event names nobody is asked under it", async () => {
      const request = { start: "GET /about", host: "127.0.0.1:1", isStranger: true };
      const { got } = await world().exchange(request, plainAnswer, world().visitorsEdge.port);
      expect(statusOf(got)).toBe(400);
    });

    test("a header that changes the method does not, where a rule lets the method through", async () => {
      const overrides = [
        "X-HTTP-Method-Override: DELETE",
        "X-HTTP-Method: PUT",
        "X-Method-Override: GET",
      ];
      const names = overrides.map((field) => field.split(":")[0]?.toLowerCase() ?? "");
      const stranger = { fields: overrides, isStranger: true, body: "paid" };
      const hook = await world().exchange({ ...stranger, start: "POST /p/hook" }, plainAnswer);
      expect(names.map((name) => valueOf(hook.seen ?? hook.got, name))).toEqual(
        names.map(() => undefined),
      );
      expect(hook.seen?.body.toString()).toBe("paid");
      const other = await world().exchange({ ...stranger, start: "PUT /p/hook" }, plainAnswer);
      expect([statusOf(other.got), other.seen]).toEqual([429, undefined]);
      await expectSame(world(), { start: "POST /p/x", fields: overrides, body: "a body" });
    });
  });

  describe("a body", () => {
    const LARGE = randomBytes(3_000_000);
    test.each<[string, string | Uint8Array | readonly (string | Uint8Array)[]]>([
      ["of no byte", ""],
      ["of every byte", Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
      ["of 3,000,000 bytes", LARGE],
      ["in one chunk", ["one"]],
      ["in many chunks", ["a", "bc", LARGE, "d"]],
      ["in no chunk", []],
    ])("%s arrives whole, under the length that was stated", async (_, body) => {
      const script = plainAnswer;
      await expectSame(world(), { start: "POST /p/x", body }, script);
      await expectSame(world(), { start: "DELETE /p/x", body }, script);
    });

    test("of a GET stays with us: what it means is not defined", async () => {
      const { seen } = await world().exchange({ start: "GET /p/x", body: "a body" }, plainAnswer);
      expect([
        seen?.body.toString(),
        seen?.fields.filter(([name]) => /^content-l/i.test(name)),
      ]).toEqual(["", []]);
    });

    test("waits for 100 Continue and gets it", async () => {
      const request = { start: "POST /p/x", fields: ["Expect: 100-continue", "Content-Length: 6"] };
      const wire = await world().open(request, async (head, at) => {
        at.write("HTTP/1.1 100 Continue\r\n\r\n");
        const body = await at.body(head);
        at.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body.toString()}`);
      });
      expect((await wire.head())?.start).toBe("HTTP/1.1 100 Continue");
      wire.write("a body");
      expect((await world().answer(wire, request)).body.toString()).toBe("a body");
    });
  });
}
