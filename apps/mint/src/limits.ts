/** Bounds of the mint alone, with their units; the ones that others see are in contracts/limits. */
import {
  CLAIM_WINDOW_SECONDS_MAX,
  HORIZON_SECONDS_MAX,
  JOIN_RETRY_SECONDS,
  KEYS_PROPAGATION_SECONDS,
  PASSES_PER_REPORT_MAX,
  PREMINT_BATCH_MAX,
  RATE_PLAN_ENTRIES_MAX,
  SLUG_CHARS_MAX,
  STATEMENT_BYTES_MAX,
} from "@vestibule/contracts/limits";
import { CLOCK_ASK_CALM_MS } from "@vestibule/feed/limits";
import { assert } from "@vestibule/kernel/assert";

/** A standby may take over when the leader has not renewed for this long, by the database's clock. */
export const LEASE_TTL_MS = 3_000;
/** A lease that runs longer was written by a server whose clock was ahead of this one's: nobody waits for it. */
export const LEASE_AHEAD_MS_MAX = 60_000;
export const LEASE_RENEW_EVERY_MS = 1_000;
/** How often a standby looks whether the lease is free. */
export const LEASE_TRY_EVERY_MS = 500;

/** For how many minutes a preview says what opens. */
export const PREVIEW_MINUTES = 30;

/** Renewals and takeovers decide within the time to live: they do not wait longer than this. */
export const LEASE_DEADLINE_MS = 2_000;
/** A takeover waits for grants that are on their way this long; then those that have gone silent are cut off. */
export const LEASE_LOCK_MS = 400;
/** A grant whose mint says nothing for so long is not on its way. */
export const HOLDER_SILENT_MS = 1_000;
/** Random bytes of the name of a process. */
export const HOLDER_BYTES = 16;

/** One reservation of numbers, adapted to the join rate between these. */
export const BLOCK_NUMBERS_MIN = 64;
export const BLOCK_NUMBERS_MAX = 8_192;
/** A reservation that lasted shorter than this was too small, longer than four times this too large. */
export const BLOCK_LASTS_MS = 1_000;
/**
 * Numbers skipped in every event by a takeover after an unclean end: a database that failed over
 * and lost its last commits may have forgotten this many reserved numbers, and none repeats.
 */
export const SAFETY_GAP_NUMBERS = 32_768;

/**
 * When the database has forgotten, so many of these gaps are skipped for each second since the last renewal on record: one
 * for the joins of that second, and a third for the gap of a takeover, since no more than one fits into a lease.
 */
export const SAFETY_GAPS_PER_SECOND = 2;
/** A replica that is further behind is a backup: whose sale goes on as a new event (docs/operating.md). */
export const FORGOTTEN_SECONDS_MAX = 3_600;
/** Leaders that one lost history may have had: one each half second for eight minutes. */
export const EPOCHS_PER_HISTORY = 1_000;
/** Histories that may be lost one after the other, without a mint's commit in any that is kept. */
export const HISTORIES_MAX = 16;

/** Joins of one event that wait for the next reservation; more get 503. */
export const JOIN_QUEUE_MAX = 4_096;
/** Claims of one event that wait to be recorded; more get 503. */
export const CLAIM_QUEUE_MAX = 8_192;
/** Claims recorded by one statement. */
export const CLAIM_BATCH_MAX = 1_000;
/** Rows that one statement deletes of an archived event, and statements of one call. */
export const ARCHIVE_ROWS_MAX = 20_000;
export const ARCHIVE_CALLS_MAX = 10;
/** Threads that sign, where there are fewer cores: the runtime's own default. */
export const THREADS_MIN = 4;
/** Batches of places given beforehand that are under way; more get 503. Two keep every core busy. */
export const PREMINTS_AT_ONCE_MAX = 4;
/** Batches of one event whose record failed, and which nobody has asked for again; more get 503. */
export const PREMINTS_IN_DOUBT_MAX = 64;
/** Signatures of one batch under way: enough for every core, and no long wait for a join's. */
export const BULK_SIGNATURES_AT_ONCE = 128;
/** The same for admissions of a batch, which are made in the thread that answers fans. */
export const CLAIM_SIGNATURES_AT_ONCE = 32;
/** Each half of the young generation of the thread that signs batches, MiB. */
export const BULK_SEMI_SPACE_MIB = 16;
/** Numbers waiting for a slot on demand, by runs; more get 503. */
export const DEMAND_RUNS_MAX = 10_000;

/** Places of the table of recent joins, all events together. 52 bytes each, allocated at the start. */
export const RECENT_JOINS_MAX = 524_288;
export const RECENT_JOINS_MS = JOIN_RETRY_SECONDS * 1_000;

