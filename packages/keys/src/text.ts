import type { Bytes } from "./webcrypto.ts";

declare class TextEncoder {
  encode(text: string): Bytes;
}
declare class TextDecoder {
  constructor(label: "utf-8", options: { fatal: boolean; ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function utf8(text: string): Bytes {
  return encoder.encode(text);
}

/** The text of `bytes`, or undefined when they are not well-formed UTF-8. A byte order mark is kept. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
