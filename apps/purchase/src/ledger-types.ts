/** What the ledger is asked and what it answers. */
import type {
  HoldAnswer,
  PurchaseAnswer,
  PurchaseRequest,
} from "@vestibule/contracts/purchase-api";
import type { EpochMs, EpochSeconds } from "@vestibule/kernel/units";
import type { Admitted } from "./admit.ts";

/** Who asks for what, once: the admission, the key of this attempt, one reading of the clock. */
export interface SpendRequest {
  readonly event: string;
  /** The admission's `sub`. */
  readonly visitor: string;
  /** Whose per-buyer limit counts: the visitor's hash, or `user:` and a hash of the shop's user name. */
  readonly buyer: string;
  readonly jti: string;
  readonly number: number;
  readonly idempotencyKey: string;
  readonly now: EpochMs;
}

/** A purchase under the name its order gets: whoever repeats the call after a lost answer repeats the name. */
export type PurchaseOrder = SpendRequest & PurchaseRequest & { readonly orderId: string };

/** A hold under the name it gets. `slot`: the admission's `nbf`, for a credit when the hold fails. */
export type HoldOrder = SpendRequest &
  PurchaseRequest & { readonly holdId: string; readonly slot: EpochSeconds };

export type Order = PurchaseAnswer;
export type Hold = HoldAnswer;

export interface Spend {
  readonly event: string;
  readonly jti: string;
  readonly number: number;
  readonly spentAt: number;
}

/** What a key was used for. */
export type Asked =
  | { readonly kind: "spend" }
  | ({ readonly kind: "purchase" | "hold" } & PurchaseRequest);

/** Whose key it is. */
export type KeyOwner = Pick<SpendRequest, "event" | "visitor" | "idempotencyKey">;

/** One thing that is sold. */
export interface SkuRef {
  readonly event: string;
  readonly sku: string;
}

/** Whoever changes this sku may wait for its row. No name of an event has a slash in it. */
export function skuKey({ event, sku }: SkuRef): string {
  return `${event}/${sku}`;
}

/**
 * Something may be left that was not before: a hold ended unsold, or the organizer set the stock.
 * Called after the commit, at least once for each such change unless the process dies in between.
 */
export type CameBack = (of: SkuRef) => void;

/** Why nothing was bought. The token is unspent, or was spent by somebody's earlier call. */
export type LedgerRefusal =
  /**
   * Of its own visitor: `holdId`, the hold that it was spent for, while that is live and can be finished; `orderId`,
   * what was bought with it.
   */
  | { readonly kind: "already-spent"; readonly holdId?: string; readonly orderId?: string }
  | { readonly kind: "idempotency-mismatch" }
  | { readonly kind: "unknown-sku" }
  /** It is sold to users whom the shop names, and none was named. */
  | { readonly kind: "users-only" }
  | { readonly kind: "over-limit"; readonly perPurchaseMax: number }
  | { readonly kind: "sold-out" }
  /** With this, the buyer would have more than the sku's `perBuyerMax`. */
  | { readonly kind: "buyer-limit" }
  /** The same key is still running, here or elsewhere, and did not end within a second. */
  | { readonly kind: "in-progress" }
  /** Others kept changing the same rows between our statements. */
  | { readonly kind: "contended" };

/**
 * `jti` is the admission that the order or hold was made with: a recalled one may be of another
 * admission than the caller's. `left` is what remains of the sku after this very call; absent
 * when the answer is an earlier one. A recalled hold is told as it is now, also when it is over.
 */
export type LedgerOutcome =
  | { readonly kind: "bought"; readonly order: Order; readonly jti: string; readonly left?: number }
  | { readonly kind: "held"; readonly hold: Hold; readonly jti: string; readonly left?: number }
  | { readonly kind: "spent"; readonly spend: Spend }
  | LedgerRefusal;

/** What the books say of one sku at one moment. */
export interface Standing {
  /** `total - sold - held`. */
  readonly left: number;
  /** `sold + held`: 0 while nobody can have bought. */
  readonly taken: number;
  readonly perPurchaseMax: number;
  /** Those of the jtis asked for that are spent, for whatever. */
  readonly spent: readonly Spent[];
}

