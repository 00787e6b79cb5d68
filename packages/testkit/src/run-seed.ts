import { inject } from "vitest";

import { SeededRandomness } from "./seeded-randomness.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** One seed for the whole run, printed at its end; `VESTIBULE_SEED` repeats it. */
    seed: number;
    /** How many cases each property tries; `VESTIBULE_RUNS` raises it. */
    runs: number;
  }
}

/** Randomness of this run's seed. `salt` keeps two uses in one file apart. */
export function runRandomness(salt = 0): SeededRandomness {
  return new SeededRandomness(inject("seed") + salt);
}
