/** Bounds of the purchase API, with their units in their names, and the relations that it relies on. */
import { PURCHASE_DEADLINE_MS_MAX, SOLD_OUT_TOLD_MS_MAX } from "@vestibule/contracts/limits";
import { CONNECT_TIMEOUT_MS } from "@vestibule/db/connect";
import { VISIBLE_DELAY_MS_MAX } from "@vestibule/drip/poll";
import { CLOCK_ASK_SOON_MS } from "@vestibule/feed/limits";
import { assert } from "@vestibule/kernel/assert";
import { GATE_LEASE_MS } from "@vestibule/valkey/inventory-gate";

export const VALKEY_DEADLINE_MS = { min: 50, default: 250, max: 2_000 } as const;

/** One call to PostgreSQL with everything in it, and one statement of it: as `packages/db` has them by default. */
export const DATABASE_DEADLINE_MS = 5_000;
export const DATABASE_STATEMENT_TIMEOUT_MS = 4_000;
/** One look at a sku's row on the way to a purchase: whether there is such a thing, whether anything is left. */
export const LOOK_DEADLINE_MS = 2_000;

/** Whether an admission is spent, asked when a purchase fails anyway: its answer may not be later for it. */
export const SPENT_LOOK_DEADLINE_MS = 250;

/** Tries of one statement whose connection was lost, and the pause before the second; the third's is twice as long. */
export const TRIES_MAX = 3;
export const TRY_PAUSE_MS = 20;
/** A refused attempt is looked into, and made again when what refused it is gone by then. */
export const ATTEMPTS_MAX = 3;
/** How long a repeated request waits for the first one's answer before it hears `in-progress`, and how often it looks. */
export const RUNNING_WAIT_MS = 1_000;
export const RUNNING_POLL_MS = 50;
/** One look while waiting: short, so that the whole call stays within seconds. */
export const RUNNING_POLL_DEADLINE_MS = 1_000;

/** How often holds that are over give their seats back: `expiresAt` plus at most this, and a round trip. */
export const HOLD_SWEEP_MS = 1_000;
/** Skus that one sweep looks at; the rest is the next one's. */
export const SWEEP_SKUS_MAX = 100;
/** Holds that one statement of the sweep ends (its locks stay short), and such statements for each sku in one sweep. */
export const SWEEP_HOLDS_MAX = 500;
export const SWEEP_STATEMENTS_MAX = 20;

/**
 * Connections, and calls that wait for one, for whatever strangers may look at: orders, holds, the public stock view.
 * They never take a connection from a buyer or the shop. The limit for each client address is no substitute (a crowd
 * of addresses has a crowd of buckets), nor is this one for it: it keeps one address from taking all of these, and
 * from changing holds that are not its own.
 */
export const READ_CONNECTIONS = 2;
export const READ_WAITERS_MAX = 100;
export const READ_DEADLINE_MS = 2_000;
export const READ_STATEMENT_TIMEOUT_MS = 1_500;
/** The public stock view is answered from memory for so long, and of so many events. */
export const VIEW_KEEP_MS = 250;
export const VIEWS_KEPT_MAX = 1_000;

/** An address that showed a right token is not asked to prove it again for so long, and how many such are known. */
export const KNOWN_ADDRESS_MS = 600_000;
export const KNOWN_ADDRESSES_MAX = 1_000;

/** Rows of the public stock view, and of all that is sold: more than one event, or all of a manifest, sell. */
export const SKUS_SHOWN_MAX = 200;
export const SKUS_MAX = 10_000;

/** How often all events with stock are compared with PostgreSQL, and how many in one batch. */
export const REPAIR_ROUND_MS = 5_000;
export const REPAIR_EVENTS_MAX = 50;
/** What was asked for out of turn is repaired this often at most, each sku once. */
export const REPAIR_ASKED_MS = 100;
export const REPAIR_ASKED_MAX = 1_000;
/** Comparisons at the same time: a flushed store must not take PostgreSQL's connections from the buyers. */
export const REPAIR_RUNNING_MAX = 4;
/** Tries for one sku before it waits for the next round: purchases kept moving its counter. */
export const REPAIR_TRIES_MAX = 3;
/** A gate that forgot its buyers is told again, so many at a time. Of a sku with more seats taken it stays unsure. */
export const BUYERS_TOLD_AT_ONCE = 100;
export const BUYERS_TOLD_MAX = 100_000;
/** How long after trouble with PostgreSQL seats may be counted off for nobody: every lease of then is over and was looked up. */
export const TROUBLE_MS: number = GATE_LEASE_MS + 2 * REPAIR_ROUND_MS;

