/**
 * Steps 3 and 5: the inventory gate as the flow uses it. It only ever saves PostgreSQL work: when it is
 * away, has no counter or is switched off, everybody goes on and PostgreSQL decides. It refuses in
 * PostgreSQL's name only when it can know what PostgreSQL would say (ADR 8).
 */
import type { Log } from "@vestibule/service/log";
import type { InventoryGate, Reservation } from "@vestibule/valkey/inventory-gate";
import { StoreAwayError } from "@vestibule/valkey/token-bucket";
import type { GateRepair } from "./gate-repair.ts";
import type { Ledger, LedgerOutcome, SkuRef } from "./ledger-types.ts";

/** What is asked for, by which admission. */
export interface Wish extends SkuRef {
  readonly quantity: number;
  readonly jti: string;
}

export type GatePass =
  /** Not asked: it is switched off, or nobody sells such a thing. */
  | { readonly kind: "off" }
  /**
   * `away`: the gate did not say. `doubted`: it said sold out, and PostgreSQL does not bear it out; the gate has a
   * lease of no seats then. The others are its words.
   */
  | {
      readonly kind: "leased" | "known" | "unknown" | "away" | "doubted";
      readonly wish: Wish;
    }
  | { readonly kind: "sold-out" }
  /** Sold out as well, but no purchase may have so many in any case. */
  | { readonly kind: "over-limit"; readonly perPurchaseMax: number };

export interface GateKeeper {
  /**
   * Never rejects for want of a gate.
   *
   * @throws AppError `unavailable` when PostgreSQL had to be asked and did not answer: asking it for the purchase
   * itself would only take that time again.
   */
  enter(wish: Wish): Promise<GatePass>;
  /**
   * Settles what `pass` counted off, after the fact and in the background: nobody waits for it.
   * `lost`: nobody knows what became of it, so that its lease runs out and the repair looks it up.
   */
  leave(pass: GatePass, outcome: LedgerOutcome | "lost"): void;
  /** When every settlement under way has ended. */
  idle(): Promise<void>;
}

export const gateSwitchedOff: GateKeeper = {
  enter: () => Promise.resolve({ kind: "off" }),
  leave: () => {},
  idle: () => Promise.resolve(),
};

export interface GateKeeperOptions {
  /** Compares a sku with PostgreSQL soon, and knows what is sold. */
  readonly repair: Pick<
    GateRepair,
    "ask" | "perPurchaseMax" | "look" | "noteTrouble" | "isTroubled"
  >;
  readonly ledger: Pick<Ledger, "standing">;
  readonly log: Log;
}

export function createGateKeeper(
  gate: InventoryGate,
  { repair, ledger, log }: GateKeeperOptions,
): GateKeeper {
  const underWay = new Set<Promise<void>>();

  async function reserve(wish: Wish): Promise<Reservation | { readonly kind: "away" }> {
    try {
      return await gate.reserve(wish);
    } catch (error) {
      if (!(error instanceof StoreAwayError)) log.error("gate-reserve-failed", error);
      return { kind: "away" };
    }
  }

  /**
   * Whether PostgreSQL would say the same. A gate that may have forgotten buyers cannot know whether this is one.
   * One that counted seats off for transactions that were lost may be the only thing that is sold out: then one
   * look is enough for everybody who comes meanwhile.
   */
  async function isSoldOut({ event, sku, quantity, jti }: Wish, isSure: boolean): Promise<boolean> {
    if (isSure && !repair.isTroubled()) return true;
    const of = { event, sku };
    try {
      const standing = await (isSure ? repair.look(of) : ledger.standing({ ...of, jtis: [jti] }));
      if (standing === undefined) return false;
      return standing.left < quantity && !standing.spent.some((spent) => spent.jti === jti);
    } catch (error) {
      repair.noteTrouble();
      throw error;
    }
  }

  /** The gate shall know them by name: whoever buys past it and dies before they say so shows in no counter for sure. */
  async function goPast(wish: Wish): Promise<GatePass> {
    const { kind } = await reserve({ ...wish, quantity: 0 });
    return { kind: kind === "known" || kind === "away" ? kind : "doubted", wish };
  }

  async function settle({ event, sku, jti }: Wish, sold: number | "earlier"): Promise<void> {
    const of = { event, sku, jti };
    try {
      await (sold === "earlier" ? gate.remember(of) : gate.settle({ ...of, sold }));
    } catch (error) {
      if (!(error instanceof StoreAwayError)) log.error("gate-settle-failed", error);
      repair.ask({ event, sku });
    }
  }

  return {
    enter: async (wish) => {
      const perPurchaseMax = await repair.perPurchaseMax({ event: wish.event, sku: wish.sku });
      if (perPurchaseMax === undefined) return { kind: "off" };
      const reservation = await reserve(wish);
      if (reservation.kind !== "sold-out") return { kind: reservation.kind, wish };
      if (wish.quantity > perPurchaseMax) return { kind: "over-limit", perPurchaseMax };
      return (await isSoldOut(wish, reservation.sure)) ? { kind: "sold-out" } : goPast(wish);
    },
    leave: (pass, outcome) => {
      if (!("wish" in pass)) return;
      if (outcome === "lost") repair.noteTrouble();
      const sold = soldOf(pass, outcome);
      if (isDoubtful(pass, outcome)) repair.ask({ event: pass.wish.event, sku: pass.wish.sku });
      if (sold === undefined) return;
      const work = settle(pass.wish, sold).finally(() => underWay.delete(work));
      underWay.add(work);
    },
    idle: async () => {
      await Promise.all(underWay);
    },
  };
}

type Asked = Extract<GatePass, { wish: Wish }>;
type Taken = Extract<LedgerOutcome, { kind: "bought" | "held" }>;

/** The seats to settle with; `undefined`: there is nothing of ours to settle, or nobody knows yet. */
function soldOf(
  { kind, wish }: Asked,
  outcome: LedgerOutcome | "lost",
): number | "earlier" | undefined {
  if (outcome === "lost" || outcome.kind === "in-progress") return undefined;
  // Also without a lease of ours: whoever comes again with this admission must not be told "sold out".
  if (isOf(outcome, wish)) return outcome.left === undefined ? "earlier" : quantityOf(outcome);
  // `known` is somebody else's lease, of the same admission: theirs to settle.
  return kind === "known" ? undefined : 0;
}

/** Whether gate and PostgreSQL may disagree about the sku. */
function isDoubtful({ kind, wish }: Asked, outcome: LedgerOutcome | "lost"): boolean {
  if (outcome === "lost" || outcome.kind === "in-progress") return true;
  // Anybody can make up names of things.
  if (outcome.kind === "unknown-sku") return false;
  if (kind === "unknown" || kind === "away") return true;
  const isNew = "left" in outcome && outcome.left !== undefined;
  // It may not have been counted off: an admission that was unspent again, a lease that was given back meanwhile.
  if (kind !== "leased") return isNew && isOf(outcome, wish);
  // It counted off what PostgreSQL does not have, or what was counted off before.
  return outcome.kind === "sold-out" || (isOf(outcome, wish) && !isNew);
}

function quantityOf(taken: Taken): number {
  return taken.kind === "bought" ? taken.order.quantity : taken.hold.quantity;
}

/** It was bought or held with this very admission, now or before. */
function isOf(outcome: LedgerOutcome, { jti }: Wish): outcome is Taken {
  return (outcome.kind === "bought" || outcome.kind === "held") && outcome.jti === jti;
}
