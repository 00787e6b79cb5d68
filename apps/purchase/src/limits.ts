/** Bounds of the purchase API, with their units in their names, and the relations that it relies on. */
import { assert } from "@vestibule/kernel/assert";
import { GATE_LEASE_MS } from "@vestibule/valkey/inventory-gate";

export const VALKEY_DEADLINE_MS = { min: 50, default: 250, max: 2_000 } as const;
export const TRUST_PROXY_HOPS_MAX = 10;

/** One call to PostgreSQL with everything in it, and one statement of it: as `packages/db` has them by default. */
export const DATABASE_DEADLINE_MS = 5_000;
export const DATABASE_STATEMENT_TIMEOUT_MS = 4_000;

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

/** How often the supply of all events is looked at, and how often a report that failed is tried again. */
export const SUPPLY_LOOK_MS = 1_000;
export const SUPPLY_RETRY_MS = 500;
export const SUPPLY_RETRY_MS_MAX = 5_000;
/** One mint's answer to a report. */
export const SUPPLY_DEADLINE_MS = 1_000;

/** Extra looks at the manifest for events that it does not name, per process. */
export const UNKNOWN_EVENT_LOOK_MS = 1_000;

assert(
  GATE_LEASE_MS >= DATABASE_DEADLINE_MS + DATABASE_STATEMENT_TIMEOUT_MS + VALKEY_DEADLINE_MS.max,
  "a lease outlasts every transaction of its holder",
);
assert(DATABASE_STATEMENT_TIMEOUT_MS < DATABASE_DEADLINE_MS, "a statement ends before its call");
assert(REPAIR_ASKED_MS < REPAIR_ROUND_MS, "asking is faster than waiting for one's turn");
assert(SUPPLY_RETRY_MS <= SUPPLY_RETRY_MS_MAX, "backing off never means asking more often");