/** Writes of one event that wait. Ticks and claim flushes are at most one each; the rest is organizers. */
export const WRITES_MAX = 64;
/** A tick that takes longer is worth less than the next one. */
export const STEP_DEADLINE_MS = 4_500;
/**
 * Between what a step decides and its commit. Slots that are committed later than they open would open together: law 3
 * allows no such burst, and a new decision opens none in the past.
 */
export const STEP_DECISION_MS_MAX = 1_500;

/** How often the drip controller looks at every event. */
export const TICK_EVERY_MS = 1_000;
/** A newcomer to a quiet line waits this long for company before a tick of their own. */
export const NEWCOMER_TICK_MS = 100;
/** Segments open for claims, from which on newcomers to a quiet line wait for the next tick: each may be one of its own. */
export const SEGMENTS_QUICK_MAX = 1_000;
/** Characters that one segment takes of a signed statement, with all that it may say. */
export const SEGMENT_CHARS_MAX = 140;
/** Events whose ticks run at the same time. */
export const TICKS_AT_ONCE_MAX = 4;

/** A signed statement is shown this long before it is signed again for whoever asks. */
export const STATEMENT_FRESH_MS = 1_000;

/** When a claim of a place that is about to get its slot should come back, seconds. */
export const DEMAND_RETRY_SECONDS = 1;
/** Longest wait that a `Retry-After` of a claim names; the page polls the drip anyway. */
export const RETRY_AFTER_SECONDS_MAX = 60;
export const UNAVAILABLE_RETRY_SECONDS = 1;

/** An ended event stays in the manifest this long: its pages say that it is over, and do not open. */
export const ENDED_SHOWN_MS = 30 * 86_400_000;
/** The manifest before it is signed: base64url makes four bytes of three, and the rest is for head and signature. */
export const MANIFEST_JSON_BYTES_MAX: number = ((STATEMENT_BYTES_MAX - 1_024) * 3) / 4;
/** Gaps that a statement lists. */
export const SKIPS_MAX = 1_000;
/** Changes of the rate ahead that a statement tells: all of a plan of steps, or two ramps. */
export const RATES_SHOWN_MAX = 128;
/** Ended holds that a statement lists: those whose admissions can still be alive. */
export const CUTS_MAX = 1_000;
/** An admission that a hold voided may be shown this long after its `exp`. */
export const CUT_MARGIN_MS = 60_000;
/** A report's `seq` follows the clock of whoever sells; this far ahead of the mint's no clock is. */
export const SUPPLY_SEQ_AHEAD_MS_MAX = 86_400_000;
/** Count × length of a listed segment, as packages/drip bounds it. */
export const JOINED_PRODUCT_MAX = 1e14;

/** Characters of the issuer: with the longest slug every token stays below TOKEN_CHARS_MAX. */
export const ISSUER_CHARS_MAX = 200;

/** How often a mint looks at the stored keys, and a leader for steps that are due. */
export const KEYS_LOOK_EVERY_MS = 2_000;
/** Steps of keys that wait. */
export const KEY_WRITES_MAX = 16;
/** Retired and revoked keys that are read and shown, the latest ones. */
export const KEYS_OVER_SHOWN_MAX = 50;
export const KEY_ROTATION_DAYS_MAX = 365;

/** Rows of reporting locations, each a name and a sender. A newcomer to a full table is turned away. */
export const EDGE_ROWS_MAX = 2_000;
export const EDGE_ROWS_PER_SENDER_MAX = 64;
/** A row that was silent for so long is gone. */
export const EDGE_SILENT_MS = 600_000;
/** A row's alarm ends when its reports were better for so long: isolates of one location share a row. */
export const EDGE_ALARM_CALM_MS = 60_000;
/** Random bytes of the key by which a process names senders. */
export const SENDER_KEY_BYTES = 32;
/** The body of a question for the time. */
export const CLOCK_QUESTION_BYTES_MAX = 6_144;
/** Of it: a question without passes, and what one entry of passes takes beside the event's name. */
const CLOCK_QUESTION_CHARS = 1_024;
const PASSES_CHARS = 64;
/** Rules whose passes one row tells of; those beyond are not counted. */
export const EDGE_PASSES_PER_ROW_MAX = 64;
/** Random bytes of the name of a service's token. */
export const SERVICE_TOKEN_ID_BYTES = 32;
/** Answers to such questions that are being signed; more get 503. */
export const CLOCK_SIGNINGS_MAX = 64;
/** One sender asks so often: at once, and one more each `refillMs`. A proxy's address may stand for many isolates. */
export const CLOCK_SENDER_LIMIT = { name: "clock-sender", capacity: 200, refillMs: 20 } as const;
/** All senders together: less than a core's twentieth for signatures. */
export const CLOCK_TOTAL_LIMIT = { name: "clock-total", capacity: 1_000, refillMs: 2 } as const;
/** Lines in the log about what one sender's rows say, and about all: anybody may write into rows of their own. */
export const CLOCK_LOG_SENDER_LIMIT = {
  name: "log-sender",
  capacity: 8,
  refillMs: 60_000,
} as const;
export const CLOCK_LOG_TOTAL_LIMIT = { name: "log-total", capacity: 64, refillMs: 10_000 } as const;
/** Senders whose buckets are not full; more are answered with 503. */
export const CLOCK_BUCKETS_MAX = 20_000;
/** How often the mint looks at its own clock, and how long PostgreSQL may take to answer. */
export const CLOCK_LOOK_EVERY_MS = 10_000;
export const CLOCK_LOOK_DEADLINE_MS = 2_000;

