/** Bounds of the edge, with their units in their names. */
import {
  JWKS_CACHE_SECONDS_MAX,
  JWKS_REFRESH_MS,
  PURCHASE_DEADLINE_MS_MAX,
  SKEW_SECONDS_MAX,
  SOLD_OUT_TOLD_MS_MAX,
  TOKEN_CHARS_MAX,
  VISITOR_CHARS,
} from "@vestibule/contracts/limits";
import { LAST_CALL_LOOK_MS } from "@vestibule/drip/poll";
import { LAST_CALL_COPY_MS_MAX } from "@vestibule/feed/limits";
import { assert } from "@vestibule/kernel/assert";

/** Until the origin's response head; the body may take as long as it takes. */
export const ORIGIN_DEADLINE_MS_DEFAULT = 30_000;
export const ORIGIN_DEADLINE_MS_MAX = 600_000;

/** `Retry-After` of an origin that did not answer. */
export const ORIGIN_RETRY_SECONDS = 5;
/** A body that moves is looked at so many times in a deadline: after its last piece this waits at most one look longer. */
export const MOVE_LOOKS = 8;

/** One try at one mint, for a join or a claim. */
export const GRANT_DEADLINE_MS = 3_000;
/** Whoever's request finds out whether a mint is back is answered by then; the question itself goes on. */
export const PROBE_PATIENCE_MS = 800;
/** The purchase API: it has answered by itself before. */
export const PURCHASE_DEADLINE_MS = 15_000;
/** What we take from a mint or the purchase API in one answer. */
export const UPSTREAM_BYTES_MAX = 65_536;

/** Longest path and query that we look at; longer ones are refused on a protected host. */
export const PATH_CHARS_MAX = 8_192;
/** Percent-decoding is repeated this often when we ask what an origin might make of a path. */
export const DECODE_ROUNDS_MAX = 4;
/** Forms of one path that are looked at: a path that has more is refused unread. */
export const READINGS_MAX = 64;
export const RETURN_PATH_CHARS_MAX = 2_048;

/** How often an isolate writes its counters, and the lines it may log in a second. */
export const FLUSH_EVERY_MS = 1_000;
export const LOG_LINES_PER_SECOND_MAX = 20;

/** The memo of verified tokens: entries, and characters of the texts it keeps. */
export const MEMO_ENTRIES_MAX = 4_096;
export const MEMO_CHARS_MAX = 4_194_304;
/** The same of services' tokens, of which an event has a few. */
export const SERVICE_MEMO_ENTRIES_MAX = 256;
export const SERVICE_MEMO_CHARS_MAX = 262_144;

/** `Retry-After` of a held request, and of one that no mint could serve: spread over this range. */
export const WAITING_RETRY_SECONDS = 10;
/** Something may come back: looked for as seldom as the page does. */
export const SOLD_OUT_RETRY_SECONDS = 30;
export const AWAY_RETRY_SECONDS = { min: 3, max: 9 } as const;
export const AWAY_RETRY_SECONDS_MIN: number = AWAY_RETRY_SECONDS.min;

/** Somebody over a limit: after the shorter of its two periods, spread. */
export const LIMITED_RETRY_SECONDS = { min: 5, max: 14 } as const;
/** Until the platform's limiter has answered; then nobody is limited. */
export const LIMITER_DEADLINE_MS = 250;

/** How long a proof of work is good: a poor phone takes minutes. */
export const PROOF_SECONDS = 900;
/** How far ahead of this location's clock the one that asked for it may be: no further than any that lets somebody in. */
export const PROOF_AHEAD_SECONDS: number = SKEW_SECONDS_MAX;

/** Keys that are older than this, because nobody asked lately, are asked for before they decide. */
export const KEYS_STALE_MS = 1.25 * JWKS_REFRESH_MS;

/** For an event that no manifest names, a mint is asked again at most this often. */
export const UNKNOWN_EVENT_COOL_MS = 1_000;

