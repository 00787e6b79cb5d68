/**
 * The inventory gate as a port: a counter of what is left beside PostgreSQL, so that those who come in
 * vain never reach it. It may be wrong or away: PostgreSQL decides.
 */

export interface SeatsOf {
  readonly event: string;
  readonly sku: string;
}

export type Reservation =
  /** Counted off, under a lease of this `jti`. */
  | { readonly kind: "leased" }
  /** This `jti` has a lease already (the same attempt, sent twice), or was sold its seats before. */
  | { readonly kind: "known" }
  /** `sure: false`: earlier buyers may not be known (`repair` with `doubt`): ask before refusing. */
  | { readonly kind: "sold-out"; readonly sure: boolean }
  /** There is no counter: PostgreSQL is asked, and the counter rebuilt. */
  | { readonly kind: "unknown" };

export interface Lease {
  readonly jti: string;
  readonly quantity: number;
  /** Older than any transaction can be: its holder is gone. */
  readonly expired: boolean;
}

/** One moment of the gate. */
export interface GateState {
  readonly left: number | undefined;
  readonly leases: readonly Lease[];
  /** Changes with every reservation and every settlement, and is never used again after a flush. */
  readonly version: string;
}

export interface InventoryGate {
  /** One step. All of `quantity` or nothing. @throws StoreAwayError */
  reserve(of: SeatsOf & { jti: string; quantity: number }): Promise<Reservation>;
  /** Ends the lease: `sold` keeps what it counted off, `not-sold` gives it back. Safe to run twice. @throws StoreAwayError */
  settle(of: SeatsOf & { jti: string; outcome: "sold" | "not-sold" }): Promise<void>;
  /** @throws StoreAwayError */
  inspect(of: SeatsOf): Promise<GateState>;
  /**
   * Sets the counter and drops these leases, unless the gate has moved on from `version`.
   *
   * @param of.doubt seats went to buyers whom this gate did not see (it lost them, or was away): from now
   * on its `sold-out` is not sure. Without doubt nothing about that changes: a counter made for a sale of
   * which nothing was sold yet is sure, or every loser would cost PostgreSQL a question.
   * @returns whether it was done. @throws StoreAwayError
   */
  repair(
    of: SeatsOf & { version: string; left: number; drop: readonly string[]; doubt: boolean },
  ): Promise<boolean>;
}
