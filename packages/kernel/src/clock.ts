import type { EpochMs } from "./units.ts";

/** Wall-clock time. Read it once per request or tick and pass the reading on. */
export interface Clock {
  now(): EpochMs;
}
