/** The same answers as the hono app gives, on plain node:http objects: for hot routes only. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { BODY_BYTES_MAX } from "@vestibule/contracts/limits";
import { isJsonMediaType } from "./json-body.ts";
import type { Log } from "./log.ts";
import { httpProblem, logFailure, problem } from "./problems.ts";

/**
 * The bytes of a JSON body; decode them with `decodeJson`.
 *
 * @throws AppError `unsupported-media-type`, `body-too-large`, `bad-request` when it did not arrive.
 */
export function readJsonBytes(
  incoming: IncomingMessage,
  { bytesMax = BODY_BYTES_MAX }: { bytesMax?: number } = {},
): Promise<Buffer> {
  const { "content-type": contentType, "content-length": contentLength } = incoming.headers;
  // The usual text first: a comparison instead of a pattern.
  if (contentType !== "application/json" && !isJsonMediaType(contentType)) {
    return Promise.reject(problem("unsupported-media-type"));
  }
  if (contentLength !== undefined && Number(contentLength) > bytesMax) {
    return Promise.reject(problem("body-too-large"));
  }
  return new Promise((resolve, reject) => {
    let only: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let length = 0;
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > bytesMax) {
        reject(problem("body-too-large"));
        return;
      }
      if (only === undefined) only = chunk;
      else (chunks ??= [only]).push(chunk);
    });
    incoming.once("end", () =>
      resolve(chunks === undefined ? (only ?? Buffer.alloc(0)) : Buffer.concat(chunks)),
    );
    // Node reports a connection that ended in the middle of a body as an error of the message.
    incoming.once("error", (cause) =>
      reject(problem("bad-request", { detail: "The body did not arrive", cause })),
    );
  });
}

/** Answers JSON that no cache keeps. `body` is JSON text already. */
export function sendJson(outgoing: ServerResponse, status: number, body: string): void {
  outgoing.writeHead(status, {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Content-Length": Buffer.byteLength(body),
  });
  outgoing.end(body);
}

/** Answers `error` as a problem document; logged when it is ours (`logFailure`). */
export function sendProblem(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  error: unknown,
  log: Log,
): void {
  const { code, status, headers, body } = httpProblem(error);
  logFailure(log, error, { method: incoming.method, path: pathOf(incoming), code, status });
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  // What was not read is not worth waiting for: the connection ends with this answer.
  if (!incoming.complete) outgoing.shouldKeepAlive = false;
  outgoing.writeHead(status, { ...headers, "Content-Length": Buffer.byteLength(body) });
  outgoing.end(body, () => {
    if (!incoming.complete) incoming.destroy();
  });
}

/** The path of the request target, without its query. */
export function pathOf(incoming: IncomingMessage): string {
  const target = incoming.url ?? "/";
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}
