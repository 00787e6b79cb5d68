import type { Clock } from "@vestibule/kernel/clock";
import { addMs, type EpochMs, epochMs } from "@vestibule/kernel/units";

/** 2026-01-01T00:00:00Z: a start that is easy to read in failures. */
const START_MS = 1_767_225_600_000;

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now: EpochMs;

  constructor(startMs: number = START_MS) {
    this.#now = epochMs(startMs);
  }

  now(): EpochMs {
    return this.#now;
  }

  /** Moves on by `ms` (backwards when negative, as a clock that is set right does) and says what time it is. */
  advance(ms: number): EpochMs {
    this.#now = addMs(this.#now, ms);
    return this.#now;
  }

  set(at: number): void {
    this.#now = epochMs(at);
  }

  /**
   * Another machine's clock: this one, `offsetMs` ahead (negative: behind), and gaining
   * `partsPerMillion` microseconds a second from now on.
   */
  twin(options: { offsetMs?: number; partsPerMillion?: number }): Clock {
    const { offsetMs = 0, partsPerMillion = 0 } = options;
    const since = this.#now;
    return {
      now: () => {
        const gained = Math.trunc(((this.#now - since) * partsPerMillion) / 1_000_000);
        return addMs(this.#now, offsetMs + gained);
      },
    };
  }
}
