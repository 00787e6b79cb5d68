/** A shop that answers with the very bytes that a test says, and keeps the very bytes that it was asked with. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

import { type Head, Wire, valueOf } from "./wire.ts";

/** Which script answers a request. */
export const CASE_HEADER = "X-Case";

/** Answers one request, whose body is still to be read. */
export type Script = (request: Head, wire: Wire) => void | Promise<void>;

export interface ScriptedOrigin {
  readonly port: number;
  /** Requests that came, whatever for. */
  readonly heads: readonly Head[];
  /** @returns the value of `X-Case` of the requests that it answers. */
  answer(script: Script): string;
  close(): Promise<void>;
}

export async function startScriptedOrigin(): Promise<ScriptedOrigin> {
  const scripts: Script[] = [];
  const heads: Head[] = [];
  const wires = new Set<Wire>();

  async function serve(wire: Wire): Promise<void> {
    for (let head = await wire.head(); head !== undefined; head = await wire.head()) {
      heads.push(head);
      const script = scripts[Number(valueOf(head, CASE_HEADER.toLowerCase()))];
      if (script === undefined) wire.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nshop");
      else await script(head, wire);
    }
    wire.socket.end();
  }

  const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    const wire = new Wire(socket);
    wires.add(wire);
    // What a script finds wrong, its test sees in the answer: there is none.
    serve(wire).catch(() => wire.close());
    socket.once("close", () => wires.delete(wire));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    heads,
    answer: (script) => String(scripts.push(script) - 1),
    close: async () => {
      server.close();
      for (const wire of wires) wire.close();
      await once(server, "close");
    },
  };
}
