import { checkBucket } from "./bucket-level.ts";
import type { ValkeyClient } from "./client.system.ts";
import { GIVE_BACK_TOKEN } from "./scripts/give-back-token.ts";
import { BUCKET_MARGIN_MS, TAKE_TOKEN } from "./scripts/take-token.ts";
import type { BucketPolicy, TokenBucket } from "./token-bucket.ts";

/**
 * Buckets in Valkey or Redis, one key each (`vst:bucket:<policy>:<identity>`), which expires a second after
 * the bucket is full. Each key stands alone, so that a cluster spreads them. The server's clock counts.
 */
export function createValkeyTokenBucket(client: ValkeyClient): TokenBucket {
  return {
    take: async (policy, identity) => client.run(TAKE_TOKEN, ...callFor(policy, identity)),
    giveBack: async (policy, identity) => {
      await client.run(GIVE_BACK_TOKEN, ...callFor(policy, identity));
    },
  };
}

function callFor(policy: BucketPolicy, identity: string): [keys: string[], args: string[]] {
  checkBucket(policy, identity);
  const { name, capacity, refillMs } = policy;
  return [[`vst:bucket:${name}:${identity}`], [capacity, refillMs, BUCKET_MARGIN_MS].map(String)];
}
