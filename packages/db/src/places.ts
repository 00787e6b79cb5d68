/** The error of a call that was not let in: too many wait already. */
export class BusyError extends Error {
  override readonly name = "BusyError";
  readonly code = "DATABASE_BUSY";
}

interface Waiter {
  readonly enter: () => void;
  readonly turn: number;
}

/** Those that want the same thing: who is in, and who waits, in order. */
interface Lane {
  readonly places: number;
  readonly waitersMax: number;
  readonly waiters: Set<Waiter>;
  inside: number;
}

export interface PlacesOptions {
  readonly places: number;
  readonly waitersMax: number;
  /** Of all places, what those of one key have at most (0 to 1, and one place at least), and of all waiters. */
  readonly keyShare: number;
  readonly keyWaitersShare: number;
}

/**
 * Lets `places` in at a time, in order, and at most `waitersMax` wait. It stands before the
 * driver's own queue, which has no bound and cannot be left.
 *
 * Calls of one key are those that may all wait for one lock. They never have more than their share, so that
 * whoever wants something else is let in past them.
 */
export class Places {
  readonly #options: PlacesOptions;
  readonly #lanes = new Map<string | undefined, Lane>();
  #free: number;
  #waiting = 0;
  #turns = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#free = options.places;
  }

  /**
   * Resolves when there is a place; `leave` gives up waiting. Whoever got in calls `exit` with the same key.
   *
   * @throws BusyError when too many wait.
   */
  enter(key?: string): { readonly entered: Promise<void>; readonly leave: () => void } {
    const lane = this.#laneOf(key);
    if (this.#free > 0 && lane.inside < lane.places) {
      this.#free -= 1;
      lane.inside += 1;
      return { entered: Promise.resolve(), leave: () => {} };
    }
    if (this.#waiting >= this.#options.waitersMax || lane.waiters.size >= lane.waitersMax) {
      throw new BusyError("too many calls wait");
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter: Waiter = { enter: resolve, turn: this.#turns++ };
    lane.waiters.add(waiter);
    this.#waiting += 1;
    const leave = (): void => {
      if (!lane.waiters.delete(waiter)) return;
      this.#waiting -= 1;
      this.#forgetEmpty(key, lane);
    };
    return { entered: promise, leave };
  }

  /** Gives a place back: to whoever waits longest and may have it. */
  exit(key?: string): void {
    this.#free += 1;
    const left = this.#laneOf(key);
    left.inside -= 1;
    const lane = this.#next();
    const [waiter] = lane?.waiters ?? [];
    if (lane !== undefined && waiter !== undefined) {
      lane.waiters.delete(waiter);
      this.#waiting -= 1;
      this.#free -= 1;
      lane.inside += 1;
      waiter.enter();
    }
    this.#forgetEmpty(key, left);
  }

  #next(): Lane | undefined {
    let next: Lane | undefined;
    let turn = Number.POSITIVE_INFINITY;
    for (const lane of this.#lanes.values()) {
      if (lane.inside >= lane.places) continue;
      const [first] = lane.waiters;
      if (first === undefined || first.turn >= turn) continue;
      next = lane;
      turn = first.turn;
    }
    return next;
  }

  #laneOf(key: string | undefined): Lane {
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const { places, waitersMax, keyShare, keyWaitersShare } = this.#options;
    const [share, waitersShare] = key === undefined ? [1, 1] : [keyShare, keyWaitersShare];
    const lane: Lane = {
      places: Math.max(1, Math.floor(places * share)),
      waitersMax: Math.floor(waitersMax * waitersShare),
      waiters: new Set(),
      inside: 0,
    };
    this.#lanes.set(key, lane);
    return lane;
  }

  #forgetEmpty(key: string | undefined, lane: Lane): void {
    if (lane.inside === 0 && lane.waiters.size === 0) this.#lanes.delete(key);
  }
}
