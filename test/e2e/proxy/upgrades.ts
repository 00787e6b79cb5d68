/** WebSockets, and the questions that a browser asks before it asks. */
import { randomBytes } from "node:crypto";

import { describe, expect, test } from "vitest";

import {
  BINARY,
  CLOSE,
  PING,
  PONG,
  TEXT,
  acceptOf,
  closing,
  readFrame,
  readMessage,
  sendFrame,
} from "../support/web-socket.ts";
import { type Head, type Message, type Wire, statusOf, valueOf } from "../support/wire.ts";
import { type ProxyWorld, inOrder, plainAnswer, expectSame } from "../support/proxy-world.ts";

const KEY = "dGhlIHNhbXBsZSBub25jZQ==";
const UPGRADE = {
  start: "GET /p/seats",
  fields: [
    ...["Connection: keep-alive, Upgrade", "Upgrade: websocket", `Sec-WebSocket-Key: ${KEY}`],
    ...["Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: seats.v2, seats.v1"],
    "Origin: http://a.example",
  ],
};

function open(head: Head, at: Wire): void {
  at.write(
    [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${acceptOf(valueOf(head, "sec-websocket-key") ?? "")}`,
      "Sec-WebSocket-Protocol: seats.v1",
      "Set-Cookie: a=1",
      "Set-Cookie: b=2",
      "\r\n",
    ].join("\r\n"),
  );
}

async function echo(head: Head, at: Wire): Promise<void> {
  open(head, at);
  for (;;) {
    const message = await readMessage(at);
    if (message === undefined) return;
    sendFrame(at, message.opcode, message.payload, { isMasked: false });
    if (message.opcode === CLOSE) return;
  }
}

export function upgrades(world: () => ProxyWorld): void {
  describe("a WebSocket", () => {
    test("opens with its protocol, cookies and origin, and carries messages of any size both ways", async () => {
      let seen: Head | undefined;
      const wire = await world().open(UPGRADE, (head, at) => {
        seen = head;
        return echo(head, at);
      });
      const head = await wire.head();
      expect(head?.start).toBe("HTTP/1.1 101 Switching Protocols");
      expect(inOrder(head?.fields ?? [])).toEqual(
        expect.arrayContaining([
          `sec-websocket-accept: ${acceptOf(KEY)}`,
          "sec-websocket-protocol: seats.v1",
          "set-cookie: a=1",
          "set-cookie: b=2",
        ]),
      );
      expect(inOrder(seen?.fields ?? [])).toEqual(
        expect.arrayContaining([
          "origin: http://a.example",
          "sec-websocket-protocol: seats.v2, seats.v1",
          `vestibule-admission: ${world().pass.admission}`,
          'cookie: shop=a b; basket="1,2"',
        ]),
      );
      for (const [opcode, payload] of [
        [TEXT, "seat 7 ✓"],
        [TEXT, ""],
        [BINARY, randomBytes(125)],
        [BINARY, randomBytes(65_535)],
        [BINARY, randomBytes(900_000)],
      ] as const) {
        sendFrame(wire, opcode, Buffer.from(payload as string), { isMasked: true });
        const back = await readMessage(wire);
        expect([back?.opcode, back?.payload.equals(Buffer.from(payload as string))]).toEqual([
          opcode,
          true,
        ]);
      }
      sendFrame(wire, TEXT, "in ", { isMasked: true, isFinal: false });
      sendFrame(wire, 0, "two", { isMasked: true });
      expect((await readMessage(wire))?.payload.toString()).toBe("in two");
      sendFrame(wire, CLOSE, closing(4_321, "bye"), { isMasked: true });
      expect((await readFrame(wire))?.payload).toEqual(closing(4_321, "bye"));
      wire.close();
    });

    test("the shop may speak first, asks whether one is there, and closes by its own code", async () => {
      const wire = await world().open(UPGRADE, async (head, at) => {
        open(head, at);
        sendFrame(at, TEXT, "hello", { isMasked: false });
        sendFrame(at, PING, "there?", { isMasked: false });
        const pong = await readFrame(at);
        if (pong?.opcode === PONG) sendFrame(at, TEXT, pong.payload, { isMasked: false });
        sendFrame(at, CLOSE, closing(1_001, "gone"), { isMasked: false });
        await readFrame(at);
      });
      await wire.head();
      expect((await readMessage(wire))?.payload.toString()).toBe("hello");
      expect(await readFrame(wire)).toMatchObject({ opcode: PING, payload: Buffer.from("there?") });
      sendFrame(wire, PONG, "there?", { isMasked: true });
      expect((await readMessage(wire))?.payload.toString()).toBe("there?");
      expect((await readFrame(wire))?.payload).toEqual(closing(1_001, "gone"));
      wire.close();
    });

    test("an end of the line without a word reaches the other end", async () => {
      const wire = await world().open(UPGRADE, (head, at) => {
        open(head, at);
        at.socket.end();
      });
      await wire.head();
      await wire.closed;
      const gone = Promise.withResolvers<boolean>();
      const other = await world().open(UPGRADE, async (head, at) => {
        open(head, at);
        await at.rest();
        gone.resolve(at.isOver);
      });
      await other.head();
      other.close();
      expect(await gone.promise).toBe(true);
    });

    test("the shop's refusal passes as it is; who is not admitted gets ours, and never reaches the shop", async () => {
      const refused = await world().exchange(UPGRADE, (_, at) => {
        at.write("HTTP/1.1 403 Full\r\nContent-Length: 2\r\n\r\nno");
      });
      expect([refused.got.start, refused.got.body.toString()]).toEqual(["HTTP/1.1 403 Full", "no"]);
      const stranger = await world().exchange({ ...UPGRADE, isStranger: true }, echo);
      expect([statusOf(stranger.got), stranger.seen]).toEqual([429, undefined]);
    });
  });

  describe("OPTIONS", () => {
    const asking = (origin: string) => ({
      start: "OPTIONS /p/buy",
      isStranger: true,
      fields: [
        `Origin: ${origin}`,
        "Access-Control-Request-Method: DELETE",
        "Access-Control-Request-Headers: content-type, vestibule-admission",
      ],
    });
    const allowed = (got: Message) => [
      statusOf(got),
      valueOf(got, "access-control-allow-origin"),
      valueOf(got, "access-control-allow-methods"),
      valueOf(got, "access-control-allow-headers"),
    ];

    test("a preflight for a protected path is answered here, so that the real request can be made and judged", async () => {
      const own = `http://${world().host}`;
      const { seen, got } = await world().exchange(asking(own), plainAnswer);
      expect(seen).toBeUndefined();
      expect(allowed(got)).toEqual([204, own, "DELETE", "content-type, vestibule-admission"]);
      const { got: foreign } = await world().exchange(asking("http://evil.example"), plainAnswer);
      expect(allowed(foreign)).toEqual([204, undefined, undefined, undefined]);
    });

    test("one for an open path is the shop's to answer, and so is any other OPTIONS of who may pass", async () => {
      const preflight = { ...asking("http://a.example"), start: "OPTIONS /about" };
      const { seen } = await world().exchange(preflight, plainAnswer);
      expect(valueOf(seen as Head, "access-control-request-method")).toBe("DELETE");
      await expectSame(world(), { start: "OPTIONS /p/x", fields: ["Origin: http://a.example"] });
      const plain = { start: "OPTIONS /p/x", isStranger: true };
      const refused = await world().exchange(plain, plainAnswer);
      expect([statusOf(refused.got), refused.seen]).toEqual([429, undefined]);
    });
  });
}
