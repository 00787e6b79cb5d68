import type { ValkeyClient } from "./client.system.ts";
import type { TokenBucket } from "./token-bucket.ts";

export function createValkeyTokenBucket(_client: ValkeyClient): TokenBucket {
  throw new Error("being written");
}
