import type { Log } from "@vestibule/service/log";
import { silentLog } from "@vestibule/service/log";
import { FakeClock } from "@vestibule/testkit/fake-clock";
import type { InventoryGate } from "@vestibule/valkey/inventory-gate";
import { createMemoryInventoryGate } from "@vestibule/valkey/memory-inventory-gate";
import { createMemoryTokenBucket } from "@vestibule/valkey/memory-token-bucket";
import { StoreAwayError } from "@vestibule/valkey/token-bucket";
import { expect } from "vitest";
import { createGateKeeper, type GateKeeper, type Wish } from "../src/gate-keeper.ts";
import { createGateRepair, type GateRepair, type RepairOptions } from "../src/gate-repair.ts";
import type { Ledger, LedgerOutcome, SkuRef, Standing } from "../src/ledger-types.ts";
import type { Store } from "../src/store.ts";

export const SEAT: SkuRef = { event: "spring", sku: "seat" };

/** PostgreSQL as the gate sees it: it decides, each admission buys once, and it never oversells. */
export class ModelLedger {
  total: number;
  taken = 0;
  readonly buyers = new Map<string, number>();
  transactions = 0;

  constructor(total: number) {
    this.total = total;
  }

  get left(): number {
    return this.total - this.taken;
  }

  purchase({ jti, quantity, event, sku }: Wish): LedgerOutcome {
    this.transactions += 1;
    const bought = { orderId: jti, event, sku, quantity, number: 1, purchasedAt: 0 };
    if (this.buyers.has(jti)) return { kind: "bought", order: bought, jti };
    if (quantity > this.left) return { kind: "sold-out" };
    this.buyers.set(jti, quantity);
    this.taken += quantity;
    return { kind: "bought", order: bought, jti, left: this.left };
  }

  /** As `Ledger.buyers`. */
  allBuyers(atMost: number): readonly string[] | undefined {
    return this.buyers.size > atMost ? undefined : [...this.buyers.keys()];
  }

  standing(jtis: readonly string[]): Standing {
    const spent = jtis.flatMap((jti) => {
      const quantity = this.buyers.get(jti);
      return quantity === undefined ? [] : [{ jti, quantity }];
    });
    return { left: this.left, taken: this.taken, perPurchaseMax: 10, spent };
  }
}

export function portOf(ledger: ModelLedger): Pick<Ledger, "standing" | "buyers"> {
  return {
    standing: async ({ jtis }) => ledger.standing(jtis),
    buyers: async (_of, atMost) => ledger.allBuyers(atMost),
  };
}

/** A gate that can lose everything, and that can be set to whatever. */
export type BreakableGate = {
  readonly [Step in keyof InventoryGate]: (
    ...args: Parameters<InventoryGate[Step]>
  ) => ReturnType<InventoryGate[Step]>;
} & {
  readonly flush: () => void;
  readonly set: (left: number) => Promise<void>;
};

export function breakableGate(clock: FakeClock): BreakableGate {
  let inner = createMemoryInventoryGate(clock);
  return {
    reserve: (of) => inner.reserve(of),
    settle: (of) => inner.settle(of),
    remember: (of) => inner.remember(of),
    inspect: (of) => inner.inspect(of),
    repair: (of) => inner.repair(of),
    flush: () => {
      inner = createMemoryInventoryGate(clock);
    },
    set: async (left) => {
      const { version, sure } = await inner.inspect(SEAT);
      await inner.repair({ ...SEAT, version, left, drop: [], sold: [], sure });
    },
  };
}

export interface GateWorld {
  readonly clock: FakeClock;
  readonly ledger: ModelLedger;
  readonly gate: BreakableGate;
  readonly repair: GateRepair;
  readonly keeper: GateKeeper;
  /** One attempt, all steps. */
  buy(jti: string, quantity?: number): Promise<string>;
  /** Everything of old is over, and one round has been. */
  calm(): Promise<void>;
}

export function gateWorld(
  total: number,
  { log = silentLog, ...ports }: Partial<RepairOptions> & { log?: Log } = {},
): GateWorld {
  const clock = new FakeClock();
  const ledger = new ModelLedger(total);
  const gate = breakableGate(clock);
  const repair = createGateRepair({
    gate,
    ledger: portOf(ledger),
    listSkus: async () => [{ ...SEAT, perPurchaseMax: 10 }],
    clock,
    log,
    ...ports,
  });
  const keeper = createGateKeeper(gate, { repair, ledger: portOf(ledger), log });
  return {
    clock,
    ledger,
    gate,
    repair,
    keeper,
    buy: async (jti, quantity = 1) => {
      const wish = { ...SEAT, jti, quantity };
      const pass = await keeper.enter(wish);
      if (pass.kind === "sold-out") return "sold-out";
      const outcome = ledger.purchase(wish);
      keeper.leave(pass, outcome);
      return outcome.kind;
    },
    calm: async () => {
      await keeper.idle();
      await repair.idle();
      clock.advance(15_000);
      await repair.round();
    },
  };
}

/** What must hold when nothing is on its way: both say the same, and no lease is left. */
export async function expectAgreement(world: GateWorld): Promise<void> {
  const { left, leases, sure } = await world.gate.inspect(SEAT);
  expect({ left, leases, sure }).toEqual({ left: world.ledger.left, leases: [], sure: true });
}

/** Nobody who bought is told "sold out" as if that were sure. */
export async function expectBuyersGetThrough({ gate, ledger }: GateWorld): Promise<void> {
  for (const [jti, quantity] of ledger.buyers) {
    const reservation = await gate.reserve({ ...SEAT, jti, quantity });
    if (reservation.kind === "sold-out") expect(reservation.sure).toBe(false);
  }
}

/** A store in this process whose halves can be taken away. */
export interface BreakableStore extends Store {
  readonly gate: BreakableGate;
  isLimiterAway: boolean;
  isGateAway: boolean;
  /** How often the gate was asked for a reservation. */
  reservations: number;
}

export function breakableStore(clock: FakeClock): BreakableStore {
  const bucket = createMemoryTokenBucket(clock);
  const gate = breakableGate(clock);
  const unless = (isAway: () => boolean) => () => {
    if (isAway()) throw new StoreAwayError("taken away by a test");
  };
  const needsLimiter = unless(() => store.isLimiterAway);
  const needsGate = unless(() => store.isGateAway);
  const store: BreakableStore = {
    isLimiterAway: false,
    isGateAway: false,
    reservations: 0,
    bucket: {
      take: async (...args) => {
        needsLimiter();
        return bucket.take(...args);
      },
      giveBack: async (...args) => {
        needsLimiter();
        return bucket.giveBack(...args);
      },
    },
    gate: {
      ...gate,
      reserve: async (of) => {
        needsGate();
        store.reservations += 1;
        return gate.reserve(of);
      },
      settle: async (of) => {
        needsGate();
        return gate.settle(of);
      },
      remember: async (of) => {
        needsGate();
        return gate.remember(of);
      },
      inspect: async (of) => {
        needsGate();
        return gate.inspect(of);
      },
      repair: async (of) => {
        needsGate();
        return gate.repair(of);
      },
    },
    isUp: () => !store.isLimiterAway,
    close: async () => {},
  };
  return store;
}
