/** Stands in for the mint behind the edge rows: real signed statements, fresh each time they are asked for. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { STATEMENT_MEDIA_TYPE } from "@vestibule/contracts/names";

import type { EdgeSigner } from "./edge-signer.ts";
import { EVENT } from "./edge-world.ts";
import type { Bench } from "./row.ts";

export interface StubMint {
  readonly url: string;
  /** How often it was asked for anything. */
  requests(): number;
  /** How often for the key set. */
  keySets(): number;
  /** How often for what, by `GET /path`. */
  asked(): ReadonlyMap<string, number>;
}

export async function startStubMint(bench: Bench, signer: EdgeSigner): Promise<StubMint> {
  let requests = 0;
  let keySets = 0;
  const asked = new Map<string, number>();
  const answer = async (path: string): Promise<{ type: string; text: string } | undefined> => {
    switch (path) {
      case "/.well-known/jwks.json":
        keySets += 1;
        return { type: "application/json", text: signer.jwks };
      case "/v1/manifest":
        return { type: STATEMENT_MEDIA_TYPE, text: await signer.manifest(Date.now()) };
      case `/v1/events/${EVENT}/drip`:
        return { type: STATEMENT_MEDIA_TYPE, text: await signer.drip(Date.now()) };
      default:
        return undefined;
    }
  };
  const server = createServer((request, response) => {
    requests += 1;
    const what = `${request.method} ${request.url}`;
    asked.set(what, (asked.get(what) ?? 0) + 1);
    void answer(request.url ?? "").then((found) => {
      response.writeHead(found === undefined ? 404 : 200, {
        "content-type": found?.type ?? "text/plain",
        "cache-control": "no-store",
      });
      response.end(found?.text ?? "");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  bench.processes.finally(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    keySets: () => keySets,
    asked: () => new Map(asked),
  };
}
