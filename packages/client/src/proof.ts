/**
 * Work that an event may ask for before a new place (ADR 19): a counter for which SHA-256 over a given text and the counter
 * begins with so many zero bits. Only needed where it is asked for: import it where that may be.
 */
import type { ProofOfWork } from "@vestibule/contracts/line-api";

/** SHA-256 over the UTF-8 of `text`: 32 bytes. The platform's own is off the thread on which presses are answered. */
export type Sha256 = (text: string) => Promise<ArrayBuffer>;

/** Hashes under way at once: enough to keep the platform busy. */
const AT_ONCE = 128;

/**
 * A counter. Takes 2^bits hashes on average, and any number of them.
 * @throws what `sha256` throws
 */
export function prove({ bits, text }: ProofOfWork, sha256: Sha256): Promise<number> {
  const race = { isOver: false };
  return Promise.race(
    Array.from({ length: AT_ONCE }, async (_none, first) => {
      let counter = first;
      while (!race.isOver && zeroBits(await sha256(`${text}${counter}`)) < bits) counter += AT_ONCE;
      // Whoever ends because of another one comes after it.
      race.isOver = true;
      return counter;
    }),
  );
}

/** With how many zero bits it begins: of the first 32, which is further than an event may ask. */
export function zeroBits(hash: ArrayBuffer): number {
  return Math.clz32(new DataView(hash).getUint32(0));
}
