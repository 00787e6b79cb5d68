/** As much of RESP2, the protocol of Valkey and Redis, as tests need to command a server or to play one. */

export type RespReply = string | number | null | Error | readonly RespReply[];

export function encodeCommand(words: readonly string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${parts.join("")}`;
}

/** The complete replies (or commands, which have the same form) at the start of `bytes`. */
export function readReplies(bytes: Buffer): readonly RespReply[] {
  const replies: RespReply[] = [];
  let at = 0;
  for (;;) {
    const next = readOne(bytes, at);
    if (next === undefined) return replies;
    replies.push(next.value);
    at = next.end;
  }
}

function readOne(bytes: Buffer, at: number): { value: RespReply; end: number } | undefined {
  const lineEnd = bytes.indexOf("\r\n", at);
  if (lineEnd < 0) return undefined;
  const kind = String.fromCharCode(bytes[at] ?? 0);
  const text = bytes.toString("utf8", at + 1, lineEnd);
  const end = lineEnd + 2;
  if (kind === "+") return { value: text, end };
  if (kind === "-") return { value: new Error(text), end };
  if (kind === ":") return { value: Number(text), end };
  const length = Number(text);
  if (length < 0) return { value: null, end };
  if (kind === "$") {
    if (bytes.length < end + length + 2) return undefined;
    return { value: bytes.toString("utf8", end, end + length), end: end + length + 2 };
  }
  if (kind !== "*") throw new Error(`not a reply: ${kind}${text}`);
  const items: RespReply[] = [];
  let next = end;
  for (let index = 0; index < length; index += 1) {
    const item = readOne(bytes, next);
    if (item === undefined) return undefined;
    items.push(item.value);
    next = item.end;
  }
  return { value: items, end: next };
}
