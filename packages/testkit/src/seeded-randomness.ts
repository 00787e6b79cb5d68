import type { Randomness } from "@vestibule/kernel/randomness";

/** The same seed gives the same bytes, whatever the machine. Never for production: 32 bits of state. */
export class SeededRandomness implements Randomness {
  readonly seed: number;
  #state: number;

  /** @param seed any whole number; its low 32 bits count. */
  constructor(seed: number) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  bytes(length: number): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(length);
    for (let index = 0; index < length; index += 1) bytes[index] = this.#next() >>> 24;
    return bytes;
  }

  /** A whole number in `min … max`, both included. */
  integer(range: { min: number; max: number }): number {
    return range.min + Math.floor((this.#next() / 2 ** 32) * (range.max - range.min + 1));
  }

  /** True about `percent` times in a hundred. */
  chance(percent: number): boolean {
    return this.integer({ min: 0, max: 99 }) < percent;
  }

  /** One of `items`, which must not be empty. */
  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.integer({ min: 0, max: items.length - 1 })];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  }

  /** Splitmix32: passes through all 2^32 states, and neighbouring seeds part at once. */
  #next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state ^ (this.#state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }
}
