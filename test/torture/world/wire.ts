/** A stretch of network in front of one server, which can be cut, stand still, or lose what comes back. */
import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";

/**
 * `cut`: connections break, and new ones are refused. `freeze`: connections stand and nothing passes; it is late,
 * not lost. `lose-answers`: what is asked arrives, what is answered does not, and then the connections break.
 */
export type WireFault = "cut" | "freeze" | "lose-answers";

interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

export class Wire {
  /** Where clients connect, on 127.0.0.1. */
  readonly port: number;
  /** Where it leads: a server that starts again may have another port. */
  target: number | undefined;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #fault: WireFault | undefined;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on("connection", (client) => this.#join(client));
  }

  static async open(target?: number): Promise<Wire> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const wire = new Wire(server);
    wire.target = target;
    return wire;
  }

  break(fault: WireFault): void {
    this.#fault = fault;
    for (const link of this.#links) this.#apply(link);
  }

  mend(): void {
    const fault = this.#fault;
    this.#fault = undefined;
    for (const { client, server } of this.#links) {
      if (fault !== "freeze") client.destroy();
      client.resume();
      server.resume();
    }
  }

  close(): void {
    this.#server.close();
    for (const { client } of this.#links) client.destroy();
  }

  #join(client: Socket): void {
    client.on("error", () => {});
    if (this.target === undefined || this.#fault === "cut") {
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.target, "127.0.0.1");
    server.on("error", () => {});
    const link = { client, server };
    this.#links.add(link);
    client.setNoDelay();
    server.setNoDelay();
    client.on("data", (bytes) => server.write(bytes));
    server.on("data", (bytes) => {
      if (this.#fault !== "lose-answers") client.write(bytes);
    });
    client.once("close", () => {
      this.#links.delete(link);
      server.destroy();
    });
    // What the server said last is delivered first, unless nothing passes.
    server.once("close", () => client.end(() => client.destroy()));
    this.#apply(link);
  }

  #apply({ client, server }: Link): void {
    if (this.#fault === "cut") client.resetAndDestroy();
    if (this.#fault !== "freeze") return;
    client.pause();
    server.pause();
  }
}
