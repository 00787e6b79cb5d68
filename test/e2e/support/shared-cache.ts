/** A shared cache in front of one location, as the rules say it may be (RFC 9111): it keeps what it may, and nothing else. */
import { once } from "node:events";
import { type IncomingMessage, createServer, request as ask } from "node:http";
import type { AddressInfo } from "node:net";

import CachePolicy from "http-cache-semantics";

interface Answer {
  readonly status: number;
  /** By name in lower case, as `node:http` has them. */
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
}

interface Kept {
  policy: CachePolicy;
  readonly body: Buffer;
}

export interface SharedCache {
  readonly port: number;
  /** `GET host/path` of each answer that came from what it keeps, in order. */
  readonly hits: readonly string[];
  close(): Promise<void>;
}

/** Asks whoever listens on that port, under the visitor's host. */
export async function startSharedCache(behind: number): Promise<SharedCache> {
  /** By host and path: those that differ by what their `Vary` names. */
  const kept = new Map<string, Kept[]>();
  const hits: string[] = [];

  async function answer(incoming: IncomingMessage, body: Buffer): Promise<Answer> {
    const { method = "GET", url = "/", headers } = incoming;
    const key = `${headers.host}${url}`;
    const asked = { method, url, headers };
    const found = kept.get(key)?.find(({ policy }) => policy.satisfiesWithoutRevalidation(asked));
    if (found !== undefined) {
      hits.push(`${method} ${key}`);
      const shown = found.policy.responseHeaders() as Answer["headers"];
      return {
        status: 200,
        headers: shown,
        body: method === "HEAD" ? Buffer.alloc(0) : found.body,
      };
    }
    const fresh = await passOn({ method, url, headers, body });
    const isSafe = ["GET", "HEAD", "OPTIONS", "TRACE"].includes(method);
    if (!isSafe && fresh.status < 400) kept.delete(key);
    const policy = new CachePolicy(
      asked,
      { status: fresh.status, headers: fresh.headers },
      { shared: true },
    );
    // A part, or nothing to keep, is no whole answer.
    if (method === "GET" && fresh.status === 200 && policy.storable()) {
      const others = kept
        .get(key)
        ?.filter((one) => !one.policy.satisfiesWithoutRevalidation(asked));
      kept.set(key, [...(others ?? []), { policy, body: fresh.body }]);
    }
    return fresh;
  }

  function passOn(asked: {
    method: string;
    url: string;
    headers: IncomingMessage["headers"];
    body: Buffer;
  }): Promise<Answer> {
    const { method, url, headers, body } = asked;
    return new Promise((resolve, reject) => {
      const onward = ask(
        { host: "127.0.0.1", port: behind, method, path: url, headers, setHost: false },
        (reply) => {
          bodyOf(reply).then(
            (whole) =>
              resolve({ status: reply.statusCode ?? 502, headers: reply.headers, body: whole }),
            reject,
          );
        },
      );
      onward.on("error", reject);
      onward.end(body);
    });
  }

  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming)
      .then((body) => answer(incoming, body))
      .then(({ status, headers, body }) => {
        const { "transfer-encoding": _framing, connection: _hop, ...others } = headers;
        outgoing.writeHead(status, others).end(body);
      })
      .catch(() => outgoing.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    hits,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
