/** The mint's clock, as far as its answers and their round trips tell: all times that are shown are by it. */
import type { Clock } from "@vestibule/kernel/clock";
import { addMs, type EpochMs } from "@vestibule/kernel/units";

/** A reading counts as better than an older one until it is older by so much: clocks drift. */
const KEEP_MS = 60_000;

export class MintTime {
  readonly #clock: Clock;
  #offsetMs = 0;
  #errorMs = Number.POSITIVE_INFINITY;
  #at = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param serverTime in an answer that came just now. */
  observe(serverTime: number, roundTripMs: number): void {
    const now = this.#clock.now();
    const errorMs = roundTripMs / 2;
    const isStale = Math.abs(now - this.#at) > KEEP_MS;
    if (errorMs > this.#errorMs && !isStale) return;
    // Signed somewhere between question and answer.
    this.#offsetMs = Math.round(serverTime + errorMs - now);
    this.#errorMs = errorMs;
    this.#at = now;
  }

  now(): EpochMs {
    return addMs(this.#clock.now(), this.#offsetMs);
  }

  /** The mint's clock is surely within `now()` ± this. */
  get errorMs(): number {
    return this.#errorMs;
  }
}
