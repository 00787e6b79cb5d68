/** Row locks as PostgreSQL has them: many may share one, one has it alone, first come first served. */

export type LockMode = "share" | "alone";

interface Waiter {
  readonly mode: LockMode;
  readonly owner: object;
  readonly grant: () => void;
}

class Lock {
  readonly #holders = new Map<object, LockMode>();
  #waiters: Waiter[] = [];

  get isFree(): boolean {
    return this.#holders.size === 0 && this.#waiters.length === 0;
  }

  acquire(owner: object, mode: LockMode): Promise<void> {
    if (this.#holders.get(owner) === "alone" || this.#holders.get(owner) === mode) {
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiters.push({ owner, mode, grant: resolve });
    this.#grant();
    return promise;
  }

  release(owner: object): void {
    this.#holders.delete(owner);
    this.#waiters = this.#waiters.filter((waiter) => waiter.owner !== owner);
    this.#grant();
  }

  #grant(): void {
    for (let next = this.#waiters[0]; next !== undefined; next = this.#waiters[0]) {
      const others = [...this.#holders].filter(([holder]) => holder !== next?.owner);
      const blocked =
        next.mode === "alone" ? others.length > 0 : others.some(([, m]) => m === "alone");
      if (blocked) return;
      this.#waiters.shift();
      this.#holders.set(next.owner, next.mode);
      next.grant();
    }
  }
}

export class Locks {
  readonly #locks = new Map<string, Lock>();

  /** Waits for `name`, until it is had or `owner` releases everything. */
  acquire(owner: object, name: string, mode: LockMode): Promise<void> {
    let lock = this.#locks.get(name);
    if (lock === undefined) this.#locks.set(name, (lock = new Lock()));
    return lock.acquire(owner, mode);
  }

  /** All that `owner` has or waits for. */
  release(owner: object): void {
    for (const [name, lock] of this.#locks) {
      lock.release(owner);
      if (lock.isFree) this.#locks.delete(name);
    }
  }
}
