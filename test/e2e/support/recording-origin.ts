/** A shop that only notes who came through, and when. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { claimsOf } from "./token-parts.ts";

export interface Arrival {
  readonly at: number;
  readonly method: string;
  readonly path: string;
  /** Of the admission that the edge vouches for. */
  readonly number: number | undefined;
}

export interface RecordingOrigin {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  close(): Promise<void>;
}

export async function startRecordingOrigin(): Promise<RecordingOrigin> {
  const arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    const admission = String(request.headers["vestibule-admission"] ?? "");
    arrivals.push({
      at: Date.now(),
      method: request.method ?? "",
      path: request.url ?? "",
      number: numberOf(admission),
    });
    response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>the shop</h1>");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function numberOf(admission: string): number | undefined {
  return admission.includes(".") ? Number(claimsOf(admission)["n"]) : undefined;
}
