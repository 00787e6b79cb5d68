import type { EpochSeconds } from "@vestibule/kernel/units";

/**
 * Why a token or statement is refused. For logs and for deciding what to do next; towards a client
 * everything up to `bad-signature` is one and the same answer.
 */
export type TokenRefusal =
  | {
      readonly reason:
        | "malformed"
        | "forbidden-header"
        | "wrong-algorithm"
        | "wrong-type"
        /** Worth a look at the mint's key set, once per cool-down. */
        | "unknown-key"
        /** The key has retired, by this verifier's clock; for a time, by the statement's own. */
        | "key-over"
        | "bad-signature"
        /** This runtime could not verify at all: our fault, never the client's. Answer 503. */
        | "cannot-verify"
        | "bad-claims"
        | "wrong-issuer"
        | "wrong-audience"
        | "wrong-action"
        | "wrong-visitor"
        | "lifetime-too-long";
    }
  | { readonly reason: "issued-in-future"; readonly issuedAt: EpochSeconds }
  | { readonly reason: "too-early"; readonly validFrom: EpochSeconds }
  | { readonly reason: "over"; readonly until: EpochSeconds };
