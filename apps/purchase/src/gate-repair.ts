/**
 * Keeps the gate's counters right: a crash between reservation and settlement, a flushed or evicted key, a
 * number set by hand. It compares one moment of the gate with a later snapshot of PostgreSQL, and changes
 * nothing when the gate moved in between, or only what is surely too high; so it never makes things worse while purchases run.
 */
import { AppError } from "@vestibule/kernel/app-error";
import type { Log } from "@vestibule/service/log";
import type {
  GateRepair as RepairOfGate,
  GateState,
  InventoryGate,
} from "@vestibule/valkey/inventory-gate";
import { StoreAwayError } from "@vestibule/valkey/token-bucket";
import type { Ledger, SkuRef, Standing } from "./ledger-types.ts";
import {
  REPAIR_ASKED_MAX,
  REPAIR_EVENTS_MAX,
  REPAIR_RUNNING_MAX,
  REPAIR_TRIES_MAX,
} from "./limits.ts";

export interface GateRepair {
  /** Repairs this sku now, or at the next tick when that was done a moment ago. Returns at once. */
  ask(of: SkuRef): void;
  /** What was asked for meanwhile. Called every `REPAIR_ASKED_MS`. Never rejects. */
  tick(): Promise<void>;
  /** The next events in turn, at most `REPAIR_EVENTS_MAX`. Called every `REPAIR_ROUND_MS`. Never rejects. */
  round(): Promise<void>;
  /**
   * What one purchase of this sku may have, as it was when it was last looked at here; `undefined`: PostgreSQL
   * knows no such sku. It is asked for each sku once, and again for names that nobody sells: those must not
   * become keys of the store.
   *
   * @throws AppError `unavailable`.
   */
  perPurchaseMax(of: SkuRef): Promise<number | undefined>;
  /** When every repair under way has ended. */
  idle(): Promise<void>;
}

export interface SkuForSale extends SkuRef {
  readonly perPurchaseMax: number;
}

export interface RepairOptions {
  readonly gate: InventoryGate;
  readonly ledger: Pick<Ledger, "standing">;
  /** All that is sold in the running events. */
  readonly listSkus: () => Promise<readonly SkuForSale[]>;
  readonly log: Log;
}

export function createGateRepair(options: RepairOptions): GateRepair {
  return new Repair(options);
}

class Repair implements GateRepair {
  readonly #options: RepairOptions;
  /** Asked for while they rested or ran, by key. */
  readonly #asked = new Map<string, SkuRef>();
  /** Repaired since the last tick, and in the one before: they wait for the next. */
  #resting = new Set<string>();
  #rested = new Set<string>();
  readonly #running = new Map<string, Promise<"done" | "away">>();
  /** Of every sku that exists and was looked at. */
  readonly #perPurchaseMax = new Map<string, number>();
  readonly #looking = new Map<string, Promise<number | undefined>>();
  #lastEvent = "";
  #isRoundRunning = false;
  #isAway = false;

  constructor(options: RepairOptions) {
    this.#options = options;
  }

