/**
 * The token bucket's arithmetic: the generic cell rate algorithm. A bucket is one whole number, the time in
 * microseconds at which it will be full (`fullAt`); what it lacks is time, so that no fraction of a token is ever
 * stored or rounded. `scripts/take-token.ts` and `scripts/give-back-token.ts` say the same in Lua.
 */
import { assert } from "@vestibule/kernel/assert";

import { type BucketPolicy, FULL_AFTER_MS_MAX, type Taken } from "./token-bucket.ts";

const MICROS = 1_000;

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
 * Takes one token.
 *
 * @param fullAt microseconds; undefined for a bucket that nobody has used.
 * @param now microseconds of the same clock.
 * @returns `fullAt` is what to store; it changes without a token taken only when the clock or the policy did.
 */
export function takeToken(
  policy: BucketPolicy,
  fullAt: number | undefined,
  now: number,
): { readonly taken: Taken; readonly fullAt: number } {
  const refill = policy.refillMs * MICROS;
  const whole = policy.capacity * refill;
  const debt = debtOf(policy, fullAt, now);
  if (debt + refill > whole) {
    const taken = {
      allowed: false,
      remaining: 0,
      retryAfterMs: Math.ceil((debt + refill - whole) / MICROS),
      fullAfterMs: Math.ceil(debt / MICROS),
    };
    return { taken, fullAt: now + debt };
  }
  const owed = debt + refill;
  const taken = {
    allowed: true,
    remaining: Math.floor((whole - owed) / refill),
    retryAfterMs: 0,
    fullAfterMs: Math.ceil(owed / MICROS),
  };
  return { taken, fullAt: now + owed };
}

/** @returns what to store; `now` or less means a full bucket, which needs no storing. */
export function giveBackToken(
  policy: BucketPolicy,
  fullAt: number | undefined,
  now: number,
): number {
  return now + Math.max(0, debtOf(policy, fullAt, now) - policy.refillMs * MICROS);
}

/** Never more than an empty bucket's: a clock that was set back freezes nobody longer than one full refill. */
function debtOf(policy: BucketPolicy, fullAt: number | undefined, now: number): number {
  const whole = policy.capacity * policy.refillMs * MICROS;
  return Math.min(whole, Math.max(0, (fullAt ?? now) - now));
}
