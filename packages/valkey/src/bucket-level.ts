/**
 * The token bucket's arithmetic: the generic cell rate algorithm. A bucket is one whole number, the milliseconds
 * until it is full: its debt. What it lacks is time, so that no fraction of a token is ever kept or rounded; a
 * refill takes whole milliseconds, so that none of those are either. `scripts/take-token.ts` and
 * `scripts/give-back-token.ts` say the same in Lua, where a key's time to live is the debt.
 */
import { assert } from "@vestibule/kernel/assert";

import { type BucketPolicy, FULL_AFTER_MS_MAX, type Taken } from "./token-bucket.ts";

type Size = Pick<BucketPolicy, "capacity" | "refillMs">;

/** @throws AssertionError when the policy or the identity cannot be used. */
export function checkBucket(policy: BucketPolicy, identity: string): void {
  const { name, capacity, refillMs } = policy;
  assert(/^[a-z0-9-]{1,64}$/.test(name), "a policy has a name of small letters, digits, hyphens");
  assert(Number.isSafeInteger(capacity) && capacity >= 1, "a capacity is a whole number >= 1");
  assert(Number.isSafeInteger(refillMs) && refillMs >= 1, "a refill takes whole milliseconds >= 1");
  assert(capacity * refillMs <= FULL_AFTER_MS_MAX, "a bucket is full again within 30 days");
  assert(identity.length >= 1 && identity.length <= 256, "an identity has 1 to 256 characters");
}

/**
 * The debt of a bucket that was left with it, in milliseconds. Never more than an empty bucket's: a clock that was set
 * back freezes nobody longer than one full refill.
 */
export function debtOf({ capacity, refillMs }: Size, debtMs: number): number {
  return Math.min(capacity * refillMs, Math.max(0, debtMs));
}

/** Takes one token, if one is there. @param debtMs by `debtOf`; `fullAfterMs` is the debt from then on. */
export function takeToken({ capacity, refillMs }: Size, debtMs: number): Taken {
  const owedMs = debtMs + refillMs;
  const overMs = owedMs - capacity * refillMs;
  if (overMs > 0) {
    return { allowed: false, remaining: 0, retryAfterMs: overMs, fullAfterMs: debtMs };
  }
  const remaining = capacity - Math.ceil(owedMs / refillMs);
  return { allowed: true, remaining, retryAfterMs: 0, fullAfterMs: owedMs };
}

/** @param debtMs by `debtOf` @returns the debt from then on. */
export function giveBackToken({ refillMs }: Size, debtMs: number): number {
  return Math.max(0, debtMs - refillMs);
}
