/** Bounds of the guard, with their units in their names. */
import {
  DRIP_REFRESH_MS,
  JWKS_REFRESH_MS,
  PURCHASE_DEADLINE_MS_MAX,
} from "@vestibule/contracts/limits";
import { assert } from "@vestibule/kernel/assert";

/**
 * Nothing refreshes between requests, so keys that are older than this are asked for again before they decide.
 * A quarter over: a revoked key must not buy because a shop was quiet.
 */
export const KEYS_STALE_MS: number = 1.25 * JWKS_REFRESH_MS;

/** Events that a guard may be told by name. */
export const EVENTS_NAMED_MAX = 64;

/** In the background: how often it looks what is due. */
export const TICK_MS = 250;

/** Longer than the purchase API's own deadline, so that its answer is heard. */
export const SPEND_DEADLINE_MS_DEFAULT = 15_000;
export const SPEND_DEADLINE_MS_MIN = 100;
export const SPEND_DEADLINE_MS_MAX = 60_000;
/** Of an answer to a spend: a spend or a problem document, with a credit at most. */
export const ANSWER_BYTES_MAX = 16_384;

/** How long a client waits when the purchase API does not say, and at most whatever it says. */
export const RETRY_AFTER_MS_DEFAULT = 1_000;
export const RETRY_AFTER_MS_MAX = 3_600_000;

assert(KEYS_STALE_MS >= JWKS_REFRESH_MS, "what was refreshed on time is never stale");
assert(SPEND_DEADLINE_MS_DEFAULT > PURCHASE_DEADLINE_MS_MAX, "its answer is heard");
assert(TICK_MS < DRIP_REFRESH_MS, "the background looks before anything is stale");
