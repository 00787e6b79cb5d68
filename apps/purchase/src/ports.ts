/**
 * What stands before the transaction (design section 8, steps 2, 3 and 5). Neither is built yet:
 * the present ones say "none configured" and let everybody on. PostgreSQL decides in any case.
 */

/** Who is asking, for a bucket of their own. */
export interface Caller {
  readonly event: string;
  readonly visitor: string;
}

/** Step 2. A limiter that cannot answer must throw AppError `unavailable`: it fails closed. */
export interface PurchaseLimiter {
  /** @throws AppError `too-many-requests` with `retryAfterSeconds`, or `unavailable`. */
  take(caller: Caller): Promise<void>;
}

/** A place at the gate, held while the transaction runs. `none`: PostgreSQL is asked without one. */
export type GatePass = { readonly kind: "none" } | { readonly kind: "lease"; readonly id: string };

/** Step 3 and 5. A gate that cannot answer gives `none`: it fails open. */
export interface InventoryGate {
  /** @throws AppError `sold-out`. */
  enter(of: { event: string; sku: string; quantity: number; jti: string }): Promise<GatePass>;
  /** Never throws: a lease that is not settled runs out. */
  settle(pass: GatePass, sold: boolean): Promise<void>;
}

export const noLimiterConfigured: PurchaseLimiter = { take: () => Promise.resolve() };

export const noGateConfigured: InventoryGate = {
  enter: () => Promise.resolve({ kind: "none" }),
  settle: () => Promise.resolve(),
};
