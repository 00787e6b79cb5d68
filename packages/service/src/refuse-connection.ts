/** What Node refuses before there is a request for the app: a problem document as well, and the connection's end. */
import type { Duplex } from "node:stream";
import { PROBLEMS, type ProblemCode } from "@vestibule/contracts/problems";
import { httpProblem, problem } from "./problems.ts";

/** Codes of Node's HTTP server and parser; any other one is a request that is not well formed. */
const CODES: ReadonlyMap<unknown, ProblemCode> = new Map<string, ProblemCode>([
  ["ERR_HTTP_REQUEST_TIMEOUT", "request-timeout"],
  ["HPE_HEADER_OVERFLOW", "head-too-large"],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", "body-too-large"],
]);

/** A listener for `clientError`: head or body too slow, head too large, not HTTP, or a connection that broke. */
export function refuseConnection(error: Error & { code?: unknown }, socket: Duplex): void {
  if (!socket.writable || isAnswered(socket)) {
    socket.destroy();
    return;
  }
  const code = CODES.get(error.code) ?? "bad-request";
  socket.end(textOf(code), () => socket.destroy());
}

/**
 * Whether an answer to an earlier request on it has begun, which nothing may be written into. Node's own listener
 * looks at the same member; there is no public one.
 */
function isAnswered(socket: Duplex): boolean {
  const { _httpMessage: answer } = socket as { _httpMessage?: { headersSent: boolean } | null };
  return answer?.headersSent === true;
}

function textOf(code: ProblemCode): string {
  const { status, headers, body } = httpProblem(problem(code));
  return [
    `HTTP/1.1 ${status} ${PROBLEMS[code].title}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}
