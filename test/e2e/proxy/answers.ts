/** What of the origin's answer reaches the client. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

import { describe, expect, test } from "vitest";

import { statusOf, valueOf } from "../support/wire.ts";
import {
  type ProxyWorld,
  inChunk,
  inOrder,
  lastWords,
  saying,
  expectSame,
} from "../support/proxy-world.ts";

const GET = { start: "GET /p/x" };

/** One answer in one piece. */
function answer(status: string, fields: readonly string[] = [], body: string | Uint8Array = "") {
  const head = [`HTTP/1.1 ${status}`, ...fields, `Content-Length: ${body.length}`];
  return saying(`${head.join("\r\n")}\r\n\r\n`, body);
}

const STATUSES = [
  ...["200 OK", "201 Made So", "202 Accepted", "203 Other", "206 Partial Content", "207 Multi"],
  ...["226 IM Used", "299 Odd", "300 Several", "305 Use Proxy", "400 Bad", "401 Who", "402 Pay"],
  ...["403 No", "404 Gone?", "405 Method", "409 Conflict", "410 Gone", "416 Range", "418 Teapot"],
  ...["421 Misdirected", "422 Odd", "425 Early", "429 Slow", "431 Large", "451 Law", "499 Odd"],
  ...[
    "500 Oops",
    "501 What",
    "502 Behind",
    "503 Busy",
    "504 Late",
    "511 Log In",
    "599 Odd",
    "999 X",
  ],
];

