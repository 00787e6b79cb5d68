/**
 * Keeps the gate's counters right: a crash between reservation and settlement, a flushed or evicted key, a
 * number set by hand. It compares one moment of the gate with a later snapshot of PostgreSQL, and changes
 * nothing when the gate moved in between, or only what is surely too high; so it never makes things worse while
 * purchases run. A gate that may have forgotten buyers is told of all of them again (ADR 8).
 */
import { AppError } from "@vestibule/kernel/app-error";
import type { Clock } from "@vestibule/kernel/clock";
import type { EpochMs } from "@vestibule/kernel/units";
import type { Log } from "@vestibule/service/log";
import {
  type GateRepair as RepairOfGate,
  type GateState,
  type InventoryGate,
  REPAIRED_AT_ONCE_MAX,
} from "@vestibule/valkey/inventory-gate";
import { StoreAwayError } from "@vestibule/valkey/token-bucket";
import type { Ledger, SkuRef, Standing } from "./ledger-types.ts";
import {
  BUYERS_TOLD_AT_ONCE,
  BUYERS_TOLD_MAX,
  REPAIR_ASKED_MAX,
  REPAIR_EVENTS_MAX,
  REPAIR_RUNNING_MAX,
  REPAIR_TRIES_MAX,
  TROUBLE_MS,
} from "./limits.ts";
import type { SkuForSale } from "./stock.ts";

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
  /**
   * What PostgreSQL has of this sku: one question at a time, whose answer is for everybody who asked meanwhile.
   *
   * @throws AppError `unavailable`.
   */
  look(of: SkuRef): Promise<Standing | undefined>;
  /** A transaction was lost, or PostgreSQL did not answer. */
  noteTrouble(): void;
  /** Whether leases may be of transactions that were lost: what is counted off for them may be for sale. */
  isTroubled(): boolean;
  /** When every repair and every round under way has ended. */
  idle(): Promise<void>;
}

export interface RepairOptions {
  readonly gate: InventoryGate;
  readonly ledger: Pick<Ledger, "standing" | "buyers">;
  /** All that is sold in the running events. */
  readonly listSkus: () => Promise<readonly SkuForSale[]>;
  readonly clock: Clock;
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
  readonly #looking = new Map<string, Promise<Standing | undefined>>();
  #troubledAt: EpochMs | undefined;
  #lastEvent = "";
  #round: Promise<void> | undefined;
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

  round(): Promise<void> {
    this.#round ??= this.#runRound().finally(() => (this.#round = undefined));
    return this.#round;
  }

