import { checkBucket } from "./bucket-level.ts";
import type { ValkeyClient } from "./client.system.ts";
import type { Script } from "./script.ts";
import { GIVE_BACK_TOKEN } from "./scripts/give-back-token.ts";
import { TAKE_TOKEN } from "./scripts/take-token.ts";
import type { BucketPolicy, TokenBucket } from "./token-bucket.ts";

/**
 * Buckets in Valkey or Redis, one key each (`vst:bucket:<policy>:<identity>`), which expires when the bucket is
 * full: its time to live is all there is to a bucket. Each key stands alone, so that a cluster spreads them.
 * The server's clock counts.
 */
export function createValkeyTokenBucket(client: ValkeyClient): TokenBucket {
  // Without `async`, which costs a promise and three turns more for each call.
  const run = <Reply>(
    script: Script<Reply>,
    policy: BucketPolicy,
    identity: string,
  ): Promise<Reply> => {
    try {
      checkBucket(policy, identity);
    } catch (error) {
      return Promise.reject(error);
    }
    const { name, capacity, refillMs } = policy;
    const key = `vst:bucket:${name}:${identity}`;
    return client.run(script, [key], [String(capacity), String(refillMs)]);
  };
  return {
    take: (policy, identity) => run(TAKE_TOKEN, policy, identity),
    giveBack: async (policy, identity) => {
      await run(GIVE_BACK_TOKEN, policy, identity);
    },
  };
}
