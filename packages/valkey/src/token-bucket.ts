/** The token bucket as a port. `memory-token-bucket.ts` and `valkey-token-bucket.ts` are the same thing twice. */

/** 30 days, milliseconds: far from where a number of Lua or of a reply stops being exact. */
export const FULL_AFTER_MS_MAX = 2_592_000_000;

/**
 * `capacity` tokens at first and at most; one comes back every `refillMs`. Whole numbers, 1 or more, and from
 * empty to full in at most `FULL_AFTER_MS_MAX`; anything else is an AssertionError of `take` and `giveBack`.
 */
export interface BucketPolicy {
  /** Part of the key, and the name in `RateLimit-Policy`: `purchase`. Small letters, digits and hyphens. */
  readonly name: string;
  readonly capacity: number;
  readonly refillMs: number;
}

export interface Taken {
  readonly allowed: boolean;
  /** Whole tokens that are left. */
  readonly remaining: number;
  /** Whole milliseconds of the store's clock until a token is there again; 0 exactly when allowed. Asking meanwhile changes nothing. */
  readonly retryAfterMs: number;
  /** Whole milliseconds until the bucket is full, 1 or more. */
  readonly fullAfterMs: number;
}

export interface TokenBucket {
  /**
   * Reads, refills and takes one token in one step, by the store's own clock.
   *
   * @param identity hashed by the caller: it becomes part of a key.
   * @throws StoreAwayError when the store does not say so within the deadline. Never "allowed" then.
   */
  take(policy: BucketPolicy, identity: string): Promise<Taken>;
  /** Undoes one `take`; never above the capacity. @throws StoreAwayError */
  giveBack(policy: BucketPolicy, identity: string): Promise<void>;
}

/** The store is away, slow, loading, demoted, full, or answers nonsense. The caller decides which way to fail. */
export class StoreAwayError extends Error {
  override readonly name = "StoreAwayError";
}
