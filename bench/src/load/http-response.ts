/** Reads HTTP/1.1 answers off a socket: only what a load generator needs, and strictly. */

export interface HttpAnswer {
  readonly status: number;
  /** Status line and header lines, without the empty line. */
  readonly head: string;
  readonly body: Buffer;
  /** How many bytes the answer took. */
  readonly bytes: number;
}

const HEAD_BYTES_MAX = 32_768;
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CHUNKED = /\r\ntransfer-encoding: *chunked/i;

/**
 * The answer at the start of `data`, or nothing while it is not all there.
 *
 * @throws Error for what is not an answer with a length (RFC 9112 section 6.3).
 */
export function readAnswer(data: Buffer): HttpAnswer | undefined {
  const headEnd = data.indexOf("\r\n\r\n");
  if (headEnd === -1) {
    if (data.length > HEAD_BYTES_MAX) throw new Error("an answer's head does not end");
    return undefined;
  }
  const head = data.toString("latin1", 0, headEnd);
  if (!head.startsWith("HTTP/1.1 ")) throw new Error(`not an answer: ${head.slice(0, 80)}`);
  const status = Number(head.slice(9, 12));
  const start = headEnd + 4;
  const length = LENGTH.exec(head)?.[1];
  if (length !== undefined) {
    const end = start + Number(length);
    if (data.length < end) return undefined;
    return { status, head, body: data.subarray(start, end), bytes: end };
  }
  if (CHUNKED.test(head)) return readChunked(data, { status, head, start });
  if (status === 204 || status === 304)
    return { status, head, body: Buffer.alloc(0), bytes: start };
  throw new Error("an answer without a length");
}

function readChunked(
  data: Buffer,
  { status, head, start }: { status: number; head: string; start: number },
): HttpAnswer | undefined {
  const pieces: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = data.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(data.toString("latin1", at, lineEnd), 16);
    if (!Number.isInteger(size)) throw new Error("a chunk without a size");
    const end = lineEnd + 2 + size;
    if (data.length < end + 2) return undefined;
    at = end + 2;
    if (size === 0) return { status, head, body: Buffer.concat(pieces), bytes: at };
    pieces.push(data.subarray(lineEnd + 2, end));
  }
}
