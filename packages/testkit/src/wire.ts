/** A stretch of network in front of one server of this machine, which can be cut, stand still, or lose what passes. */
import { once } from "node:events";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";

/**
 * `cut`: connections break, and new ones are refused. `freeze`: connections stand, old ones and new, and nothing passes;
 * it is late, not lost. `freeze-questions`, `freeze-answers`: in this direction only. `lose`: nothing passes, nobody
 * hears of it, and what was on its way is lost. `lose-answers`: what is asked arrives, what is answered does not. After
 * the last two the connections break when the wire is mended.
 */
export type WireFault =
  | "cut"
  | "freeze"
  | "freeze-questions"
  | "freeze-answers"
  | "lose"
  | "lose-answers";

interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

interface Means {
  /** Ends that are not read meanwhile. */
  readonly unread: readonly (keyof Link)[];
  /** Connections go on where they were when it is mended. */
  readonly goesOn: boolean;
}

const MEANS: Readonly<Record<WireFault, Means>> = {
  cut: { unread: [], goesOn: false },
  freeze: { unread: ["client", "server"], goesOn: true },
  "freeze-questions": { unread: ["client"], goesOn: true },
  "freeze-answers": { unread: ["server"], goesOn: true },
  lose: { unread: ["client", "server"], goesOn: false },
  "lose-answers": { unread: [], goesOn: false },
};

export class Wire {
  /** Where clients connect, on 127.0.0.1. */
  readonly port: number;
  /** The port to which it leads: a server that starts again may have another one. */
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

  /** Leads to the server of this address from now on. @returns the address through the wire */
  through(address: string): string {
    const url = new URL(address);
    this.target = Number(url.port);
    url.hostname = "127.0.0.1";
    url.port = String(this.port);
    return url.href;
  }

  break(fault: WireFault): void {
    this.#fault = fault;
    for (const link of this.#links) this.#apply(link);
  }

  mend(): void {
    if (this.#fault === undefined) return;
    const { goesOn } = MEANS[this.#fault];
    this.#fault = undefined;
    for (const { client, server } of this.#links) {
      if (!goesOn) client.destroy();
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

  #apply(link: Link): void {
    if (this.#fault === undefined) return;
    if (this.#fault === "cut") link.client.resetAndDestroy();
    for (const end of MEANS[this.#fault].unread) link[end].pause();
  }
}
