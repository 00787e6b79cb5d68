/** Time that only events move: everything that happens in a simulated world is in this one queue. */

interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
  cancelled: boolean;
}

/** 2026-01-01T00:00:00Z, where every simulated sale begins. */
export const START_MS = 1_767_225_600_000;

export class VirtualTime {
  /** Epoch milliseconds of a clock that is right. */
  now: number = START_MS;
  /** Events run so far. */
  steps = 0;
  /** A binary heap: the earliest first, and of one moment those that were planned first. */
  readonly #heap: Event[] = [];
  #order = 0;

  /** Runs `run` at `at`, or now if that is over; the returned function calls it off. */
  at(at: number, run: () => void): () => void {
    this.#order += 1;
    const event: Event = {
      at: Math.max(this.now, Math.ceil(at)),
      order: this.#order,
      run,
      cancelled: false,
    };
    this.#push(event);
    return () => {
      event.cancelled = true;
    };
  }

  after(ms: number, run: () => void): () => void {
    return this.at(this.now + Math.max(0, ms), run);
  }

  /**
   * Runs the next event and everything that follows from it at once: promises settle until none is left.
   * False: nothing is planned before `until`.
   */
  async step(until = Infinity): Promise<boolean> {
    let event = this.#heap[0];
    while (event?.cancelled === true) {
      this.#pop();
      event = this.#heap[0];
    }
    if (event === undefined || event.at > until) return false;
    this.#pop();
    this.now = event.at;
    this.steps += 1;
    event.run();
    await settled();
    return true;
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let index = heap.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!isBefore(event, heap[parent] as Event)) break;
      heap[index] = heap[parent] as Event;
      index = parent;
    }
    heap[index] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) {
        child += 1;
      }
      if (!isBefore(heap[child] as Event, last)) break;
      heap[index] = heap[child] as Event;
      index = child;
    }
    heap[index] = last;
  }
}

function isBefore(one: Event, other: Event): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

/** Nothing simulated waits for anything real, so that one turn of the event loop settles every promise that can be. */
export function settled(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
