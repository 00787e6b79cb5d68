/**
 * Every bound of the system, with its unit in its name. Relations that the design relies on are
 * asserted below, when the module loads.
 */
import { assert } from "@vestibule/kernel/assert";

/** Clock tolerance between signer and verifier (design section 4). */
export const SKEW_SECONDS_DEFAULT = 5;
export const SKEW_SECONDS_MAX = 60;

/** How far ahead of now the drip is committed (design section 3). */
export const HORIZON_SECONDS_DEFAULT = 60;
export const HORIZON_SECONDS_MIN = 10;
export const HORIZON_SECONDS_MAX = 600;

/** How long a slot stays open. */
export const LIFETIME_SECONDS_DEFAULT = 600;
export const LIFETIME_SECONDS_MIN = 10;
export const LIFETIME_SECONDS_MAX = 86_400;

/** A slot that nobody claims within this time lapses. The effective window is never longer than the lifetime. */
export const CLAIM_WINDOW_SECONDS_DEFAULT = 180;
export const CLAIM_WINDOW_SECONDS_MIN = 5;
/** Slots that are open for claims are in every statement: longer ones would not fit. */
export const CLAIM_WINDOW_SECONDS_MAX = 3_600;

export const RATE_PER_MINUTE_MIN = 1;
export const RATE_PER_MINUTE_MAX = 1_000_000;

/** Lapsed slots are given back at no more than rate × this, in per cent. 150 makes up for one no-show in three. */
export const OVERDRIVE_PERCENT_DEFAULT = 150;
export const OVERDRIVE_PERCENT_MIN = 100;
export const OVERDRIVE_PERCENT_MAX = 1_000;

/** Entries of a plan of rates. */
export const RATE_PLAN_ENTRIES_MAX = 100;
/** Slots that may open beyond the rate; 0 unless an organizer says otherwise (design law 3). */
export const APPROXIMATION_BUDGET_MAX = 1_000_000;

export const SLUG_CHARS_MAX = 64;
export const TITLE_CHARS_MAX = 200;
export const NOTICE_CHARS_MAX = 500;
export const PRICE_RANGE_CHARS_MAX = 100;
export const ROUTES_PER_EVENT_MAX = 64;
export const ROUTE_CHARS_MAX = 200;
export const EVENTS_MAX = 200;
/** Conditions of one bypass rule. */
export const NETWORKS_PER_RULE_MAX = 32;
export const SERVICES_PER_RULE_MAX = 16;

/** Leading zero bits that an event may ask for before a join: some seconds on a desktop, minutes on a poor phone. */
export const PROOF_OF_WORK_BITS_MAX = 24;

/** An event's own looks of the page. Characters of each part; bytes of all, as JSON in UTF-8, and compressed as part of a page. */
export const LOGO_CHARS_MAX = 3_000;
export const LOGO_ALT_CHARS_MAX = 100;
export const LOOKS_TEXT_CHARS_MAX = 200;
export const TEMPLATE_CHARS_MAX = 4_000;
export const LOOKS_JSON_BYTES_MAX = 12_288;
export const LOOKS_PAGE_BYTES_MAX = 640;

/** A visitor's secret: 256 bits, base64url. */
export const VISITOR_BYTES = 32;
export const VISITOR_CHARS = 43;

/** Longest token text a verifier looks at; longer ones are refused before any parsing. */
export const TOKEN_CHARS_MAX = 2_048;
/** Longest statement (drip, manifest) a location takes from the mint. */
export const STATEMENT_BYTES_MAX = 1_048_576;
export const JWKS_BYTES_MAX = 65_536;
export const JWKS_KEYS_MAX = 16;

/** Request heads with more cookie text than this get 431 without any cryptography. */
export const COOKIE_CHARS_MAX = 16_384;
/** JSON bodies of our own endpoints. */
export const BODY_BYTES_MAX = 16_384;
/** People of one batch of places that are given beforehand. */
export const PREMINT_BATCH_MAX = 1_000;
/** A batch's body: each person is a hash in quotes, and a comma. */
export const PREMINT_BODY_BYTES_MAX = 65_536;

