import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A server behind a network that stands still when a test says so. Nothing is lost: it is late. */
export interface HoldingProxy {
  /** The address of `url`, through it. */
  readonly url: string;
  /** What one side sends stays in the network until `release`. */
  hold(what: "requests" | "answers"): void;
  release(): void;
  close(): void;
}

export async function holdingProxy(url: string): Promise<HoldingProxy> {
  const target = new URL(url);
  const sides = { requests: new Set<Socket>(), answers: new Set<Socket>() };
  const held = { requests: false, answers: false };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [what, from, to] of [
      ["requests", client, upstream],
      ["answers", upstream, client],
    ] as const) {
      sides[what].add(from);
      from.on("error", () => {});
      from.on("data", (bytes) => to.write(bytes));
      from.once("close", () => {
        sides[what].delete(from);
        to.destroy();
      });
      if (held[what]) from.pause();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const through = new URL(url);
  through.hostname = "127.0.0.1";
  through.port = String(typeof address === "object" && address !== null ? address.port : 0);
  return {
    url: through.href,
    hold: (what) => {
      held[what] = true;
      for (const socket of sides[what]) socket.pause();
    },
    release: () => {
      held.requests = false;
      held.answers = false;
      for (const socket of [...sides.requests, ...sides.answers]) socket.resume();
    },
    close: () => {
      server.close();
      for (const socket of [...sides.requests, ...sides.answers]) socket.destroy();
    },
  };
}
