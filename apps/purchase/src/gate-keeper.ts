/**
 * Steps 3 and 5: the inventory gate as the flow uses it. It only ever saves PostgreSQL work: when it is
 * away, has no counter or is switched off, everybody goes on and PostgreSQL decides.
 */
import { AppError } from "@vestibule/kernel/app-error";
import type { Log } from "@vestibule/service/log";
import type { InventoryGate, Reservation } from "@vestibule/valkey/inventory-gate";
import { StoreAwayError } from "@vestibule/valkey/token-bucket";
import type { GateRepair } from "./gate-repair.ts";
import type { LedgerOutcome, SkuRef } from "./ledger-types.ts";

/** What is asked for, by which admission. */
export interface Wish extends SkuRef {
  readonly quantity: number;
  readonly jti: string;
}

export type GatePass =
  /** Not asked: it is switched off, or nobody sells such a thing. */
  | { readonly kind: "off" }
  /** `away`: the gate did not say. The others are its words. */
  | { readonly kind: "leased" | "known" | "unknown" | "away"; readonly wish: Wish }
  | Extract<Reservation, { kind: "sold-out" }>
  /** Sold out as well, but no purchase may have so many in any case. */
  | { readonly kind: "over-limit"; readonly perPurchaseMax: number };

export interface GateKeeper {
  /** Never rejects for want of a gate. */
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
  readonly repair: Pick<GateRepair, "ask" | "perPurchaseMax">;
  readonly log: Log;
}

export function createGateKeeper(
  gate: InventoryGate,
  { repair, log }: GateKeeperOptions,
): GateKeeper {
  const underWay = new Set<Promise<void>>();

  async function settle({ event, sku, jti }: Wish, outcome: "sold" | "not-sold"): Promise<void> {
    try {
      await gate.settle({ event, sku, jti, outcome });
    } catch (error) {
      if (!(error instanceof StoreAwayError)) log.error("gate-settle-failed", error);
      repair.ask({ event, sku });
    }
  }

  return {
    enter: async (wish) => {
      try {
        const perPurchaseMax = await repair.perPurchaseMax({ event: wish.event, sku: wish.sku });
        if (perPurchaseMax === undefined) return { kind: "off" };
        const reservation = await gate.reserve(wish);
        if (reservation.kind !== "sold-out") return { kind: reservation.kind, wish };
        const isTooMany = wish.quantity > perPurchaseMax;
        return isTooMany ? { kind: "over-limit", perPurchaseMax } : reservation;
      } catch (error) {
        // PostgreSQL is away: whoever asks it next says so.
        if (error instanceof AppError) return { kind: "off" };
        if (!(error instanceof StoreAwayError)) log.error("gate-reserve-failed", error);
        return { kind: "away", wish };
      }
    },
    leave: (pass, outcome) => {
      if (!("wish" in pass)) return;
      const settlement = settlementOf(pass, outcome);
      if (isDoubtful(pass, outcome)) repair.ask({ event: pass.wish.event, sku: pass.wish.sku });
      if (settlement === undefined) return;
      const work = settle(pass.wish, settlement).finally(() => underWay.delete(work));
      underWay.add(work);
    },
    idle: async () => {
      await Promise.all(underWay);
    },
  };
}

type Asked = Extract<GatePass, { wish: Wish }>;

/** `undefined`: there is nothing of ours to settle, or nobody knows yet. */
function settlementOf(
  { kind, wish }: Asked,
  outcome: LedgerOutcome | "lost",
): "sold" | "not-sold" | undefined {
  if (outcome === "lost" || outcome.kind === "in-progress") return undefined;
  // Also without a lease of ours: whoever comes again with this admission must not be told "sold out".
  if (isOf(outcome, wish)) return "sold";
  // `known` is somebody else's lease, of the same admission: theirs to settle.
  return kind === "known" ? undefined : "not-sold";
}

/** Whether gate and PostgreSQL may disagree about the sku. */
function isDoubtful({ kind, wish }: Asked, outcome: LedgerOutcome | "lost"): boolean {
  if (outcome === "lost" || outcome.kind === "in-progress") return true;
  // Anybody can make up names of things.
  if (outcome.kind === "unknown-sku") return false;
  if (kind === "unknown" || kind === "away") return true;
  if (kind !== "leased") return false;
  // It counted off what PostgreSQL does not have, or what was counted off before.
  return outcome.kind === "sold-out" || (isOf(outcome, wish) && outcome.left === undefined);
}

/** It was bought or held with this very admission, now or before. */
function isOf(
  outcome: LedgerOutcome,
  { jti }: Wish,
): outcome is Extract<LedgerOutcome, { kind: "bought" | "held" }> {
  return (outcome.kind === "bought" || outcome.kind === "held") && outcome.jti === jti;
}
