/** node:http with bounds, a hono app on it, an optional fast path before it, and a stop that loses no request. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { sendProblem } from "./fast-http.ts";
import type { Log } from "./log.ts";
import { httpProblem, problem } from "./problems.ts";
import { refuseConnection } from "./refuse-connection.ts";
import { every, settlesWithin } from "./timing.system.ts";

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** A hono app's `fetch`. */
  readonly fetch: (request: Request, bindings: never) => Response | Promise<Response>;
  /**
   * Tried first, on plain node:http objects; true when it takes the request. For the few routes
   * where the cost of Request and Response objects counts.
   */
  readonly fast?: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean;
  readonly log: Log;
  /** The whole head must have arrived by then. */
  readonly headTimeoutMs?: number;
  /** Head and body must have arrived by then. */
  readonly requestTimeoutMs?: number;
}

export interface RunningServer {
  readonly port: number;
  /** `http://host:port` */
  readonly url: string;
  /** Takes no new connection, lets accepted requests finish for at most `graceMs`, then cuts off. */
  stop(options?: { graceMs?: number }): Promise<void>;
}

/** The message of this error is for the person who starts the service. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

const CONNECTIONS_MAX = 10_000;
const HEAD_BYTES_MAX = 32_768;
/** A connection without a request is closed after this. */
const IDLE_TIMEOUT_MS = 65_000;
const STOP_GRACE_MS = 10_000;
const SWEEP_MS = 20;

/** @throws ListenError when the address cannot be had. */
export async function startHttpServer(options: HttpServerOptions): Promise<RunningServer> {
  const { host, port, fast, log } = options;
  let stopping = false;

  const listener = getRequestListener(options.fetch as never, {
    errorHandler: (error) => {
      // Only what is no HTTP request at all gets here: hono answers its own errors.
      log.warn("request-refused", { reason: error instanceof Error ? error.message : "unknown" });
      const { status, headers, body } = httpProblem(problem("bad-request"));
      return new Response(body, { status, headers });
    },
  });
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (stopping) outgoing.shouldKeepAlive = false;
    if (incoming.headers.host === undefined) {
      sendProblem(incoming, outgoing, problem("bad-request", { detail: "There is no Host" }), log);
      return;
    }
    if (fast?.(incoming, outgoing) === true) return;
    void listener(incoming, outgoing);
  };
  const server = createServer(
    {
      maxHeaderSize: HEAD_BYTES_MAX,
      headersTimeout: options.headTimeoutMs ?? 10_000,
      requestTimeout: options.requestTimeoutMs ?? 20_000,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      noDelay: true,
      // Node would refuse one without a Host (RFC 9112 section 3.2) by itself, without a word.
      requireHostHeader: false,
    },
    answer,
  );
  // So would it an `Expect` that it does not know, which need not be refused (RFC 9110 section 10.1.1).
  server.on("checkExpectation", answer);
  server.on("clientError", refuseConnection);
  server.maxConnections = CONNECTIONS_MAX;
  server.maxRequestsPerSocket = 0;
  await listen(server, host, port);
  const address = server.address() as AddressInfo;
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address;

  return {
    port: address.port,
    url: `http://${name}:${address.port}`,
    stop: async ({ graceMs = STOP_GRACE_MS } = {}) => {
      if (stopping) return;
      stopping = true;
      const closed = once(server, "close");
      server.close();
      // A connection whose request was accepted before is idle when it is answered: close it then.
      // (Tracking every request instead would cost each of them, for the sake of the last few.)
      const endSweep = every(SWEEP_MS, () => server.closeIdleConnections());
      const inTime = await settlesWithin(closed, graceMs);
      endSweep();
      if (inTime) return;
      log.warn("requests-cut-off", { afterMs: graceMs });
      server.closeAllConnections();
      await closed;
    },
  };
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen({ host, port, backlog: 4_096 });
    await once(server, "listening");
  } catch (error) {
    throw new ListenError(listenAdvice(error, host, port), { cause: error });
  }
}

function listenAdvice(error: unknown, host: string, port: number): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const where = `${host}:${port}`;
  if (code === "EADDRINUSE")
    return `${where} is in use: stop what listens there or choose another port`;
  if (code === "EACCES") return `${where} is not allowed for this user: choose a port from 1024 on`;
  if (code === "EADDRNOTAVAIL") return `${host} is no address of this machine`;
  return `cannot listen on ${where}: ${code}`;
}
