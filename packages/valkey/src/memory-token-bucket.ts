import type { Clock } from "@vestibule/kernel/clock";

import type { TokenBucket } from "./token-bucket.ts";

export function createMemoryTokenBucket(_clock: Clock): TokenBucket {
  throw new Error("being written");
}
