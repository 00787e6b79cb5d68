/** Origins and clients that fail: what the other end is told, and that it is told. */
import { describe, expect, test } from "vitest";

import type { Message, Wire } from "../support/wire.ts";
import {
  type ProxyWorld,
  inChunk,
  trickle,
  lastWords,
  plainAnswer,
} from "../support/proxy-world.ts";

const GET = { start: "GET /p/x", fields: ["Accept: text/html"] };

export function failures(world: () => ProxyWorld): void {
  const page = (): string => world().page;
  const told = (got: Message): unknown => world().told(got);

  describe("an origin that fails", () => {
    test.each([
      ["hangs up at once", ""],
      ["hangs up within its head", "HTTP/1.1 200 OK\r\nConte"],
      ["says rubbish", "rubbish\r\n\r\n"],
      ["speaks another protocol", "\x16\x03\x01\x02\x00\x01"],
      ["has no status", "HTTP/1.1 abc OK\r\n\r\n"],
      ["has a status that is none", "HTTP/1.1 99 X\r\n\r\n"],
      ["sends a line that is no header", "HTTP/1.1 200 OK\r\nno header\r\n\r\n"],
      ["sends a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nok"],
      ["sends two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\noks"],
      [
        "switches to what nobody asked for",
        "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
      ],
    ])("%s: 502, never the holding page", async (_, words) => {
      const request = { ...GET, fields: [...GET.fields, page()] };
      const { got } = await world().exchange(request, lastWords(words));
      expect(told(got)).toEqual([502, "origin-unreachable", "5"]);
    });

    test.each([
      ["by a length", "Content-Length: 10\r\n\r\nshort"],
      ["in a chunk", "Transfer-Encoding: chunked\r\n\r\na\r\nshort"],
      ["between chunks", "Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n"],
    ])("sends too little, %s: the client sees that it is not all", async (_, rest) => {
      const wire = await world().open(GET, lastWords(`HTTP/1.1 200 OK\r\n${rest}`));
      await expect(world().answer(wire, GET)).rejects.toThrow("cut off");
    });

    test("refuses an upload before it is there: the client is told at once", async () => {
      for (const frame of ["Content-Length: 1000000", "Transfer-Encoding: chunked"]) {
        const request = { start: "POST /p/x", fields: [frame] };
        const wire = await world().open(request, (_, at) => {
          at.write("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno");
          at.socket.end();
        });
        wire.write(frame.startsWith("C") ? "begun" : inChunk("begun"));
        expect((await world().answer(wire, request)).body.toString()).toBe("no");
      }
    });
  });

  describe("a client that fails", () => {
    test("goes away before the answer: the origin hears of it", async () => {
      const { heard } = await leaving(GET, (wire) => wire.socket.resetAndDestroy());
      expect(await heard).toBe("");
    });

    test("goes away within the answer: the origin hears of it", async () => {
      const heard = Promise.withResolvers<boolean>();
      const wire = await world().open(GET, async (_, at) => {
        at.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        await trickle(
          at,
          Array.from({ length: 500 }, () => "beat"),
          { everyMs: 20 },
        );
        heard.resolve(at.isOver);
      });
      await wire.head();
      await wire.chunk();
      wire.close();
      expect(await heard.promise).toBe(true);
    });

    test.each(["Content-Length: 1000", "Transfer-Encoding: chunked"])(
      "goes away within its upload, %s: the origin never takes it for all of it",
      async (frame) => {
        const { heard } = await leaving({ start: "POST /p/x", fields: [frame] }, (wire) => {
          wire.write(frame.startsWith("C") ? "begun" : inChunk("begun"));
          wire.close();
        });
        expect(await heard).not.toContain("0\r\n\r\n");
      },
    );

    test("sends a chunk that is none: 400, and the origin never takes it for all of it", async () => {
      const request = { start: "POST /p/x", fields: ["Transfer-Encoding: chunked", page()] };
      const first = Promise.withResolvers<Buffer>();
      const last = Promise.withResolvers<Buffer>();
      const wire = await world().open(request, async (_, at) => {
        first.resolve(await at.chunk());
        last.resolve(await at.rest());
      });
      wire.write(inChunk("hello"));
      expect((await first.promise).toString()).toBe("hello");
      wire.write("rubbish\r\n");
      expect(told(await world().answer(wire, request))).toEqual([400, "bad-request", undefined]);
      expect((await last.promise).toString()).toBe("");
    });

    test("asks for an event that there is none of, or by a path that can be read in two ways: its page can read that", async () => {
      const missing = { start: "GET /_vestibule/events/none/drip", fields: [page()] };
      const drip = await world().exchange(missing, plainAnswer);
      expect(told(drip.got)).toEqual([404, "event-not-found", undefined]);
      const join = await world().exchange(
        { ...missing, start: "POST /_vestibule/events/none/tickets" },
        plainAnswer,
      );
      expect(told(join.got)).toEqual([404, "event-not-found", undefined]);
      const twoWays = await world().exchange(
        { start: "GET /x%2f..%2fp", fields: [page()] },
        plainAnswer,
      );
      expect(told(twoWays.got)).toEqual([400, "bad-request", undefined]);
    });
  });

  /** Goes once the request is at the origin. `heard`: what came of it there, when the origin hears that the client went. */
  async function leaving(
    request: { start: string; fields?: readonly string[] },
    go: (wire: Wire) => void,
  ): Promise<{ heard: Promise<string> }> {
    const heard = Promise.withResolvers<string>();
    const there = Promise.withResolvers<void>();
    const wire = await world().open(request, async (_, at) => {
      there.resolve();
      heard.resolve((await at.rest()).toString());
    });
    await there.promise;
    go(wire);
    return { heard: heard.promise };
  }
}