/** The same visitor joining again within this time gets the same number (bounded memory permitting). */
export const JOIN_RETRY_SECONDS = 60;

/** How old a location lets its copy become before it asks the mint again. */
export const DRIP_REFRESH_MS = 1_000;
/** The same in a last call: within it the age of a copy is part of what a fan waits for the truth (apps/edge/src/limits.ts). */
export const DRIP_LAST_CALL_REFRESH_MS = 250;
export const MANIFEST_REFRESH_MS = 5_000;
export const JWKS_REFRESH_MS = 60_000;
/** An unknown `kid` asks for the key set at most this often per isolate. */
export const JWKS_COOLDOWN_MS = 10_000;
/**
 * The longest that a location goes on by an old copy of the key set while a mint answers: its refresh and a quarter,
 * what another isolate's copy was old already, and `max-age` of a cache before the mint.
 */
export const JWKS_CACHE_SECONDS_MAX: number = (3.25 * JWKS_REFRESH_MS) / 1_000;
/** How long until a change of the key store is in what every mint signs and answers. */
export const KEYS_PROPAGATION_SECONDS = 10;
/**
 * A revoked key is refused by every location that reaches a mint, within this time from the answer to `revoke`: each
 * statement names the newest key set (`keysSeq`), and no location decides by a statement older than 15 s.
 */
export const REVOCATION_SECONDS_MAX = 20;
/** A key is published for so long before it signs. */
export const KEY_STAGED_SECONDS: number =
  JWKS_CACHE_SECONDS_MAX + SKEW_SECONDS_MAX + KEYS_PROPAGATION_SECONDS;
/** Published keys of one use. */
export const KEYS_PER_USE_MAX: number = JWKS_KEYS_MAX / 2;
/** A key of tickets stays this much longer than the events: an organizer may move an end until it is there. */
export const LINE_KEY_SLACK_SECONDS = 3_600;
export const KEY_REASON_CHARS_MAX = 500;

/** From the commit that sells or holds the last piece until every visible page says so: the claim that a last call is for. */
export const SOLD_OUT_TOLD_MS_MAX = 2_000;
/** How long one last call lasts at most: within it visible pages look about every second. 0: there is none. */
export const LAST_CALL_SECONDS_DEFAULT = 600;
export const LAST_CALL_SECONDS_MAX = 7_200;

/** A location's name, as it reports it to the mint. */
export const LOCATION_CHARS_MAX = 64;
/** Rules of which one report says how often they let something pass; the others are in the next one. */
export const PASSES_PER_REPORT_MAX = 32;
/** Passes by one rule that one report can tell of. */
export const PASSES_COUNT_MAX = 1_000_000_000;

/** A service's token, from signing to its end; that is never later than the event's and this slack. */
export const SERVICE_TOKEN_SECONDS_MIN = 60;
export const SERVICE_TOKEN_SLACK_SECONDS = 3_600;

/** How long a statement may be relied on when the mint cannot be reached. */
export const DRIP_STATEMENT_SECONDS = 3_600;
export const MANIFEST_STATEMENT_SECONDS = 7 * 86_400;

/** Anything an admission key signed is over this long after it was signed, unless an event has longer slots. */
export const ADMISSION_LIFE_SECONDS_DEFAULT: number =
  HORIZON_SECONDS_DEFAULT + LIFETIME_SECONDS_DEFAULT;
/** How long a key of each use verifies after the next has taken over; longer where what it signed lives longer. */
export const ADMISSION_KEY_RETIRING_SECONDS: number =
  KEYS_PROPAGATION_SECONDS + ADMISSION_LIFE_SECONDS_DEFAULT + 2 * SKEW_SECONDS_MAX;
export const LINE_KEY_RETIRING_SECONDS: number =
  KEYS_PROPAGATION_SECONDS + DRIP_STATEMENT_SECONDS + 2 * SKEW_SECONDS_MAX;

export const IDEMPOTENCY_KEY_CHARS_MAX = 200;
export const SKU_CHARS_MAX = 64;
/** What a supply report may say is left: more than all skus of an event hold together is no figure. */
export const SUPPLY_LEFT_MAX = 1_000_000_000_000;
export const QUANTITY_MAX = 100;

