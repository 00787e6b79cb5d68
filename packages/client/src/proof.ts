/**
 * Work that an event may ask for before a new place (ADR 19): a counter for which SHA-256 over a given text and the counter
 * begins with so many zero bits. Only needed where it is asked for: import it where that may be.
 */
import type { ProofOfWork } from "@vestibule/contracts/line-api";

/** SHA-256 over the UTF-8 of `text`: 32 bytes. The platform's own is off the thread on which presses are answered. */
export type Sha256 = (text: string) => Promise<ArrayBuffer>;

/** Asked for together: enough to keep the platform busy, and some milliseconds of a poor phone. */
const COUNTERS_AT_ONCE = 128;

/**
 * The smallest counter, in decimal. Takes 2^bits hashes on average, and any number of them.
 * @throws what `sha256` throws
 */
export async function prove({ bits, text }: ProofOfWork, sha256: Sha256): Promise<string> {
  for (let first = 0; ; first += COUNTERS_AT_ONCE) {
    const counters = Array.from({ length: COUNTERS_AT_ONCE }, (_none, tried) => first + tried);
    const hashes = await Promise.all(counters.map((counter) => sha256(text + String(counter))));
    const found = hashes.findIndex((hash) => zeroBits(hash) >= bits);
    if (found !== -1) return String(first + found);
  }
}

/** With how many zero bits it begins: of the first 32, which is further than an event may ask. */
export function zeroBits(hash: ArrayBuffer): number {
  return Math.clz32(new DataView(hash).getUint32(0));
}
