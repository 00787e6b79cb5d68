import { once } from "node:events";
import { type Socket, connect, createServer } from "node:net";

/** PostgreSQL behind a network that loses answers. */
export interface CuttingProxy {
  readonly url: string;
  /**
   * The next `times` answers that end a statement with this tag (`SELECT 1`) are lost together with
   * their connection: the server has committed, and its client never hears of it.
   */
  loseAnswers(tag: string, times?: number): void;
  /** How many answers were lost. */
  readonly lost: number;
  close(): void;
}

/** "Ready for query, idle": the server's word that a statement outside of a transaction is committed. */
const READY_IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export async function cuttingProxy(databaseUrl: string): Promise<CuttingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let plan = { tag: "", times: 0 };
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (bytes) => upstream.write(bytes));
    let pending = Buffer.alloc(0);
    upstream.on("data", (bytes) => {
      pending = Buffer.concat([pending, bytes]);
      if (plan.times > 0 && pending.includes(`${plan.tag}\0`)) {
        if (!pending.includes(READY_IDLE)) return; // not committed yet: wait for the rest
        plan = { ...plan, times: plan.times - 1 };
        lost += 1;
        client.destroy();
        return;
      }
      client.write(pending);
      pending = Buffer.alloc(0);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String(typeof address === "object" && address !== null ? address.port : 0);
  return {
    url: url.href,
    loseAnswers: (tag, times = 1) => {
      plan = { tag, times };
    },
    get lost() {
      return lost;
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
