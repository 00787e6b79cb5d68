import type { Clock } from "@vestibule/kernel/clock";

import { checkBucket, debtOf, giveBackToken, takeToken } from "./bucket-level.ts";
import { StoreAwayError, type TokenBucket } from "./token-bucket.ts";

/** About 100 MB. More callers than that at once are refused, as by a store whose memory is full. */
const BUCKETS_MAX = 1_000_000;
/** More than one, so that full buckets go faster than new ones come. */
const LOOKED_AT_PER_TAKE = 4;

/**
 * Buckets in this process, for one instance without a store: gone at a restart, unknown to other instances.
 * Full buckets are let go a few at each take, so that none of them ever costs a pause.
 *
 * @param options.bucketsMax how many buckets that are not full may exist; beyond it, StoreAwayError.
 */
export function createMemoryTokenBucket(
  clock: Clock,
  options: { readonly bucketsMax?: number } = {},
): TokenBucket & { /** How many buckets are in memory. */ readonly size: () => number } {
  const { bucketsMax = BUCKETS_MAX } = options;
  /** When each will be full, milliseconds since 1970. Whoever is not in it has a full bucket. */
  const fullAt = new Map<string, number>();
  let round = fullAt.entries();

  function letGoOfFull(now: number): void {
    for (let looked = 0; looked < LOOKED_AT_PER_TAKE; looked += 1) {
      const next = round.next();
      if (next.done === true) {
        round = fullAt.entries();
        return;
      }
      const [key, at] = next.value;
      if (at <= now) fullAt.delete(key);
    }
  }

  return {
    take: async (policy, identity) => {
      checkBucket(policy, identity);
      const key = `${policy.name}:${identity}`;
      const now = clock.now();
      letGoOfFull(now);
      const held = fullAt.get(key);
      if (held === undefined && fullAt.size >= bucketsMax) {
        throw new StoreAwayError(`more than ${bucketsMax} buckets at once`);
      }
      const taken = takeToken(policy, debtOf(policy, (held ?? now) - now));
      fullAt.set(key, now + taken.fullAfterMs);
      return taken;
    },
    giveBack: async (policy, identity) => {
      checkBucket(policy, identity);
      const key = `${policy.name}:${identity}`;
      const now = clock.now();
      const debtMs = giveBackToken(policy, debtOf(policy, (fullAt.get(key) ?? now) - now));
      if (debtMs > 0) fullAt.set(key, now + debtMs);
      else fullAt.delete(key);
    },
    size: () => fullAt.size,
  };
}