/** A ticket that ends this much before its event is signed anew by the mint at the next join. */
export const OUTGROWN_SECONDS = 60;

/** The body of a request to our own endpoints, from the first byte to the last. */
export const BODY_DEADLINE_MS = 10_000;

/** An event's end may be moved while people wait: what a browser keeps for them outlives it by this. */
export const COOKIES_OUTLIVE_EVENT_MS = 30 * 86_400_000;

/** Whoever has left the line takes no new place by itself for so long; who comes back later is as anybody else. */
export const GONE_SECONDS = 86_400;

/**
 * What of the way from the last sale to a page in a last call is not ours to set, with room for a busy day: the purchase
 * API's look at the stock, its report and the mint's commit; from a location to the mint and back; from a page to its
 * location and back.
 */
const SOLD_OUT_REPORT_MS = 250;
const MINT_ROUND_TRIP_MS = 150;
const PAGE_ROUND_TRIP_MS = 130;

/** Headers that one `Connection` may name; the others it names are forwarded. */
export const CONNECTION_NAMES_MAX = 32;

/** Pages that are kept for those who ask for the same within a second: of all events, and what they take. */
export const SHARED_PAGES_MAX = 64;
export const SHARED_PAGES_BYTES_MAX = 4_194_304;

/** A whole page, compressed, and what of it is kept for what it says of its moment: notice, facts, a long address. */
export const PAGE_BYTES_MAX = 14_336;
export const PAGE_MOMENT_BYTES = 128;

/** Accept headers: parts that are looked at. */
export const ACCEPT_PARTS_MAX = 32;
/** Such headers that are remembered: texts, and characters of each. */
export const ACCEPTS_MAX = 64;
export const ACCEPT_CHARS_MAX = 512;

/** `Accept-Language`: so much of it is looked at; browsers send a tenth. And those whose outcome is kept. */
export const ACCEPT_LANGUAGE_CHARS_MAX = 512;
export const CHOICES_MAX = 1_024;
export const CHOICES_CHARS_MAX = 65_536;
/** For how long a browser keeps the language that was chosen. */
export const LANGUAGE_COOKIE_SECONDS = 31_536_000;

/** Ways of writing figures, and those of times by zone, that are kept ready. */
export const FORMATS_MAX = 256;

assert(MEMO_CHARS_MAX >= TOKEN_CHARS_MAX + VISITOR_CHARS, "the memo holds at least one token");
assert(SERVICE_MEMO_CHARS_MAX >= TOKEN_CHARS_MAX, "the memo holds at least one service's token");
assert(PAGE_MOMENT_BYTES < PAGE_BYTES_MAX, "a page has room for more than its moment");
assert(LIMITER_DEADLINE_MS < GRANT_DEADLINE_MS, "friction costs less time than what it guards");
assert(PURCHASE_DEADLINE_MS > PURCHASE_DEADLINE_MS_MAX, "the purchase API's own answer is heard");
assert(PROBE_PATIENCE_MS < 1_000, "while no mint answers everybody is told within a second");
assert(AWAY_RETRY_SECONDS_MIN >= 1, "Retry-After is a whole number of 1 or more");
assert(
  KEYS_STALE_MS + 2 * JWKS_REFRESH_MS <= JWKS_CACHE_SECONDS_MAX * 1_000,
  "no copy is older than the mint counts on: another isolate's and a cache's age included",
);
assert(
  // Reported and published; the location's copy is as old as it may be when the next one is asked for; the page asked just
  // before that one came: half a round trip until it knew no more, one look later half a round trip to ask, and half to hear.
  SOLD_OUT_REPORT_MS +
    LAST_CALL_COPY_MS_MAX +
    MINT_ROUND_TRIP_MS +
    LAST_CALL_LOOK_MS.max +
    1.5 * PAGE_ROUND_TRIP_MS <=
    SOLD_OUT_TOLD_MS_MAX,
  "in a last call every visible page says that it is sold out within the stated time",
);