/** A mint whose database failed over may have lost what it acknowledged: it is told again so often. */
export const SUPPLY_REPEAT_MS = 60_000;
/** How often the supply of all events is looked at, and how often a report that failed is tried again. */
export const SUPPLY_LOOK_MS = 1_000;
export const SUPPLY_RETRY_MS = 500;
export const SUPPLY_RETRY_MS_MAX = 5_000;
/** One mint's answer to a report. */
export const SUPPLY_DEADLINE_MS = 1_000;

/** What is left is in its last call when it will be gone within this, at the pace of selling. */
export const LAST_CALL_AHEAD_MS = 120_000;
/** It is over when it would last this many times as long, and not sooner than this after it began: so it does not come and go. */
export const LAST_CALL_LEAVE_FACTOR = 2;
export const LAST_CALL_STAY_MS = 75_000;
/** What one admission buys or holds, for the pace that the drip can bring whatever was sold so far. */
export const LAST_CALL_UNITS_PER_ADMISSION = 2;
/** The pace is measured over so long, from looks at the stock that are so far apart; of a younger watch over this at least. */
export const PACE_WINDOW_MS = 60_000;
export const PACE_LOOK_MS = 5_000;
export const PACE_SPAN_MS_MIN = 10_000;
/** From which age on the drip's rate is asked for again, and up to which it is gone by. */
export const RATE_STALE_MS = 15_000;
export const RATE_KNOWN_MS: number = 2 * RATE_STALE_MS;
/** How often a mint that does not know all that is reported is told all of it again: it may know it by then. */
export const NOT_UNDERSTOOD_RETRY_MS = 60_000;

/** What is due of the mint's statements is looked at this often. */
export const FEED_TICK_MS = 250;
/** Extra looks at the manifest for events that it does not name, per process. */
export const UNKNOWN_EVENT_LOOK_MS = 1_000;

/** `Retry-After`, seconds: nothing known of the mint yet; a paused sale; our clock, asked about by then; the limiter's store away; others in the way. */
export const UNKNOWN_RETRY_AFTER_SECONDS = 3;
export const HELD_RETRY_AFTER_SECONDS = 10;
export const CLOCK_RETRY_AFTER_SECONDS: number = CLOCK_ASK_SOON_MS / 1_000;
export const AWAY_RETRY_AFTER_SECONDS = 1;
export const CONTENDED_RETRY_AFTER_SECONDS = 1;

const RUNNING_MS = RUNNING_WAIT_MS + RUNNING_POLL_DEADLINE_MS;

assert(
  GATE_LEASE_MS >=
    VALKEY_DEADLINE_MS.max +
      DATABASE_DEADLINE_MS +
      Math.max(CONNECT_TIMEOUT_MS, RUNNING_MS) +
      DATABASE_STATEMENT_TIMEOUT_MS,
  "a lease outlasts every transaction of its holder: the last statement begins within the call, or when its connection stands",
);
assert(
  // Limiter and gate; the sku when it is new here and once more after trouble; the transaction, and another's of the same key.
  2 * VALKEY_DEADLINE_MS.default + 2 * LOOK_DEADLINE_MS + DATABASE_DEADLINE_MS + RUNNING_MS <=
    PURCHASE_DEADLINE_MS_MAX,
  "a purchase is answered before its caller gives up, with the default VALKEY_DEADLINE_MS",
);
assert(DATABASE_STATEMENT_TIMEOUT_MS < DATABASE_DEADLINE_MS, "a statement ends before its call");
assert(LOOK_DEADLINE_MS <= DATABASE_DEADLINE_MS, "a look is no longer than a purchase");
assert(REPAIR_ASKED_MS < REPAIR_ROUND_MS, "asking is faster than waiting for one's turn");
assert(SUPPLY_RETRY_MS <= SUPPLY_RETRY_MS_MAX, "backing off never means asking more often");
assert(
  LAST_CALL_AHEAD_MS >=
    VISIBLE_DELAY_MS_MAX + SUPPLY_LOOK_MS + SUPPLY_RETRY_MS_MAX + SOLD_OUT_TOLD_MS_MAX,
  "a page that looked just before a last call was told of looks again before it is over",
);
assert(
  PACE_SPAN_MS_MIN <= PACE_WINDOW_MS && PACE_LOOK_MS <= PACE_SPAN_MS_MIN,
  "a pace is measured between looks of its window",
);
assert(
  LAST_CALL_STAY_MS >= PACE_WINDOW_MS + PACE_LOOK_MS && LAST_CALL_STAY_MS >= RATE_KNOWN_MS,
  "what one instance has seen alone is out of its window, or known to all, before another one may call an end again",
);
