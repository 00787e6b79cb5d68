/**
 * The database server: transactions with row locks, a durable commit, and everything that can go wrong with it. What
 * its rows say is the store in memory of the mint's own tests, so that both pass one conformance suite.
 */
import { AppError } from "@vestibule/kernel/app-error";
import { MemoryStore } from "@vestibule/mint/test/support/memory-store.ts";
import type { SeededRandomness } from "@vestibule/testkit/seeded-randomness";
import { type LockMode, Locks } from "./locks.ts";
import { Machine } from "./machine.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** As the mint sets them for its connections (packages/db). */
const LOCK_TIMEOUT_MS = 3_000;
const IDLE_IN_TRANSACTION_MS = 4_000;
/** How far back a replica may be. */
export const REPLICA_LAG_MS_MAX = 2_500;

interface Version {
  readonly at: number;
  readonly restore: () => void;
}

/** What the disk and the server are up to. */
export interface Trouble {
  /** Each commit takes up to this much longer. */
  slowMsMax: number;
  /** In a hundred commits: refused, nothing is written. */
  failBeforePercent: number;
  /** In a hundred commits: written, and nobody hears of it. */
  failAfterPercent: number;
}

export class DatabaseServer {
  readonly rows: MemoryStore;
  readonly trouble: Trouble = { slowMsMax: 0, failBeforePercent: 0, failAfterPercent: 0 };
  /** Replaced by every restart. */
  machine: Machine;
  /** Tells of every commit, with what it was. */
  onCommit: (what: string) => void = () => {};
  readonly #time: VirtualTime;
  readonly #random: SeededRandomness;
  readonly #tellsHistory: boolean;
  #timeline = 0;
  #locks = new Locks();
  #versions: Version[] = [];

  /** @param options.tellsHistory false: as a managed server that does not say on which timeline it is. */
  constructor(time: VirtualTime, random: SeededRandomness, { tellsHistory = true } = {}) {
    this.#tellsHistory = tellsHistory;
    this.#time = time;
    this.#random = random;
    this.machine = new Machine("database", time);
    this.rows = new MemoryStore({ now: () => this.machine.clock.now() });
    this.promote();
  }

  begin(): ServerTransaction {
    return new ServerTransaction({
      server: this,
      locks: this.#locks,
      machine: this.machine,
      trouble: this.trouble,
      random: this.#random,
    });
  }

  /** Every connection is cut, whatever was not committed is gone; it is back at once. */
  restart(): void {
    const { clock } = this.machine;
    this.machine.kill();
    this.#locks = new Locks();
    this.machine = new Machine("database", this.#time, clock);
  }

  /**
   * A replica takes over that lacks the commits of the last `lagMs`.
   *
   * @returns how many commits are forgotten.
   */
  failOver({ lagMs }: { lagMs: number }): number {
    const isKept = ({ at }: Version): boolean => at <= this.#time.now - lagMs;
    const last = Math.max(this.#versions.findLastIndex(isKept), 0);
    const forgotten = this.#versions.length - 1 - last;
    this.restart();
    this.#versions.length = last + 1;
    this.#versions[last]?.restore();
    this.promote();
    return forgotten;
  }

  /** Another timeline begins. */
  promote(): void {
    this.#timeline += 1;
    this.rows.history = this.#tellsHistory ? `simulated/${this.#timeline}` : undefined;
  }

  /** Only by a transaction: what was written is on disk. */
  committed(what: string): void {
    const at = this.#time.now;
    this.#versions.push({ at, restore: this.rows.snapshot() });
    // One that is older than any replica is enough.
    const first = this.#versions.findLastIndex((version) => version.at < at - REPLICA_LAG_MS_MAX);
    this.#versions.splice(0, Math.max(0, first));
    this.onCommit(what);
  }
}

interface TransactionParts {
  readonly server: DatabaseServer;
  readonly locks: Locks;
  readonly machine: Machine;
  readonly trouble: Trouble;
  readonly random: SeededRandomness;
}

/** One transaction, as the server sees it: it ends by a commit, or when its connection or its patience does. */
export class ServerTransaction {
  readonly #parts: TransactionParts;
  #isOver = false;
  #isIdle = false;
  #stopWaiting: () => void = () => {};

  constructor(parts: TransactionParts) {
    this.#parts = parts;
  }

  /** @throws AppError `unavailable` when it waits too long, or is over. */
  async lock(name: string, mode: LockMode): Promise<void> {
    const { locks, machine } = this.#parts;
    this.#assertOpen();
    const { promise, reject } = Promise.withResolvers<never>();
    const cancel = machine.after(LOCK_TIMEOUT_MS, () => {
      reject(away("lock timeout"));
    });
    try {
      await Promise.race([locks.acquire(this, name, mode), promise]);
    } catch (error) {
      this.abort();
      throw error;
    } finally {
      cancel();
    }
    this.#assertOpen();
  }

  /** Nothing is asked of it for a while: the client has the word. */
  idle(): void {
    this.#isIdle = true;
    this.#stopWaiting = this.#parts.machine.after(IDLE_IN_TRANSACTION_MS, () => this.abort());
  }

  resume(): void {
    this.#isIdle = false;
    this.#stopWaiting();
    this.#assertOpen();
  }

  /** A read: as of now. */
  read<Value>(work: (rows: MemoryStore) => Promise<Value>): Promise<Value> {
    this.#assertOpen();
    return work(this.#parts.server.rows);
  }

  /**
   * Writes and commits. `work` must settle without waiting for anything.
   *
   * @throws AppError `unavailable` when nothing was written, or when something was and nobody is to know.
   */
  async commit<Value>(what: string, work: (rows: MemoryStore) => Promise<Value>): Promise<Value> {
    const { server, machine, trouble, random } = this.#parts;
    this.#assertOpen();
    const slowMs = trouble.slowMsMax > 0 ? random.integer({ min: 0, max: trouble.slowMsMax }) : 1;
    await machine.sleep(slowMs);
    this.#assertOpen();
    if (random.chance(trouble.failBeforePercent)) {
      this.abort();
      throw away("the commit was refused");
    }
    try {
      const value = await work(server.rows);
      server.committed(what);
      if (random.chance(trouble.failAfterPercent)) throw away("the connection was lost");
      return value;
    } finally {
      this.abort();
    }
  }

  /** At the client's word: only of one that waits for that word. */
  rollBack(): void {
    if (this.#isIdle) this.abort();
  }

  /** Over: what it has locked is free. */
  abort(): void {
    this.#isOver = true;
    this.#stopWaiting();
    this.#parts.locks.release(this);
  }

  #assertOpen(): void {
    if (this.#isOver || !this.#parts.machine.isAlive) throw away("the transaction is over");
  }
}

export function away(internal: string): AppError {
  return new AppError("unavailable", {
    internal: `simulated PostgreSQL: ${internal}`,
    retryAfterSeconds: 1,
  });
}
