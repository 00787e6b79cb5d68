/** The error of a call that was not let in: too many wait already. */
export class BusyError extends Error {
  override readonly name = "BusyError";
  readonly code = "DATABASE_BUSY";
}

interface Waiter {
  readonly enter: () => void;
}

/**
 * Lets `places` in at a time, in order, and at most `waitersMax` wait. It stands before the
 * driver's own queue, which has no bound and cannot be left.
 */
export class Places {
  readonly #waiters = new Set<Waiter>();
  readonly #waitersMax: number;
  #free: number;

  constructor(options: { places: number; waitersMax: number }) {
    this.#free = options.places;
    this.#waitersMax = options.waitersMax;
  }

  /**
   * Resolves when there is a place; `leave` gives up waiting.
   *
   * @throws BusyError when too many wait.
   */
  enter(): { readonly entered: Promise<void>; readonly leave: () => void } {
    if (this.#free > 0) {
      this.#free -= 1;
      return { entered: Promise.resolve(), leave: () => {} };
    }
    if (this.#waiters.size >= this.#waitersMax) throw new BusyError("too many calls wait");
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter: Waiter = { enter: resolve };
    this.#waiters.add(waiter);
    return { entered: promise, leave: () => void this.#waiters.delete(waiter) };
  }

  /** Gives a place back: to whoever waits longest. */
  exit(): void {
    for (const waiter of this.#waiters) {
      this.#waiters.delete(waiter);
      waiter.enter();
      return;
    }
    this.#free += 1;
  }
}
