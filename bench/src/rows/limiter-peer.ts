import { compareLimiters } from "../purchase/limiter-comparison.ts";
import type { Row } from "../row.ts";

export const limiterPeer: Row = {
  name: "limiter-peer",
  what: "taking a token from the rate limiter",
  floor: "RateLimiterRedis of rate-limiter-flexible on the same server through the same driver",
  unit: "takes/s",
  atLeast: 1,
  timeoutMs: 120_000,
  measure: (bench) => compareLimiters(bench, "peer"),
};