export interface Spent {
  readonly jti: string;
  /** Seats of the sku asked about that it bought or held; 0: it was spent for something else. */
  readonly quantity: number;
}

export interface Ledger {
  /**
   * Buys once. The same key, visitor and request give the same order again, whoever came first.
   * Trouble that passes (a lost connection, a deadlock) is tried again inside, by the order's name.
   *
   * @throws AppError `unavailable` when PostgreSQL does not answer: ask again with the same key.
   */
  purchase(request: PurchaseOrder): Promise<LedgerOutcome>;
  /** Spends the admission and keeps the seats for the sku's `holdSeconds`. Idempotent in the same way. */
  hold(request: HoldOrder): Promise<LedgerOutcome>;
  /** Spends the admission and sells nothing. Idempotent in the same way. */
  spend(request: SpendRequest): Promise<LedgerOutcome>;
  /** What this visitor's key was answered before, when the request is the same. */
  recall(of: KeyOwner, asked: Asked): Promise<LedgerOutcome | undefined>;
  /** An order, for its buyer only. `by`: whoever is not the shop looks with the connections that are for looking. */
  order(of: {
    readonly event: string;
    readonly visitor: string;
    readonly orderId: string;
    readonly by?: HoldActor["kind"];
  }): Promise<Order | undefined>;
  /** Whether the admission was used. @throws AppError `unavailable` when that cannot be said within `SPENT_LOOK_DEADLINE_MS`. */
  isSpent(jti: string): Promise<boolean>;
  /** One snapshot for the gate's repair, within `LOOK_DEADLINE_MS`; nothing for an unknown sku. */
  standing(of: SkuRef & { readonly jtis: readonly string[] }): Promise<Standing | undefined>;
  /** The jtis of all spends for this sku, also of holds that ended; nothing when they are more than `atMost`. */
  buyers(of: SkuRef, atMost: number): Promise<readonly string[] | undefined>;
}

/** Who asks: the visitor's hash, or the shop behind its bearer token. */
export type HoldActor =
  | { readonly kind: "buyer"; readonly visitor: string }
  | { readonly kind: "shop" };

export type HoldRefusal =
  /** There is none of this name in this event, or it is somebody else's. */
  | { readonly kind: "no-such-hold" }
  /** Its time was over, by PostgreSQL's clock. */
  | { readonly kind: "over" }
  /** It ended otherwise, was confirmed with another payment, or offers no extension. */
  | { readonly kind: "conflict"; readonly state: Hold["state"] };

/** `hold` as it is after the call. */
export type HoldOutcome = { readonly kind: "done"; readonly hold: Hold } | HoldRefusal;

/** Every call repeated gets the same answer. @throws AppError `unavailable`: ask again. */
export interface Holds {
  get(of: HoldName & { readonly by: HoldActor }): Promise<Hold | undefined>;
  /** Once; by the length that was offered when the hold began. */
  extend(of: HoldName & { readonly visitor: string }): Promise<HoldOutcome>;
  /** Held → sold. The same payment reference gives the same order again. */
  confirm(
    of: HoldName & {
      readonly paymentReference: string;
      readonly orderId: string;
      readonly now: EpochMs;
    },
  ): Promise<{ readonly kind: "confirmed"; readonly order: Order } | HoldRefusal>;
  /** Gives the seats back; the admission stays spent. */
  cancel(of: HoldName & { readonly by: HoldActor }): Promise<HoldOutcome>;
  /**
   * A fault of the shop or ours, by the shop's word: seats and limit are given back and the admission
   * is unspent again, also when the hold was over or cancelled meanwhile (then only the latter).
   */
  fail(
    of: HoldName,
  ): Promise<
    { readonly kind: "done"; readonly hold: Hold; readonly unspent: Admitted } | HoldRefusal
  >;
  /** Ends what is over, on any number of instances at once. @returns how many holds it ended. */
  sweep(): Promise<number>;
}

export interface HoldName {
  readonly event: string;
  readonly holdId: string;
}
