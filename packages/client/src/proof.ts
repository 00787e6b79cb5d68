/**
 * Work that an event may ask for before a new place (ADR 19): a counter for which SHA-256 over a given text and the counter
 * begins with so many zero bits. Only needed where it is asked for: import it where that may be.
 */
import type { ProofOfWork } from "@vestibule/contracts/line-api";

/** SHA-256 over the UTF-8 of `text`: 32 bytes. */
export type Sha256 = (text: string) => Promise<ArrayBuffer>;

/** Hashes under way at once, and between two breaths. */
const AT_ONCE = 512;

/**
 * A counter. Takes 2^bits hashes on average, and any number of them.
 *
 * @param breathe called now and then, and waited for: a browser may answer so many hashes without a turn for anything else
 * @throws what `sha256` throws
 */
export async function prove(
  { bits, text }: ProofOfWork,
  sha256: Sha256,
  breathe?: () => Promise<void>,
): Promise<number> {
  for (let first = 0; ; first += AT_ONCE) {
    const hashes = await Promise.all(
      Array.from({ length: AT_ONCE }, (_none, at) => sha256(`${text}${first + at}`)),
    );
    const found = hashes.findIndex((hash) => zeroBits(hash) >= bits);
    if (found >= 0) return first + found;
    await breathe?.();
  }
}

/** With how many zero bits it begins: of the first 32, which is further than an event may ask. */
export function zeroBits(hash: ArrayBuffer): number {
  return Math.clz32(new DataView(hash).getUint32(0));
}
