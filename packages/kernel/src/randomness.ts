/** Random bytes: cryptographic in production, seeded in tests. */
export interface Randomness {
  bytes(length: number): Uint8Array<ArrayBuffer>;
}
