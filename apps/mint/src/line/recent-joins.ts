/**
 * Who joined within the last minute, so that a repeated join gets the same number (design section 5).
 *
 * A hash table of fixed size in typed arrays, written all over at the start: memory never grows, and
 * 1,000,000 joins cost what 200,000 do. Open addressing within one bucket of eight entries: a lookup
 * reads at most eight, nothing is ever moved, and a full bucket forgets its oldest entry. The bucket
 * is chosen under a secret of the process: nobody can aim visitors at one bucket.
 */
import { assert } from "@vestibule/kernel/assert";

const WAYS = 8;
const WORDS = 8;
/** A time that is older than every other: the entry is free. */
const NEVER = -1;

export interface RecentJoinsOptions {
  /** A power of two, 8 or more. */
  readonly entriesMax: number;
  /** How long an entry counts, milliseconds; a join at exactly this age is a new one. */
  readonly keepMs: number;
  /** Four random bytes or more. */
  readonly secret: Uint8Array;
}

export class RecentJoins {
  readonly #keepMs: number;
  readonly #bucketMask: number;
  readonly #secret: number;
  readonly #subs: Uint32Array;
  readonly #lines: Uint32Array;
  readonly #numbers: Float64Array;
  readonly #times: Float64Array;

  constructor({ entriesMax, keepMs, secret }: RecentJoinsOptions) {
    assert(
      entriesMax >= WAYS && (entriesMax & (entriesMax - 1)) === 0,
      "entries are a power of two",
    );
    assert(secret.byteLength >= 4, "the secret has 32 bits");
    this.#keepMs = keepMs;
    this.#bucketMask = entriesMax / WAYS - 1;
    this.#secret = new DataView(secret.buffer, secret.byteOffset).getUint32(0);
    // Filled, not only allocated: the pages are there from the start.
    this.#subs = new Uint32Array(entriesMax * WORDS).fill(1);
    this.#lines = new Uint32Array(entriesMax).fill(1);
    this.#numbers = new Float64Array(entriesMax).fill(1);
    this.#times = new Float64Array(entriesMax).fill(NEVER);
  }

  /**
   * The number that this visitor got in this line less than `keepMs` ago.
   *
   * @param sub SHA-256 of the visitor, as eight words; compared in full.
   */
  find(sub: Uint32Array, line: number, now: number): number | undefined {
    const start = this.#bucketOf(sub, line);
    for (let entry = start; entry < start + WAYS; entry += 1) {
      if (!this.#isOf(entry, sub, line)) continue;
      const at = this.#times[entry] ?? NEVER;
      return at !== NEVER && now - at < this.#keepMs ? this.#numbers[entry] : undefined;
    }
    return undefined;
  }

  /** Remembers a join; the bucket's oldest entry makes room. */
  remember(
    sub: Uint32Array,
    line: number,
    join: { readonly number: number; readonly at: number },
  ): void {
    const start = this.#bucketOf(sub, line);
    let chosen = start;
    for (let entry = start; entry < start + WAYS; entry += 1) {
      if (this.#isOf(entry, sub, line)) {
        chosen = entry;
        break;
      }
      if ((this.#times[entry] ?? NEVER) < (this.#times[chosen] ?? NEVER)) chosen = entry;
    }
    this.#subs.set(sub, chosen * WORDS);
    this.#lines[chosen] = line;
    this.#numbers[chosen] = join.number;
    this.#times[chosen] = join.at;
  }

  #bucketOf(sub: Uint32Array, line: number): number {
    let mixed = Math.imul((sub[0] ?? 0) ^ this.#secret, 0x9e3779b1) ^ (sub[1] ?? 0);
    mixed = Math.imul(mixed ^ (mixed >>> 15) ^ line, 0x85ebca6b) ^ (sub[2] ?? 0);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) & this.#bucketMask) * WAYS;
  }

  #isOf(entry: number, sub: Uint32Array, line: number): boolean {
    if (this.#lines[entry] !== line) return false;
    const offset = entry * WORDS;
    for (let word = 0; word < WORDS; word += 1) {
      if (this.#subs[offset + word] !== sub[word]) return false;
    }
    return true;
  }
}
