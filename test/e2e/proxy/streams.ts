/** Bodies that take their time, in both directions, and more than anybody would hold. */
import { createHash, randomBytes } from "node:crypto";

import { describe, expect, test } from "vitest";

import { type Head, type Wire, statusOf } from "../support/wire.ts";
import { type ProxyWorld, inChunk, plainAnswer, untilStill } from "../support/proxy-world.ts";

const GET = { start: "GET /p/x" };
const PIECE = randomBytes(65_536);
/** Far more than sockets, kernel and runtime hold between the two ends. */
const PIECES = 1_000;
const HELD_BYTES_MAX = 48_000_000;

export function streams(world: () => ProxyWorld): void {
  describe("a body that streams", () => {
    test("server-sent events: each is with the client before the next is sent", async () => {
      const heard: Array<() => void> = [];
      const wire = await world().open(
        { ...GET, fields: ["Accept: text/event-stream"] },
        async (_, at) => {
          at.write(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
          );
          for (let n = 1; n <= 5; n += 1) {
            const next = new Promise<void>((resolve) => heard.push(resolve));
            at.write(inChunk(`id: ${n}\ndata: tick\n\n`));
            await next;
          }
          at.write("0\r\n\r\n");
        },
      );
      expect((await wire.head())?.start).toBe("HTTP/1.1 200 OK");
      for (let n = 1; n <= 5; n += 1) {
        expect((await wire.chunk()).toString()).toBe(`id: ${n}\ndata: tick\n\n`);
        heard[n - 1]?.();
      }
      expect(await wire.chunk()).toHaveLength(0);
      wire.close();
    });

    test.each([
      ["by a length", "Content-Length: 30", (piece: string) => piece],
      ["in chunks", "Transfer-Encoding: chunked", inChunk],
    ])(
      "an upload %s: each piece is with the origin before the next is sent",
      async (_, field, framed) => {
        const heard: Array<() => void> = [];
        const pieces: string[] = [];
        const request = { start: "POST /p/x", fields: [field] };
        const wire = await world().open(request, async (head, at) => {
          for (let bytes = 0; bytes < 30; bytes += 5) {
            const piece = field.startsWith("C") ? await at.take(5) : await at.chunk();
            pieces.push(piece.toString());
            heard[pieces.length - 1]?.();
          }
          if (!field.startsWith("C")) await at.chunk();
          await plainAnswer(head, at);
        });
        for (let n = 0; n < 6; n += 1) {
          const arrived = new Promise<void>((resolve) => heard.push(resolve));
          wire.write(framed(`piece`));
          await arrived;
        }
        if (!field.startsWith("C")) wire.write("0\r\n\r\n");
        expect(statusOf(await world().answer(wire, request))).toBe(200);
        expect(pieces).toEqual(Array.from({ length: 6 }, () => "piece"));
      },
    );

    test("far larger than any memory set aside for it: whoever is read slowly is held back, and nothing is lost", async () => {
      const sent = createHash("sha256");
      let sentBytes = 0;
      const fill = async (to: Wire): Promise<void> => {
        for (let n = 0; n < PIECES; n += 1) {
          PIECE.writeUInt32BE(n);
          const piece = Buffer.from(PIECE);
          sent.update(piece);
          await to.writeWhenFree(piece);
          sentBytes += piece.length;
        }
      };
      const length = `Content-Length: ${PIECES * PIECE.length}`;
      const down = await world().open(GET, async (_, at) => {
        at.write(`HTTP/1.1 200 OK\r\n${length}\r\n\r\n`);
        await fill(at);
      });
      const head = await down.head();
      down.socket.pause();
      await untilStill(() => sentBytes);
      expect(sentBytes).toBeLessThan(HELD_BYTES_MAX);
      down.socket.resume();
      const body = await down.body(head as Head);
      expect(createHash("sha256").update(body).digest("hex")).toBe(sent.digest("hex"));
      down.close();
    });

    test("an upload far larger: the client is held back until the origin reads on", async () => {
      let sentBytes = 0;
      let receivedBytes = 0;
      let readOn: () => void = () => undefined;
      const request = { start: "POST /p/x", fields: [`Content-Length: ${PIECES * PIECE.length}`] };
      const up = await world().open(request, async (head, at) => {
        at.socket.pause();
        await new Promise<void>((resolve) => {
          readOn = resolve;
        });
        at.socket.resume();
        receivedBytes = (await at.body(head)).length;
        await plainAnswer(head, at);
      });
      const sending = (async () => {
        for (let n = 0; n < PIECES; n += 1) {
          await up.writeWhenFree(PIECE);
          sentBytes += PIECE.length;
        }
      })();
      await untilStill(() => sentBytes);
      expect(sentBytes).toBeLessThan(HELD_BYTES_MAX);
      readOn();
      await sending;
      expect(statusOf(await world().answer(up, request))).toBe(200);
      expect(receivedBytes).toBe(PIECES * PIECE.length);
    });
  });
}
