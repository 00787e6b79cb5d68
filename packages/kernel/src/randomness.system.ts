import type { Randomness } from "./randomness.ts";

declare const crypto: { getRandomValues(into: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> };

/** The runtime's cryptographic generator (Web Crypto, in Node and in workerd). */
export const systemRandomness: Randomness = {
  bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
};
