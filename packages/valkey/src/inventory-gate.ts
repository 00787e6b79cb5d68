/**
 * The inventory gate as a port: a counter of what is left beside PostgreSQL, so that those who come in
 * vain never reach it. It may be wrong or away: PostgreSQL decides. `memory-inventory-gate.ts` and
 * `valkey-inventory-gate.ts` are the same thing twice.
 */

/**
 * How long a reservation is believed to be under way. Longer than any purchase can take (call deadline +
 * statement timeout + margin): the caller asserts that relation. After it the repair may end the lease.
 */
export const GATE_LEASE_MS = 15_000;

/** Everything the gate knows of one event and sku is forgotten when nobody used it for so long. */
export const GATE_KEEP_MS = 86_400_000;

/** Leases that one `repair` may end: what a store does in one step keeps everybody else waiting. */
export const REPAIRED_AT_ONCE_MAX = 10_000;

/**
 * Leases that are noted while nothing is known: while PostgreSQL is away nobody ends them. Beyond, a rebuild does not
 * count the attempt in, and for a moment too many may be let through to PostgreSQL.
 */
export const LEASES_UNKNOWN_MAX = 10_000;

export interface SeatsOf {
  /** A slug: it becomes part of a key, and of a cluster's hash tag. */
  readonly event: string;
  readonly sku: string;
}

export type Reservation =
  /** Counted off, under a lease of this `jti`. */
  | { readonly kind: "leased" }
  /**
   * This `jti` has a lease already (the same attempt, sent twice), or was sold its seats before. The lease
   * belongs to whoever got `leased`: only they may settle it `not-sold`.
   */
  | { readonly kind: "known" }
  /** `sure: false`: earlier buyers may not be known (what `repair` said last): ask before refusing. */
  | { readonly kind: "sold-out"; readonly sure: boolean }
  /**
   * There is no counter that can be believed: PostgreSQL is asked, and the counter rebuilt. A lease was noted
   * all the same (the first `LEASES_UNKNOWN_MAX`), so that a rebuild meanwhile counts this attempt in: settle it
   * like any other.
   */
  | { readonly kind: "unknown" };

export interface Lease {
  readonly jti: string;
  readonly quantity: number;
  /** Older than any transaction can be: its holder is gone. */
  readonly expired: boolean;
}

/** One moment of the gate. */
export interface GateState {
  /**
   * Undefined when there is no counter that can be believed. Below 0 when leases, noted while nothing was known,
   * are for more than there is: what comes back pays for that first.
   */
  readonly left: number | undefined;
  readonly leases: readonly Lease[];
  /** How many different `jti` the gate remembers as buyers. */
  readonly buyers: number;
  /** Whether a `sold-out` would be sure. False without a counter. */
  readonly sure: boolean;
  /** Changes with every reservation and every settlement, and is never used again after a flush. */
  readonly version: string;
  /**
   * The same from one loss of memory or repair to the next: what was told to a gate with this name it still knows, and
   * its counter still shows whoever bought past it since.
   */
  readonly life: string;
}

export interface GateRepair {
  readonly version: string;
  /** What PostgreSQL has left, less the unexpired leases that have not bought; below 0 when that is so. */
  readonly left: number;
  /** Leases that ended without a purchase: forgotten. Their seats are in `left`. */
  readonly drop: readonly string[];
  /** Buyers that PostgreSQL knows: their leases end as sold, and they are remembered, with or without a lease. */
  readonly sold: readonly string[];
  /**
   * Whether the gate knows every buyer that PostgreSQL does, by a lease, as sold, or from `sold`: only then is its
   * `sold-out` the last word. Without it every loser costs PostgreSQL a question.
   */
  readonly sure: boolean;
}

export interface InventoryGate {
  /**
   * One step. All of `quantity` or nothing. Of 0 it is a lease all the same (the first `LEASES_UNKNOWN_MAX`): whoever
   * goes past a "sold out" is known by it. @throws StoreAwayError
   */
  reserve(of: SeatsOf & { jti: string; quantity: number }): Promise<Reservation>;
  /**
   * Ends the lease: what it counted off comes back, but for the seats `sold` just now, whose buyer is remembered; 0: none.
   * Another attempt of this `jti` may have bought more than its lease, or less. Safe to run twice; without a lease the
   * counter stays. @throws StoreAwayError
   */
  settle(of: SeatsOf & { jti: string; sold: number }): Promise<void>;
  /** This `jti` has bought, whenever that was: nothing else changes. @throws StoreAwayError */
  remember(of: SeatsOf & { jti: string }): Promise<void>;
  /** @throws StoreAwayError */
  inspect(of: SeatsOf): Promise<GateState>;
  /**
   * Sets the counter and ends these leases, unless the gate has moved on from `version`. Two counters are set
   * right all the same, or it could never be done while a crowd is at the gate: one that is unknown, and one that is
   * surely too high. What was asked for since `version` is taken off `left` then, and `drop` keeps its seats: for the
   * moment too few may be left, never too many; and it is not sure, since too few hides who bought past it.
   *
   * @returns whether it was done. @throws StoreAwayError
   */
  repair(of: SeatsOf & GateRepair): Promise<boolean>;
}
