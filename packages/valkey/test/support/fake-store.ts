/** A server that speaks the protocol as badly as a test wants. */
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

import { readReplies } from "@vestibule/testkit/resp";
import { onTestFinished } from "vitest";

export type Command = readonly string[];

export interface FakeStore {
  readonly port: number;
  readonly url: string;
  /** Every command that arrived, on whatever connection. */
  readonly commands: readonly Command[];
  readonly connections: () => number;
  /** How many connections there have been. */
  readonly accepted: () => number;
  /** From now on. Undefined answers nothing. */
  answer: (command: Command, socket: Socket) => string | undefined;
}

export const INFO_REPLY = bulk(
  ["role:master", "loading:0", "cluster_enabled:0", "maxmemory_policy:noeviction"].join("\r\n"),
);
/** The first take from a bucket that a token a second comes back to. */
export const TAKEN_REPLY = ":1000\r\n";

export function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}

/** Lets the client in, and answers calls of scripts with `reply`. */
export function answering(reply: string | undefined): FakeStore["answer"] {
  return ([name = ""]) => {
    if (name.toLowerCase() === "info") return INFO_REPLY;
    if (name.toLowerCase().startsWith("eval")) return reply;
    return "+OK\r\n";
  };
}

export async function startFakeStore(
  answer: FakeStore["answer"],
  options: { port?: number; onSocket?: (socket: Socket) => void } = {},
): Promise<FakeStore> {
  const sockets = new Set<Socket>();
  const commands: Command[] = [];
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    options.onSocket?.(socket);
    let pending = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      if (!pending.toString("latin1", 0, 1).startsWith("*")) return;
      const arrived = readReplies(pending) as readonly Command[];
      // A command is sent in one piece here, so that what was read is all there was.
      pending = Buffer.alloc(0);
      for (const command of arrived) {
        commands.push(command);
        const reply = fake.answer(command, socket);
        if (reply !== undefined && socket.writable) socket.write(reply);
      }
    });
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => stop(server, sockets));
  const { port } = server.address() as AddressInfo;
  const fake: FakeStore = {
    port,
    url: `redis://127.0.0.1:${port}`,
    commands,
    connections: () => sockets.size,
    accepted: () => accepted,
    answer,
  };
  return fake;
}

/** A server that takes its time. */
export function later(ms: number, work: () => void): void {
  setTimeout(work, ms);
}

/** A byte now and then, until the connection is closed. */
export function trickle(socket: Socket): void {
  const timer = setInterval(() => void socket.write("x"), 20);
  socket.once("close", () => clearInterval(timer));
}

/** A port of this machine on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await stop(server, new Set());
  return port;
}

async function stop(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  if (!server.listening) return;
  server.close();
  await once(server, "close");
}
