/** Bounds of the feed, with their units in their names. */
import { assert } from "@vestibule/kernel/assert";
import {
  DRIP_LAST_CALL_REFRESH_MS,
  DRIP_REFRESH_MS,
  JWKS_REFRESH_MS,
  LIFETIME_SECONDS_MAX,
  MANIFEST_REFRESH_MS,
  REVOCATION_SECONDS_MAX,
  TOKEN_CHARS_MAX,
} from "@vestibule/contracts/limits";

/** One mint's answer, head and body. */
export const MINT_DEADLINE_MS = 2_000;
export const MINT_URLS_MAX = 8;
/** A mint that failed is asked last for this long. */
export const MINT_COOL_MS = 10_000;

/** How long a mint that let a deadline pass is asked for no grant: it doubles with each in a row. */
export const BREAKER_REST_MS_MIN = 1_000;
export const BREAKER_REST_MS_MAX = 10_000;

/** After failures in a row the interval doubles up to this, so that recovery is seen within it. */
export const BACKOFF_MS_MAX = 10_000;

/**
 * After a try that failed: a location that has not tried for this long was left alone, and asks before it decides. Longer
 * than the back-off, so that nobody waits where somebody asks all the time.
 */
export const STALE_IN_VAIN_MS: number = 1.5 * BACKOFF_MS_MAX;

/**
 * A statement that is older than this, because nobody asked lately, may not know of a hold or of a new sale
 * yet: it is asked for before it decides.
 */
export const DRIP_STALE_MS: number = 3 * DRIP_REFRESH_MS;
/** In a last call no isolate that is asked all the time goes by an older one than this, and the mint's round trip. */
export const LAST_CALL_COPY_MS_MAX: number = 1.5 * DRIP_LAST_CALL_REFRESH_MS;
export const MANIFEST_STALE_MS: number = 3 * MANIFEST_REFRESH_MS;
/** In the background: the drip of an event that nobody asked about for so long is not asked for any more. */
export const DRIP_ACTIVE_MS = 300_000;

/** Added to the deadlines of all mints: a refresh that takes longer was cancelled with its request. */
export const REFRESH_SLACK_MS = 1_000;

/** How long a caller that knows nothing waits for a first value, and how often it looks. */
export const FIRST_WAIT_MS = 3_000;
export const FIRST_WAIT_STEP_MS = 20;

/** How long fetched keys stay in force when no mint can be reached (design section 9). */
export const KEYS_TRUST_MS = 86_400_000;

/** While a mint's key set is older than a statement says: asked again at most this often. */
export const KEYS_BEHIND_EVERY_MS = 1_000;

/** A question for the time that took longer is not used: it would measure nothing that decides. */
export const ROUND_TRIP_MS_MAX = 2_000;
/**
 * How often a location asks for the time: each isolate, give or take a tenth, while its clock is surely good; and while it
 * is not, or when something looks odd.
 */
export const CLOCK_ASK_CALM_MS = 30_000;
export const CLOCK_ASK_SOON_MS = 5_000;
export const CLOCK_ANSWER_BYTES_MAX = 4_096;
/** A statement that came from a mint may be so much older than the tolerance before it casts doubt on the clock. */
export const CLOCK_LAG_MS: number = 2 * DRIP_REFRESH_MS;
/** Between two clocks, each of which is slewed by no more than 500 ppm, as kernels bound it. */
export const DRIFT_PPM_MAX = 1_000;
/** How long an answer says anything: the drift has cost 600 ms by then. */
export const READING_TRUST_MS = 600_000;

assert(
  Math.max(MANIFEST_STALE_MS, STALE_IN_VAIN_MS) + 2 * MINT_DEADLINE_MS + KEYS_BEHIND_EVERY_MS <=
    REVOCATION_SECONDS_MAX * 1_000,
  "a statement that tells of a revocation, and the keys, are here within the stated time",
);
assert(
  CLOCK_ANSWER_BYTES_MAX >= 1.5 * TOKEN_CHARS_MAX,
  "an answer for the time fits, with the JSON around it",
);
assert(ROUND_TRIP_MS_MAX <= MINT_DEADLINE_MS, "an answer that is of use is waited for");
assert(
  CLOCK_ASK_CALM_MS < READING_TRUST_MS / 10,
  "a clock is unknown only after many questions in vain",
);
assert(BACKOFF_MS_MAX >= DRIP_REFRESH_MS, "backing off never means asking more often");
assert(KEYS_TRUST_MS >= LIFETIME_SECONDS_MAX * 1000, "an outage outlasts no admitted fan's keys");
assert(KEYS_TRUST_MS >= JWKS_REFRESH_MS, "keys are trusted until the next refresh at least");
