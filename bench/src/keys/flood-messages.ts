/** What `jwks-refresh` and the process that floods a location in virtual time say to each other. */
import { JWKS_COOLDOWN_MS, JWKS_REFRESH_MS } from "@vestibule/contracts/limits";

export interface ToFlood {
  readonly isolates: number;
  readonly requests: number;
}

export type FromFlood =
  | {
      readonly type: "flooded";
      /** Of virtual time. */
      readonly elapsedMs: number;
      readonly keySets: number;
      readonly admitted: number;
      readonly good: number;
      /** What was let in and must not be. */
      readonly junkAdmitted: number;
      /** Of the heap, after a collection each: when the flood had begun, and at its end. */
      readonly heapBytes: readonly [number, number];
    }
  | { readonly type: "failed"; readonly message: string };

/**
 * How often isolates may ask for the key set in so long: each once a cool-down because of a `kid` that it does not know,
 * and on schedule. An interval that has begun counts.
 */
export function keySetsMost(elapsedMs: number, isolates: number): number {
  const begun = (everyMs: number): number => Math.floor(elapsedMs / everyMs) + 1;
  return isolates * (begun(JWKS_COOLDOWN_MS) + begun(JWKS_REFRESH_MS));
}
