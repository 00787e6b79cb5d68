/** A fault of ours, put in on purpose: the canaries. All of it is in the simulated world, nothing in production code. */
import type { MintStore } from "@vestibule/mint/src/store/store.ts";
import type { Tokens } from "@vestibule/mint/src/tokens.ts";
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";

export interface Sabotage {
  /** Between the mint and its store. */
  readonly store?: (store: MintStore, random: SeededRandomness) => MintStore;
  /** Between the mint and what signs. */
  readonly tokens?: (tokens: Tokens, random: SeededRandomness) => Tokens;
  /** Instead of the numbers that a takeover skips. */
  readonly gapNumbers?: number;
  /** The database does not say on which timeline it is. */
  readonly hidesHistory?: boolean;
  readonly forgetsSpends?: boolean;
  /** Pages say by themselves that somebody is there. */
  readonly pagesPress?: boolean;
  /** The tolerance of locations, instead of the one that is stated. */
  readonly skewSeconds?: number;
}
