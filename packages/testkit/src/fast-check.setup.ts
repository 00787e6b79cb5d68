/** Runs before each test file, in Node and in workerd: every property takes the run's seed. */
import { configureGlobal, VerbosityLevel } from "fast-check";
import { inject } from "vitest";

import "./run-seed.ts";

// A property that fails prints seed, path and the shrunk counterexample.
configureGlobal({
  seed: inject("seed"),
  numRuns: inject("runs"),
  verbose: VerbosityLevel.Verbose,
});
