/** Reads a body of the web platform whose length nobody vouches for. */

/** The part of a body's reader that is used: of a request or an answer, on any runtime. */
export interface Chunks {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/**
 * All of it; `undefined` when it is longer than `bytesMax`, and then the rest is cancelled unread. Whatever
 * `Content-Length` says plays no part.
 *
 * @param chunks the body's reader; `undefined`: there is no body.
 * @throws what the reader throws when the connection breaks off.
 */
export async function readAtMost(
  chunks: Chunks | undefined,
  bytesMax: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (chunks === undefined) return new Uint8Array(0);
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await chunks.read();
    if (done || value === undefined) break;
    length += value.byteLength;
    if (length > bytesMax) {
      await chunks.cancel();
      return undefined;
    }
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
}
