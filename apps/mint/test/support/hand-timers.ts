import type { FakeClock } from "@vestibule/testkit/fake-clock";
import type { Timers } from "../../src/timers.ts";

interface Pending {
  readonly at: number;
  readonly run: () => void;
}

/** Timers that a test lets go off, on the test's clock. */
export class HandTimers implements Timers {
  readonly #clock: FakeClock;
  readonly #pending = new Set<Pending>();

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#clock.now() + ms, run };
    this.#pending.add(timer);
    return () => void this.#pending.delete(timer);
  }

  monotonicMs(): number {
    return this.#clock.now();
  }

  /** Milliseconds until the next one goes off that is not overdue; `undefined` when none is set. */
  nextIn(): number | undefined {
    const times = [...this.#pending]
      .map(({ at }) => at - this.#clock.now())
      .filter((ms) => ms >= 0);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Lets go off what is due. */
  fire(): void {
    for (const timer of [...this.#pending]) {
      if (timer.at > this.#clock.now()) continue;
      this.#pending.delete(timer);
      timer.run();
    }
  }
}