/** The share of slots that lapse is told from so many of the latest, and not from fewer than the least. */
export const LAPSE_SLOTS_MAX = 400;
export const LAPSE_SLOTS_MIN = 100;
/** How far it may be from what comes: so much, and so many standard deviations of a share of that many slots. */
export const LAPSE_DRIFT = 0.08;
export const LAPSE_SIGMAS = 2;
/** A range that is wider than it need be by this is told anew. */
export const LAPSE_KEEP = 0.1;
/** More than so long of the rate in slots that are still to be given back: the line moves at its overdrive for a while. */
export const BACKLOG_MS_MAX = 15_000;

assert(LEASE_RENEW_EVERY_MS * 2 < LEASE_TTL_MS, "two renewals fit into the lease");
assert(LEASE_DEADLINE_MS < LEASE_TTL_MS, "a renewal is over before the lease is");
assert(
  LEASE_LOCK_MS * 2 < LEASE_DEADLINE_MS,
  "a takeover does not wait out its deadline for a lock",
);
assert(
  HOLDER_SILENT_MS < LEASE_TTL_MS,
  "whoever kept the lease from being renewed is silent by then",
);
assert(BLOCK_NUMBERS_MIN < BLOCK_NUMBERS_MAX, "blocks can adapt");
assert(
  SAFETY_GAP_NUMBERS >= 4 * BLOCK_NUMBERS_MAX,
  "the gap covers the four largest reservations, which is more than a second of joins",
);
assert(
  PREMINT_BATCH_MAX <= BLOCK_NUMBERS_MAX,
  "a batch fits one reservation, and so the safety gap",
);
assert(
  2 * PREMINTS_AT_ONCE_MAX * PREMINT_BATCH_MAX <= CLAIM_QUEUE_MAX,
  "half of the claims that wait are fans' own",
);
assert(
  SAFETY_GAPS_PER_SECOND * LEASE_TTL_MS >= LEASE_TTL_MS + 1_000,
  "a second's gaps cover its joins and its share of a takeover's own gap",
);
assert(
  (SEGMENTS_QUICK_MAX + CLAIM_WINDOW_SECONDS_MAX + HORIZON_SECONDS_MAX) * SEGMENT_CHARS_MAX <
    STATEMENT_BYTES_MAX,
  "a segment for each tick of claim window and horizon fits a statement",
);
assert(RATE_PLAN_ENTRIES_MAX <= RATES_SHOWN_MAX, "estimates know a plan of steps whole");
assert(NEWCOMER_TICK_MS <= 250, "a newcomer to a quiet line waits at most 250 ms for a tick");
assert(
  CLOCK_SENDER_LIMIT.refillMs >= 10 * CLOCK_TOTAL_LIMIT.refillMs,
  "one sender has at most a tenth of the answers",
);
assert(
  CLOCK_QUESTION_CHARS + PASSES_PER_REPORT_MAX * (PASSES_CHARS + SLUG_CHARS_MAX) <=
    CLOCK_QUESTION_BYTES_MAX,
  "a question with all the passes that it may tell of is read",
);
assert(EDGE_ROWS_PER_SENDER_MAX * 10 < EDGE_ROWS_MAX, "one sender has a small part of the rows");
assert(EDGE_ALARM_CALM_MS < EDGE_SILENT_MS, "an alarm ends before its row does");
assert(
  EDGE_ALARM_CALM_MS > 1.1 * CLOCK_ASK_CALM_MS,
  "every isolate of a row has reported before its alarm ends",
);
assert(CLOCK_LOOK_DEADLINE_MS < CLOCK_LOOK_EVERY_MS, "looks do not overlap");
assert((RECENT_JOINS_MAX & (RECENT_JOINS_MAX - 1)) === 0, "a power of two");
assert(
  KEYS_LOOK_EVERY_MS + STEP_DEADLINE_MS < KEYS_PROPAGATION_SECONDS * 1_000,
  "a change of the keys is in what every mint signs and answers in time, also when a look meets a slow database",
);
assert(LAPSE_SLOTS_MIN <= LAPSE_SLOTS_MAX, "a share that is told is told from slots that are kept");
