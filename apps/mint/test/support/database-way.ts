/** The way between a mint and its PostgreSQL, which can be cut, and can lead elsewhere. */
import { once } from "node:events";
import { type AddressInfo, type Socket, connect, createServer, type Server } from "node:net";

export class DatabaseWay {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #target: URL;
  #isCut = false;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((client) => this.#open(client));
  }

  static async to(databaseUrl: string): Promise<DatabaseWay> {
    const way = new DatabaseWay(new URL(databaseUrl));
    way.#server.listen(0, "127.0.0.1");
    await once(way.#server, "listening");
    return way;
  }

  get url(): string {
    const url = new URL(this.#target);
    url.hostname = "127.0.0.1";
    url.port = String((this.#server.address() as AddressInfo).port);
    return url.href;
  }

  /** Packets are lost from here on, in both directions; no end hears of it. */
  cut(): void {
    this.#isCut = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  /** What PostgreSQL answers is lost; what it is asked still arrives, on the connections that there are. */
  loseAnswers(): void {
    for (const [, upstream] of this.#pairs) upstream.pause();
  }

  /** New connections reach PostgreSQL again; the old ones are dead. */
  mend(): void {
    this.#isCut = false;
    this.#drop();
  }

  /** As a name that now stands for another server. */
  leadTo(databaseUrl: string): void {
    this.#target = new URL(databaseUrl);
    this.mend();
  }

  close(): void {
    this.#server.close();
    this.#drop();
  }

  #drop(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  #open(client: Socket): void {
    const upstream = connect(Number(this.#target.port), this.#target.hostname);
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.on("error", () => {});
      from.on("data", (bytes) => to.write(bytes));
      from.once("close", () => {
        this.#pairs.delete(pair);
        to.destroy();
      });
      if (this.#isCut) from.pause();
    }
  }
}
