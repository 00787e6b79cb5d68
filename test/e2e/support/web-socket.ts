/** Frames of RFC 6455 on a wire, by either end. */
import { createHash, randomBytes } from "node:crypto";

import type { Wire } from "./wire.ts";

export const TEXT = 0x1;
export const BINARY = 0x2;
export const CLOSE = 0x8;
export const PING = 0x9;
export const PONG = 0xa;

export interface Frame {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
}

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** `Sec-WebSocket-Accept` for a `Sec-WebSocket-Key`. */
export function acceptOf(key: string): string {
  return createHash("sha1")
    .update(key + GUID)
    .digest("base64");
}

/** @param options.isMasked as a client must, and a server must not */
export function sendFrame(
  wire: Wire,
  opcode: number,
  payload: string | Uint8Array,
  options: { isMasked: boolean; isFinal?: boolean },
): void {
  const bytes = Buffer.from(payload as Uint8Array);
  const head = Buffer.alloc(10);
  head[0] = ((options.isFinal ?? true) ? 0x80 : 0) | opcode;
  let headBytes = 2;
  if (bytes.length < 126) head[1] = bytes.length;
  else if (bytes.length < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(bytes.length, 2);
    headBytes = 4;
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(bytes.length), 2);
    headBytes = 10;
  }
  if (!options.isMasked) {
    wire.write(Buffer.concat([head.subarray(0, headBytes), bytes]));
    return;
  }
  head[1] = (head[1] ?? 0) | 0x80;
  const mask = randomBytes(4);
  const masked = bytes.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  wire.write(Buffer.concat([head.subarray(0, headBytes), mask, masked]));
}

/** The next frame; `undefined` when the connection ends before one. */
export async function readFrame(wire: Wire): Promise<Frame | undefined> {
  const head = await wire.take(2);
  if (head.length < 2) return undefined;
  const [first = 0, second = 0] = head;
  const short = second & 0x7f;
  const length =
    short === 126
      ? (await wire.take(2)).readUInt16BE()
      : short === 127
        ? Number((await wire.take(8)).readBigUInt64BE())
        : short;
  const mask = (second & 0x80) === 0 ? undefined : await wire.take(4);
  const bytes = await wire.take(length);
  const payload = mask === undefined ? bytes : bytes.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return { opcode: first & 0x0f, isFinal: (first & 0x80) !== 0, payload: Buffer.from(payload) };
}

/** A message, put together from its fragments. */
export async function readMessage(wire: Wire): Promise<Frame | undefined> {
  const first = await readFrame(wire);
  if (first === undefined) return undefined;
  const pieces = [first.payload];
  for (let isFinal = first.isFinal; !isFinal;) {
    const next = await readFrame(wire);
    if (next === undefined) return undefined;
    pieces.push(next.payload);
    isFinal = next.isFinal;
  }
  return { opcode: first.opcode, isFinal: true, payload: Buffer.concat(pieces) };
}

/** The payload of a close frame. */
export function closing(code: number, reason: string): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code);
  payload.write(reason, 2);
  return payload;
}