export function answers(world: () => ProxyWorld): void {
  describe("an answer", () => {
    test.each(STATUSES)("%s passes with its words, headers and body", async (status) => {
      const script = answer(status, ['ETag: "1"', "Cache-Control: max-age=9"], "its body");
      await expectSame(world(), GET, script);
    });

    test.each([
      ["204 No Content", []],
      ["304 Not Modified", ['ETag: W/"1"', "Vary: a", "Cache-Control: max-age=9"]],
    ])("%s has no body", async (status, fields) => {
      const head = [`HTTP/1.1 ${status}`, ...fields].join("\r\n");
      await expectSame(world(), GET, saying(`${head}\r\n\r\n`));
    });

    test("204, 205 and 304 have none even where the origin sends one, and nothing of it is taken for an answer", async () => {
      const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
      for (const status of ["204 No Content", "205 Reset Content", "304 Not Modified"]) {
        const said = lastWords(
          `HTTP/1.1 ${status}\r\nContent-Length: ${evil.length}\r\n\r\n${evil}`,
        );
        const { got } = await world().exchange(GET, said);
        expect([got.start, got.body.length]).toEqual([`HTTP/1.1 ${status}`, 0]);
        expect(["0", undefined]).toContain(valueOf(got, "content-length"));
      }
    });

    test("a HEAD is told how long the body would be, and how it would be encoded", async () => {
      const head =
        'HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nContent-Encoding: br\r\nETag: "1"\r\n\r\n';
      await expectSame(world(), { start: "HEAD /p/x" }, saying(head));
      await expectSame(
        world(),
        { start: "HEAD /p/x" },
        saying("HTTP/1.1 404 No\r\nContent-Type: a/b\r\n\r\n"),
      );
    });

    test("every header passes, each Set-Cookie by itself, in order, byte for byte", async () => {
      const fields = [
        ...["Set-Cookie: a=1; Expires=Wed, 21 Oct 2027 07:28:00 GMT; Path=/", 'set-cookie: b="2"'],
        ...[
          "Set-Cookie: a=3; Domain=.example; Partitioned",
          "SET-COOKIE: =; ,;",
          "Set-Cookie: caf\xe9=1",
        ],
        ...[
          "Vary: a",
          "Vary: b",
          "Link: <a>; rel=preload",
          "Link: <b>",
          "X-Empty:",
          "X-Latin: caf\xe9",
        ],
        ...[
          "X-Utf: caf\xc3\xa9",
          "x-low: 1",
          'WWW-Authenticate: Basic realm="a", Digest',
          "Server: s",
        ],
        ...["Date: Mon, 01 Jan 2001 00:00:00 GMT", "Age: 3", "Cache-Control: public, max-age=60"],
        ...["Content-Type: text/html; charset=x", 'Alt-Svc: h3=":443"', "Accept-Ranges: none"],
        ...["Content-Security-Policy: default-src 'self'", "Access-Control-Allow-Origin: *"],
        ...["Strict-Transport-Security: max-age=1", "Server-Timing: a;dur=1", "Via: 1.1 behind"],
        ...["CF-Cache-Status: HIT", "Vestibule-Anything: 1", `X-Long: ${"l".repeat(60_000)}`],
        "Content-Disposition: attachment; filename*=UTF-8''%e2%82%ac.txt",
      ];
      for (const status of ["200 OK", "302 Found", "500 Oops"]) {
        await expectSame(world(), GET, answer(status, fields, "its body"));
      }
      const bare = ["HTTP/1.1 304 Not Modified", ...fields].join("\r\n");
      await expectSame(world(), GET, saying(`${bare}\r\n\r\n`));
    });

    test("what is for one hop stays with us: the well known headers, and those that Connection names", async () => {
      const fields = [
        ...["Connection: keep-alive, X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "Trailer: X-T"],
        ...["Set-Cookie: a=1", "Set-Cookie: b=2", "X-Kept: 1"],
      ];
      const { got } = await world().exchange(GET, answer("200 OK", fields, "ok"));
      expect(inOrder(got.fields)).toEqual([
        "content-length: 2",
        "x-kept: 1",
        "set-cookie: a=1",
        "set-cookie: b=2",
      ]);
    });

    test.each([
      ["gzip", gzipSync("compressed")],
      ["br", brotliCompressSync("compressed")],
      ["zstd", zstdCompressSync("compressed")],
      ["deflate", deflateSync("compressed")],
      ["gzip, br", brotliCompressSync(gzipSync("twice"))],
      ["x-unheard-of", Buffer.from("odd")],
      ["identity", Buffer.from("plain")],
      ["gzip", Buffer.from("this is no gzip")],
      ["gzip", gzipSync(Buffer.alloc(2_000_000, "large"))],
      ["br", Buffer.alloc(0)],
    ])("compressed by %s: untouched, byte for byte", async (encoding, body) => {
      const fields = [`Content-Encoding: ${encoding}`, 'ETag: "strong"', "Vary: Accept-Encoding"];
      for (const accepted of ["gzip, br, zstd", "identity", undefined]) {
        const asking = accepted === undefined ? [] : [`Accept-Encoding: ${accepted}`];
        await expectSame(world(), { ...GET, fields: asking }, answer("200 OK", fields, body));
      }
      const chunked = ["HTTP/1.1 200 OK", ...fields, "Transfer-Encoding: chunked"].join("\r\n");
      const chunks = body.length === 0 ? [] : [inChunk(body)];
      await expectSame(world(), GET, saying(`${chunked}\r\n\r\n`, ...chunks, "0\r\n\r\n"));
    });

    test("of a part, of several parts, and of none that there is", async () => {
      const fields = ["Range: bytes=0-1", 'If-Range: "1"'];
      const one = answer("206 Partial Content", ["Content-Range: bytes 0-1/9", 'ETag: "1"'], "ab");
      await expectSame(world(), { ...GET, fields }, one);
      const part = (range: string) =>
        `--x\r\nContent-Type: a/b\r\nContent-Range: bytes ${range}/9\r\n\r\n`;
      const parts = `${part("0-0")}a\r\n${part("2-3")}cd\r\n--x--\r\n`;
      const several = answer(
        "206 Partial Content",
        ["Content-Type: multipart/byteranges; boundary=x"],
        parts,
      );
      await expectSame(world(), { ...GET, fields: ["Range: bytes=0-0,2-3"] }, several);
      const none = answer("416 Range Not Satisfiable", ["Content-Range: bytes */9"], "");
      await expectSame(world(), { ...GET, fields: ["Range: bytes=10-"] }, none);
      // A server may ignore the range.
      await expectSame(world(), { ...GET, fields }, answer("200 OK", [], "abcdefghi"));
    });

    test.each([301, 302, 303, 307, 308])(
      "EP-01: %i is passed on and not followed",
      async (status) => {
        const { origin } = world();
        const before = origin.heads.length;
        const to = [
          ...[
            "/p/y?a=b#c",
            "y",
            "//other.example/",
            "https://pay.example/x?y=1",
            "HTTP://A.example:80/../x",
          ],
          ...["/caf\xc3\xa9 x", "javascript:alert(1)", `http://127.0.0.1:${origin.port + 1}/x`],
        ];
        for (const location of to) {
          const fields = [`Location: ${location}`, "Set-Cookie: a=1", "Set-Cookie: b=2, 3"];
          await expectSame(
            world(),
            { start: "POST /p/x", body: "a form" },
            answer(`${status} To`, fields, "moved"),
          );
        }
        expect(origin.heads.length - before).toBe(2 * to.length);
      },
    );

    test("EP-03: an address of the origin's own, which nobody can reach, becomes the public one", async () => {
      const { origin, host, visitorsEdge } = world();
      const internal = `http://127.0.0.1:${origin.port}`;
      const fields = [
        "Set-Cookie: a=1; Expires=Wed, 21 Oct 2027 07:28:00 GMT",
        "Set-Cookie: b=2",
        "Content-Encoding: gzip",
      ];
      const body = gzipSync("moved");
      for (const [location, seen] of [
        [`${internal}/p/y?a=b#c`, `http://${host}/p/y?a=b#c`],
        [internal, `http://${host}`],
        [`${internal}0/p`, `${internal}0/p`],
        [`${internal}.example/`, `${internal}.example/`],
        [`https://a.example/?to=${internal}/`, `https://a.example/?to=${internal}/`],
      ]) {
        for (const status of ["201 Made", "302 Found"]) {
          const script = answer(status, [...fields, `Location: ${location}`], body);
          const { got } = await world().exchange(GET, script);
          expect(inOrder(got.fields)).toEqual([
            "content-encoding: gzip",
            `content-length: ${body.length}`,
            `location: ${seen}`,
            "set-cookie: a=1; Expires=Wed, 21 Oct 2027 07:28:00 GMT",
            "set-cookie: b=2",
          ]);
          expect([got.start, got.body]).toEqual([`HTTP/1.1 ${status}`, body]);
        }
      }
      const visited = { ...GET, host: `127.0.0.1:${origin.port}` };
      const { got } = await world().exchange(
        visited,
        answer("302 Found", [`Location: ${internal}/y`]),
        visitorsEdge.port,
      );
      expect(valueOf(got, "location")).toBe(`${internal}/y`);
    });

    test("without a length it ends with the connection, and comes in chunks", async () => {
      for (const start of ["HTTP/1.1 200 OK", "HTTP/1.0 200 Old"]) {
        const { got } = await world().exchange(
          GET,
          lastWords(`${start}\r\nX: 1\r\n\r\nuntil the end`),
        );
        expect([got.start.slice(9), got.body.toString()]).toEqual([
          start.slice(9),
          "until the end",
        ]);
        expect(inOrder(got.fields)).toEqual(["transfer-encoding: chunked", "x: 1"]);
      }
    });

    test("in chunks it passes whole; trailers and early hints are not carried", async () => {
      const { got } = await world().exchange(
        GET,
        saying(
          "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n",
          "2;ext=1\r\nok\r\n0\r\nX-T: 1\r\n\r\n",
        ),
      );
      expect([got.start, inOrder(got.fields)]).toEqual([
        "HTTP/1.1 200 OK",
        ["transfer-encoding: chunked"],
      ]);
      expect(got.body.toString()).toBe("ok");
    });

    test("what the origin sends beyond its answer belongs to nobody", async () => {
      const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
      for (let round = 0; round < 3; round += 1) {
        const { got } = await world().exchange(
          GET,
          saying(`HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${evil}`),
        );
        expect(got.body.toString()).toBe("ok");
        const next = await world().exchange(GET, answer("200 OK", [], "next"));
        expect(next.got.body.toString()).toBe("next");
      }
    });

    test("5xx passes as it is, is kept nowhere, and spends nothing: the next answer is the origin's again", async () => {
      let asked = 0;
      const { got } = await world().exchange(
        GET,
        answer("503 Busy", ["Cache-Control: public, max-age=600"], "busy"),
      );
      expect([statusOf(got), got.body.toString()]).toEqual([503, "busy"]);
      for (const status of ["500 Oops", "200 OK"]) {
        const wire = await world().open({ ...GET, fields: ["Accept: text/html"] }, (head, at) => {
          asked += 1;
          void answer(status, ["Cache-Control: public, max-age=600"], "said")(head, at);
        });
        expect((await world().answer(wire, GET)).start).toBe(`HTTP/1.1 ${status}`);
      }
      expect(asked).toBe(2);
    });
  });
}