/** How long a hold keeps its seats, and by how much its buyer may extend it, once. Set for each sku. */
export const HOLD_SECONDS_DEFAULT = 600;
export const HOLD_SECONDS_MIN = 10;
export const HOLD_SECONDS_MAX = 7_200;
export const HOLD_EXTENSION_SECONDS_DEFAULT = 600;
export const HOLD_EXTENSION_SECONDS_MAX = 7_200;
export const PAYMENT_REFERENCE_CHARS_MAX = 200;
/** A shop's own name for an authenticated user. */
export const USER_CHARS_MAX = 200;
/**
 * The purchase API has answered by then, whatever is slow or away: a purchase, a hold or a spend. Whoever waits
 * for it waits longer, or gives up on an answer that was on its way.
 */
export const PURCHASE_DEADLINE_MS_MAX = 12_000;
/**
 * `Retry-After` for a buyer, seconds: nothing is known of the mint yet; the sale is paused. The purchase API and a
 * shop's guard say the same.
 */
export const UNKNOWN_RETRY_AFTER_SECONDS = 3;
export const HELD_RETRY_AFTER_SECONDS = 10;
/** How long a credit for a fault of ours is good. The event's end comes first when it is earlier. */
export const CREDIT_SECONDS = 86_400;

assert(SKEW_SECONDS_DEFAULT <= SKEW_SECONDS_MAX, "default skew is allowed");
assert(
  HORIZON_SECONDS_MIN <= HORIZON_SECONDS_DEFAULT && HORIZON_SECONDS_DEFAULT <= HORIZON_SECONDS_MAX,
  "default horizon is allowed",
);
assert(CLAIM_WINDOW_SECONDS_MIN <= LIFETIME_SECONDS_MIN, "a claim window fits every lifetime");
assert(CLAIM_WINDOW_SECONDS_DEFAULT <= CLAIM_WINDOW_SECONDS_MAX, "default claim window is allowed");
assert(TOKEN_CHARS_MAX < 4_096 - 512, "a token with its cookie attributes stays below 4,096 bytes");
assert(TOKEN_CHARS_MAX + VISITOR_CHARS < COOKIE_CHARS_MAX, "our own cookies fit the cookie bound");
assert(LOOKS_JSON_BYTES_MAX < BODY_BYTES_MAX, "looks fit a body, beside other settings");
assert(DRIP_LAST_CALL_REFRESH_MS <= DRIP_REFRESH_MS, "a last call is a reason to hurry");
assert(LAST_CALL_SECONDS_DEFAULT <= LAST_CALL_SECONDS_MAX, "default last call is allowed");
assert(JWKS_COOLDOWN_MS <= JWKS_REFRESH_MS, "an unknown kid may ask earlier than the schedule");
assert(
  KEY_STAGED_SECONDS >= JWKS_CACHE_SECONDS_MAX + SKEW_SECONDS_MAX + KEYS_PROPAGATION_SECONDS,
  "a key signs when every location has it (law 7)",
);
assert(
  ADMISSION_KEY_RETIRING_SECONDS >=
    KEYS_PROPAGATION_SECONDS + ADMISSION_LIFE_SECONDS_DEFAULT + 2 * SKEW_SECONDS_MAX,
  "an admission outlives no key of its own, by either side's clock (law 7)",
);
assert(
  LINE_KEY_RETIRING_SECONDS >=
    KEYS_PROPAGATION_SECONDS + DRIP_STATEMENT_SECONDS + 2 * SKEW_SECONDS_MAX,
  "a statement outlives no key of its own (law 7)",
);
assert(
  SERVICE_TOKEN_SLACK_SECONDS <= Math.min(LINE_KEY_SLACK_SECONDS, DRIP_STATEMENT_SECONDS),
  "a service's token outlives no key of its own, whether that retires before the event's end or after it (law 7)",
);
assert(2 * KEYS_PER_USE_MAX <= JWKS_KEYS_MAX, "the keys of both uses fit the set");
assert(
  REVOCATION_SECONDS_MAX < JWKS_REFRESH_MS / 1_000,
  "statements tell of it before the schedule does",
);
