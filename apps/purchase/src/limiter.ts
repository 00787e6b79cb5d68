/** Step 2: who asks too often waits. Fails closed: no answer of the store is no permission. */
import { problem } from "@vestibule/service/problems";
import {
  type BucketPolicy,
  StoreAwayError,
  type Taken,
  type TokenBucket,
} from "@vestibule/valkey/token-bucket";
import type { HashIdentity } from "./identity.ts";
import { AWAY_RETRY_AFTER_SECONDS } from "./limits.ts";

/** Headers of the answer to come, also when it is a refusal. */
export interface AnswerHeaders {
  set(name: string, value: string): void;
}

export interface Limiter {
  /**
   * Takes one token of `identity` and says so in the headers (draft-ietf-httpapi-ratelimit-headers).
   *
   * @throws AppError `too-many-requests` with `Retry-After` and `retryAfterMs`; `unavailable` when the
   * store does not say.
   */
  take(identity: string, headers: AnswerHeaders): Promise<void>;
  /** Undoes one `take`. Never rejects: what is not given back comes back with time. */
  giveBack(identity: string): Promise<void>;
}

export function createLimiter(
  policy: BucketPolicy,
  { bucket, hash }: { bucket: TokenBucket; hash: HashIdentity },
): Limiter {
  return {
    take: async (identity, headers) => {
      const taken = await bucket.take(policy, hash(policy.name, identity)).catch(failClosed);
      headers.set("RateLimit-Policy", policyHeader(policy));
      headers.set("RateLimit", stateHeader(policy, taken));
      if (taken.allowed) return;
      throw problem("too-many-requests", {
        retryAfterSeconds: wholeSeconds(taken.retryAfterMs),
        extensions: { retryAfterMs: taken.retryAfterMs },
      });
    },
    giveBack: (identity) =>
      bucket.giveBack(policy, hash(policy.name, identity)).catch((error: unknown) => {
        if (!(error instanceof StoreAwayError)) throw error;
      }),
  };
}

/** `"purchase";q=10;w=10`: ten in ten seconds, which is how long an empty bucket takes to be full. */
function policyHeader({ name, capacity, refillMs }: BucketPolicy): string {
  return `"${name}";q=${capacity};w=${wholeSeconds(capacity * refillMs)}`;
}

/** `"purchase";r=9;t=1`: nine are left, and in one second the bucket is full. */
function stateHeader({ name }: BucketPolicy, { remaining, fullAfterMs }: Taken): string {
  return `"${name}";r=${remaining};t=${wholeSeconds(fullAfterMs)}`;
}

function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

function failClosed(error: unknown): never {
  if (!(error instanceof StoreAwayError)) throw error;
  throw problem("unavailable", {
    internal: "the limiter's store is away",
    retryAfterSeconds: AWAY_RETRY_AFTER_SECONDS,
    cause: error,
  });
}