  ask(of: SkuRef): void {
    const key = keyOf(of);
    const mustWait = this.#resting.has(key) || this.#rested.has(key) || this.#running.has(key);
    if (!mustWait && this.#running.size < REPAIR_RUNNING_MAX) void this.#start(of);
    // What is dropped here is found by the round.
    else if (this.#asked.size < REPAIR_ASKED_MAX) this.#asked.set(key, of);
  }

  async tick(): Promise<void> {
    this.#rested = this.#resting;
    this.#resting = new Set();
    const room = Math.max(0, REPAIR_RUNNING_MAX - this.#running.size);
    const waiting = [...this.#asked].filter(
      ([key]) => !this.#rested.has(key) && !this.#running.has(key),
    );
    await Promise.all(
      waiting.slice(0, room).map(([key, of]) => {
        this.#asked.delete(key);
        return this.#start(of);
      }),
    );
  }

  async round(): Promise<void> {
    if (this.#isRoundRunning) return;
    this.#isRoundRunning = true;
    try {
      const skus = await this.#options.listSkus();
      for (const of of skus) this.#perPurchaseMax.set(keyOf(of), of.perPurchaseMax);
      for (const of of this.#nextOf(skus)) {
        // Away: the next round tries again. Each call would only wait for its deadline.
        if ((await this.#start(of)) === "away") return;
      }
    } catch (error) {
      this.#report(error);
    } finally {
      this.#isRoundRunning = false;
    }
  }

  async perPurchaseMax(of: SkuRef): Promise<number | undefined> {
    const key = keyOf(of);
    return this.#perPurchaseMax.get(key) ?? this.#looking.get(key) ?? this.#look(of);
  }

  #look(of: SkuRef): Promise<number | undefined> {
    const key = keyOf(of);
    const look = this.#options.ledger
      .standing({ ...of, jtis: [] })
      .then((standing) => this.#remember(of, standing)?.perPurchaseMax)
      .finally(() => this.#looking.delete(key));
    this.#looking.set(key, look);
    return look;
  }

  #remember(of: SkuRef, standing: Standing | undefined): Standing | undefined {
    if (standing !== undefined) this.#perPurchaseMax.set(keyOf(of), standing.perPurchaseMax);
    return standing;
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** The skus of the events behind the last one, around the circle of their names. */
  #nextOf(skus: readonly SkuRef[]): SkuRef[] {
    const events = [...new Set(skus.map(({ event }) => event))].sort();
    const behind = events.filter((event) => event > this.#lastEvent);
    const batch = [...behind, ...events].slice(0, Math.min(REPAIR_EVENTS_MAX, events.length));
    this.#lastEvent = batch.at(-1) ?? "";
    const chosen = new Set(batch);
    return skus.filter(({ event }) => chosen.has(event));
  }

  #start({ event, sku }: SkuRef): Promise<"done" | "away"> {
    const of = { event, sku };
    const key = keyOf(of);
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    this.#resting.add(key);
    const work = this.#repair(of)
      .then(
        () => "done" as const,
        (error: unknown) => this.#report(error),
      )
      .finally(() => this.#running.delete(key));
    this.#running.set(key, work);
    return work;
  }

  async #repair(of: SkuRef): Promise<void> {
    const { gate, ledger } = this.#options;
    for (let round = 0; round < REPAIR_TRIES_MAX; round += 1) {
      const state = await gate.inspect(of);
      this.#back();
      // After the inspection: whatever is committed later has a lease in it, or moves the gate.
      const jtis = state.leases.map(({ jti }) => jti);
      const standing = this.#remember(of, await ledger.standing({ ...of, jtis }));
      if (standing === undefined) return;
      const repair = planOf(state, standing);
      if (repair === undefined) return;
      if (!(await gate.repair({ ...of, ...repair }))) continue;
      this.#options.log.info("inventory reconciliation", {
        ...of,
        before: state.left ?? null,
        after: repair.left,
        leasesEnded: repair.drop.length + repair.sold.length,
      });
      return;
    }
  }

  /** `done`: it failed by itself, and says nothing about the others. */
  #report(error: unknown): "done" | "away" {
    const { log } = this.#options;
    if (error instanceof StoreAwayError) {
      if (!this.#isAway) log.warn("inventory-gate-away", { reason: error.message });
      this.#isAway = true;
      return "away";
    }
    if (error instanceof AppError) {
      log.info("inventory-repair-postponed", { reason: error.message });
      return "away";
    }
    log.error("inventory-repair-failed", error);
    return "done";
  }

  #back(): void {
    if (this.#isAway) this.#options.log.info("inventory-gate-back");
    this.#isAway = false;
  }
}

/**
 * What the gate should be, when that is not what it is. `left` is what PostgreSQL has, less what is counted
 * off for those who are still on their way to it; PostgreSQL has counted the spent ones itself.
 */
export function planOf(
  state: GateState,
  { left, taken, spent }: Pick<Standing, "left" | "taken" | "spent">,
): RepairOfGate | undefined {
  const isSpent = new Set(spent);
  const onTheirWay = state.leases
    .filter(({ jti, expired }) => !expired && !isSpent.has(jti))
    .reduce((sum, { quantity }) => sum + quantity, 0);
  // Below 0 when more is asked for than there is: what they give back pays for that first.
  const wanted = left - onTheirWay;
  // A lease in its time is settled by its holder.
  const isAnyoneGone = state.leases.some(({ expired }) => expired);
  if (wanted === state.left && !isAnyoneGone) return undefined;
  return {
    version: state.version,
    left: wanted,
    drop: state.leases
      .filter(({ jti, expired }) => expired && !isSpent.has(jti))
      .map(({ jti }) => jti),
    // Whoever sold and died before they said so: their buyer comes again and must get through.
    sold: state.leases.filter(({ jti }) => isSpent.has(jti)).map(({ jti }) => jti),
    // Too high: something was sold past the gate. No counter: it may have forgotten everybody.
    doubt: state.left === undefined ? taken > 0 : wanted < state.left,
  };
}

function keyOf({ event, sku }: SkuRef): string {
  return `${event} ${sku}`;
}
