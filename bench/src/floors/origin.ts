/** The shop behind both sides of a row: one constant page, and a count of who came. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export const ORIGIN_BODY = `<!doctype html><title>Seats</title>${"<p>Row 7, seat 12</p>".repeat(40)}`;

/** Longer than the pauses between the rounds of one side. */
const KEEP_ALIVE_MS = 65_000;

export interface OriginState {
  readonly port: number;
  readonly requests: number;
  /** Of the latest request. */
  readonly headers: IncomingHttpHeaders;
}

/** Only as a process of its own: an import takes the body and starts nothing. */
if (process.send !== undefined && import.meta.main) {
  const length = Buffer.byteLength(ORIGIN_BODY);
  let requests = 0;
  let headers: IncomingHttpHeaders = {};
  const server = createServer((request, response) => {
    requests += 1;
    headers = request.headers;
    response.writeHead(200, { "content-type": "text/html", "content-length": length });
    response.end(ORIGIN_BODY);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  process.on("message", () => process.send?.({ port, requests, headers } satisfies OriginState));
  process.on("disconnect", () => process.exit(0));
}
