/** A wire that is broken is broken: else the tests behind it would prove nothing. */
import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer } from "node:net";

import { afterEach, beforeEach, expect, it } from "vitest";

import { Wire } from "../src/wire.ts";

/** Answers every piece of text with its capitals, and keeps what it heard. */
async function startEcho() {
  const heard: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.setEncoding("utf8").on("data", (text: string) => {
      heard.push(text);
      socket.write(text.toUpperCase());
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { heard, server, port: (server.address() as AddressInfo).port };
}

/** What a client hears, and whether its connection broke. */
function clientOf(wire: Wire): { socket: Socket; heard: string[]; isBroken: () => boolean } {
  const socket = connect(wire.port, "127.0.0.1");
  const heard: string[] = [];
  let broken = false;
  socket.on("error", () => {});
  socket.once("close", () => (broken = true));
  socket.setEncoding("utf8").on("data", (text: string) => heard.push(text));
  return { socket, heard, isBroken: () => broken };
}

let echo: Awaited<ReturnType<typeof startEcho>>;
let wire: Wire;
beforeEach(async () => {
  echo = await startEcho();
  wire = await Wire.open(echo.port);
});
afterEach(() => {
  wire.close();
  echo.server.close();
});

it("cut: connections break, new ones too, until it is mended", async () => {
  const old = clientOf(wire);
  old.socket.write("a");
  await expect.poll(() => old.heard).toEqual(["A"]);
  wire.break("cut");
  await expect.poll(old.isBroken).toBe(true);
  const refused = clientOf(wire);
  await expect.poll(refused.isBroken).toBe(true);
  wire.mend();
  const fresh = clientOf(wire);
  fresh.socket.write("b");
  await expect.poll(() => fresh.heard).toEqual(["B"]);
  fresh.socket.destroy();
});

it("freeze: nothing passes on connections old and new, and all of it arrives when it thaws", async () => {
  const old = clientOf(wire);
  old.socket.write("a");
  await expect.poll(() => old.heard).toEqual(["A"]);
  wire.break("freeze");
  const fresh = clientOf(wire);
  old.socket.write("b");
  fresh.socket.write("c");
  // A third party's round trip: what could pass would have passed by then.
  const past = connect(echo.port, "127.0.0.1").setEncoding("utf8");
  past.write("d");
  await once(past, "data");
  expect(echo.heard).toEqual(["a", "d"]);
  wire.mend();
  await expect.poll(() => [...old.heard, ...fresh.heard]).toEqual(["A", "B", "C"]);
  for (const socket of [old.socket, fresh.socket, past]) socket.destroy();
});

it("lose-answers: what is asked arrives, nobody hears of it, and the connection breaks in the end", async () => {
  const client = clientOf(wire);
  client.socket.write("a");
  await expect.poll(() => client.heard).toEqual(["A"]);
  wire.break("lose-answers");
  client.socket.write("b");
  await expect.poll(() => echo.heard).toEqual(["a", "b"]);
  wire.mend();
  await expect.poll(client.isBroken).toBe(true);
  expect(client.heard).toEqual(["A"]);
});

it("freeze in one direction: questions wait before the server, answers behind it, and both arrive when it thaws", async () => {
  const client = clientOf(wire);
  client.socket.write("a");
  await expect.poll(() => client.heard).toEqual(["A"]);
  wire.break("freeze-answers");
  client.socket.write("b");
  await expect.poll(() => echo.heard).toEqual(["a", "b"]);
  expect(client.heard).toEqual(["A"]);
  wire.mend();
  await expect.poll(() => client.heard).toEqual(["A", "B"]);
  wire.break("freeze-questions");
  const fresh = clientOf(wire);
  fresh.socket.write("c");
  const past = connect(echo.port, "127.0.0.1").setEncoding("utf8");
  past.write("d");
  await once(past, "data");
  expect(echo.heard).toEqual(["a", "b", "d"]);
  wire.mend();
  await expect.poll(() => fresh.heard).toEqual(["C"]);
  for (const socket of [client.socket, fresh.socket, past]) socket.destroy();
});

it("lose: nothing passes and nobody hears of it; when it is mended old connections break, and new ones pass", async () => {
  const client = clientOf(wire);
  client.socket.write("a");
  await expect.poll(() => client.heard).toEqual(["A"]);
  wire.break("lose");
  client.socket.write("b");
  const past = connect(echo.port, "127.0.0.1").setEncoding("utf8");
  past.write("c");
  await once(past, "data");
  expect([client.isBroken(), echo.heard]).toEqual([false, ["a", "c"]]);
  wire.mend();
  await expect.poll(client.isBroken).toBe(true);
  const fresh = clientOf(wire);
  fresh.socket.write("d");
  await expect.poll(() => fresh.heard).toEqual(["D"]);
  expect(echo.heard).toEqual(["a", "c", "d"]);
  for (const socket of [fresh.socket, past]) socket.destroy();
});

it("through: an address whose host and port are the wire's, and whose rest is as it was", async () => {
  const address = `postgres://who:secret@localhost:${echo.port}/name?option=1`;
  const other = await Wire.open();
  expect(other.through(address)).toBe(
    `postgres://who:secret@127.0.0.1:${other.port}/name?option=1`,
  );
  const client = clientOf(other);
  client.socket.write("a");
  await expect.poll(() => client.heard).toEqual(["A"]);
  other.close();
});
