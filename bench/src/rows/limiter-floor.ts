import { compareLimiters } from "../purchase/limiter-comparison.ts";
import type { Row } from "../row.ts";

export const limiterFloor: Row = {
  name: "limiter-floor",
  what: "taking a token from the rate limiter",
  floor:
    "a bare EVALSHA with the same key and arguments that returns a constant, same client settings",
  unit: "takes/s",
  atLeast: 0.8,
  timeoutMs: 120_000,
  measure: (bench) => compareLimiters(bench, "evalsha"),
};
