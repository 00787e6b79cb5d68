/**
 * SHA-256 (FIPS 180-4), synchronous. `crypto.subtle.digest` costs a promise and, in Node, a trip to the thread
 * pool: several times the hash itself for inputs of one block, once per join and once per verification.
 * Inputs are hashed, not compared, and no branch or index depends on them.
 */
import type { Bytes } from "./webcrypto.ts";

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;

/** First 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4 section 4.2.2). */
const K = roots(64, Math.cbrt);
/** The same of the square roots of the first 8 primes (section 5.3.3). */
const INITIAL = roots(8, Math.sqrt);

function roots(count: number, root: (of: number) => number): Int32Array {
  const words = new Int32Array(count);
  let found = 0;
  for (let candidate = 2; found < count; candidate += 1) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1)
      if (candidate % divisor === 0) prime = false;
    if (!prime) continue;
    const value = root(candidate);
    words[found] = ((value - Math.floor(value)) * 2 ** 32) | 0;
    found += 1;
  }
  return words;
}

/** The message schedule: overwritten for each block, never read across calls. */
const schedule = new Int32Array(64);

/** The 32 bytes of the digest. */
export function sha256(message: Uint8Array): Bytes {
  const blocks = Math.floor((message.length + LENGTH_BYTES) / BLOCK_BYTES) + 1;
  const padded = new DataView(new ArrayBuffer(blocks * BLOCK_BYTES));
  new Uint8Array(padded.buffer).set(message);
  padded.setUint8(message.length, 0x80);
  padded.setUint32(padded.byteLength - 8, Math.floor(message.length / 2 ** 29));
  padded.setUint32(padded.byteLength - 4, message.length << 3);
  const state = Int32Array.from(INITIAL);
  for (let block = 0; block < blocks; block += 1) {
    for (let word = 0; word < 16; word += 1)
      schedule[word] = padded.getInt32(block * BLOCK_BYTES + word * 4);
    compress(state, schedule);
  }
  const digest = new DataView(new ArrayBuffer(32));
  for (let word = 0; word < 8; word += 1) digest.setInt32(word * 4, at(state, word));
  return new Uint8Array(digest.buffer);
}

/** One block (section 6.2.2). `w` holds its 16 words and is extended to 64. */
function compress(state: Int32Array, w: Int32Array): void {
  for (let t = 16; t < 64; t += 1) {
    const near = at(w, t - 2);
    const far = at(w, t - 15);
    const sigma1 = rotate(near, 17) ^ rotate(near, 19) ^ (near >>> 10);
    const sigma0 = rotate(far, 7) ^ rotate(far, 18) ^ (far >>> 3);
    w[t] = sigma1 + at(w, t - 7) + sigma0 + at(w, t - 16);
  }
  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  let f = at(state, 5);
  let g = at(state, 6);
  let h = at(state, 7);
  for (let t = 0; t < 64; t += 1) {
    const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const one = (h + sum1 + ((e & f) ^ (~e & g)) + at(K, t) + at(w, t)) | 0;
    const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const two = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] = at(state, 0) + a;
  state[1] = at(state, 1) + b;
  state[2] = at(state, 2) + c;
  state[3] = at(state, 3) + d;
  state[4] = at(state, 4) + e;
  state[5] = at(state, 5) + f;
  state[6] = at(state, 6) + g;
  state[7] = at(state, 7) + h;
}

/** The word at `index`, which is always inside. */
function at(words: Int32Array, index: number): number {
  return words[index] ?? 0;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}
