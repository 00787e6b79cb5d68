/** What the platform may lend a location besides its vars. Each may be absent, and none is needed to be exact. */
import type { Dataset } from "./seen.ts";

/** Cloudflare's rate limit: counted per location, approximate, and with no store of ours behind it. */
export interface RateLimit {
  limit(request: { readonly key: string }): Promise<{ readonly success: boolean }>;
}

export interface Bindings {
  /** New places, by event and the network that asks. */
  readonly joinLimit?: RateLimit | undefined;
  /** Claims, by place. */
  readonly claimLimit?: RateLimit | undefined;
  readonly counters?: Dataset | undefined;
  /** The version of this Worker. */
  readonly version?: string | undefined;
}

/** As wrangler binds them. */
export interface BindingEnv {
  readonly JOIN_LIMIT?: RateLimit;
  readonly CLAIM_LIMIT?: RateLimit;
  readonly COUNTERS?: Dataset;
  readonly VERSION?: { readonly id: string; readonly tag?: string };
}

export function readBindings(env: BindingEnv): Bindings {
  const { JOIN_LIMIT, CLAIM_LIMIT, COUNTERS, VERSION } = env;
  return {
    ...{ joinLimit: JOIN_LIMIT, claimLimit: CLAIM_LIMIT, counters: COUNTERS },
    version: VERSION?.id,
  };
}