  async #runRound(): Promise<void> {
    try {
      const skus = await this.#options.listSkus();
      for (const of of skus) this.#perPurchaseMax.set(keyOf(of), of.perPurchaseMax);
      for (const of of this.#nextOf(skus)) {
        // Away: the next round tries again. Each call would only wait for its deadline.
        if ((await this.#start(of)) === "away") return;
      }
    } catch (error) {
      this.#report(error);
    }
  }

  async perPurchaseMax(of: SkuRef): Promise<number | undefined> {
    return this.#perPurchaseMax.get(keyOf(of)) ?? (await this.look(of))?.perPurchaseMax;
  }

  look(of: SkuRef): Promise<Standing | undefined> {
    const key = keyOf(of);
    const running = this.#looking.get(key);
    if (running !== undefined) return running;
    const look = this.#options.ledger
      .standing({ ...of, jtis: [] })
      .then((standing) => this.#remember(of, standing))
      .finally(() => this.#looking.delete(key));
    this.#looking.set(key, look);
    return look;
  }

  noteTrouble(): void {
    this.#troubledAt = this.#options.clock.now();
  }

  isTroubled(): boolean {
    if (this.#troubledAt === undefined) return false;
    // A clock that stepped back does not make it last.
    return Math.abs(this.#options.clock.now() - this.#troubledAt) < TROUBLE_MS;
  }

  #remember(of: SkuRef, standing: Standing | undefined): Standing | undefined {
    if (standing !== undefined) this.#perPurchaseMax.set(keyOf(of), standing.perPurchaseMax);
    return standing;
  }

  async idle(): Promise<void> {
    await Promise.all([this.#round, ...this.#running.values()]);
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
    /** The gate that was told of every buyer, by the name of its life: nobody repaired it since. */
    let toldLife: string | undefined;
    for (let moved = 0; moved < REPAIR_TRIES_MAX;) {
      const state = await gate.inspect(of);
      this.#back();
      // After the inspection: whatever is committed later has a lease in it, or moves the gate.
      const jtis = state.leases.map(({ jti }) => jti);
      const standing = this.#remember(of, await ledger.standing({ ...of, jtis }));
      if (standing === undefined) return;
      const repair = planOf(state, standing, { wasTold: toldLife === state.life });
      const isDone = repair === undefined || (await gate.repair({ ...of, ...repair }));
      if (isDone && repair !== undefined) this.#tell(of, state, repair);
      const isSure = repair?.sure ?? state.sure;
      const mayBeTold = toldLife === undefined && standing.taken <= BUYERS_TOLD_MAX;
      if (isDone && (isSure || !mayBeTold)) return;
      // Only a counter that is right shows who buys past the gate while it is told: no repair was needed, and nothing moved
      // between the two looks, which may have agreed by chance.
      if (repair !== undefined || (await gate.inspect(of)).version !== state.version) {
        moved += 1;
        continue;
      }
      // Then it is looked at once more: whoever bought past the gate meanwhile shows in its counter.
      if (!(await this.#tellBuyers(of))) return;
      toldLife = state.life;
    }
  }

  /** One by one: it is true whenever it is said. */
  async #tellBuyers(of: SkuRef): Promise<boolean> {
    const { gate, ledger } = this.#options;
    const buyers = await ledger.buyers(of, BUYERS_TOLD_MAX);
    for (let from = 0; from < (buyers?.length ?? 0); from += BUYERS_TOLD_AT_ONCE) {
      const some = buyers?.slice(from, from + BUYERS_TOLD_AT_ONCE) ?? [];
      await Promise.all(some.map((jti) => gate.remember({ ...of, jti })));
    }
    return buyers !== undefined;
  }

  #tell(of: SkuRef, state: GateState, { left, drop, sold }: RepairOfGate): void {
    const leasesEnded = drop.length + sold.length;
    if (left === state.left && leasesEnded === 0) return;
    const before = state.left ?? null;
    this.#options.log.info("inventory reconciliation", { ...of, before, after: left, leasesEnded });
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
      this.noteTrouble();
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
 *
 * @param gate.wasTold it was told of every buyer since its counter was right, and was not repaired since.
 */
export function planOf(
  state: GateState,
  { left, taken, spent }: Pick<Standing, "left" | "taken" | "spent">,
  { wasTold }: { readonly wasTold: boolean },
): RepairOfGate | undefined {
  const isSpent = new Set(spent.map(({ jti }) => jti));
  const unspent = state.leases.filter(({ jti }) => !isSpent.has(jti));
  // A lease in its time is settled by its holder.
  const isAnyoneGone = state.leases.some(({ expired }) => expired);
  const drop = unspent.filter(({ expired }) => expired).slice(0, REPAIRED_AT_ONCE_MAX);
  // Below 0 when more is asked for than there is: what they give back pays for that first.
  const right = left - seatsOf(unspent);
  // Whoever is not dropped yet keeps their seats until the next repair.
  const wanted = right + seatsOf(drop);
  // What the counter shows once every spent lease is settled with what it bought.
  const settled = seatsOf(state.leases) - seatsOf(unspent) - seatsOf(spent);
  const shown = state.left === undefined ? Infinity : state.left + settled;
  // Too high: something was sold past the gate. No counter: it may have forgotten everybody.
  const mayHaveMissed = right < shown;
  // Too low hides what was sold past it: enough to stay sure (seats that come back), not to become it.
  const sure = taken === 0 || (state.sure ? !mayHaveMissed : wasTold && right === shown);
  if (wanted === state.left && !isAnyoneGone && sure === state.sure) return undefined;
  return {
    version: state.version,
    left: wanted,
    drop: drop.map(({ jti }) => jti),
    // Whoever sold and died before they said so: their buyer comes again and must get through.
    sold: state.leases
      .map(({ jti }) => jti)
      .filter((jti) => isSpent.has(jti))
      .slice(0, REPAIRED_AT_ONCE_MAX - drop.length),
    sure,
  };
}

function seatsOf(all: readonly { readonly quantity: number }[]): number {
  return all.reduce((sum, { quantity }) => sum + quantity, 0);
}

function keyOf({ event, sku }: SkuRef): string {
  return `${event} ${sku}`;
}
