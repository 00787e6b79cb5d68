/** A hop in front of one part that counts what passes, and can be cut. */
import { once } from "node:events";
import {
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
  request,
} from "node:http";
import type { AddressInfo } from "node:net";

/** `refuses`: nobody listens there. `hangs`: it takes connections and never answers. */
type State = "passes" | "refuses" | "hangs";

export class Cuttable {
  readonly url: string;
  /** `GET /v1/manifest`, in order of arrival, also those that were not passed on. */
  readonly requests: string[] = [];
  readonly #server: Server;
  readonly #port: number;
  #state: State = "passes";

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async before(target: string): Promise<Cuttable> {
    const base = new URL(target.replace("localhost", "127.0.0.1"));
    const server = createServer((incoming, outgoing) => {
      hop.requests.push(`${incoming.method} ${incoming.url}`);
      if (hop.#state === "passes") passOn(base, incoming, outgoing);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const hop = new Cuttable(server, (server.address() as AddressInfo).port);
    return hop;
  }

  async cut(how: Exclude<State, "passes"> = "refuses"): Promise<void> {
    this.#state = how;
    if (how === "hangs") return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  async mend(): Promise<void> {
    this.#state = "passes";
    if (this.#server.listening) this.#server.closeAllConnections();
    else {
      this.#server.listen(this.#port, "127.0.0.1");
      await once(this.#server, "listening");
    }
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.cut();
  }
}

function passOn(base: URL, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const onward = request(
    {
      host: base.hostname,
      port: base.port,
      method: incoming.method,
      path: incoming.url,
      headers: incoming.headers,
    },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    },
  );
  onward.on("error", () => outgoing.destroy());
  incoming.pipe(onward);
}
