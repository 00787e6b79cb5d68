/**
 * The mint's clock against PostgreSQL's: warns, and does nothing else. Which of the two is wrong only a person can find
 * out (ADR 11).
 */
import type { ClockEstimate, ClockState } from "@vestibule/contracts/edges-api";
import { type ClockReading, estimateAt, readClock } from "@vestibule/feed/clock-offset";
import { judgeClock } from "@vestibule/feed/judge-clock";
import type { Clock } from "@vestibule/kernel/clock";
import type { Log } from "@vestibule/service/log";
import { CLOCK_LOOK_EVERY_MS } from "../limits.ts";
import type { Timers } from "../timers.ts";

export interface OwnClockOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly skewSeconds: number;
  /** PostgreSQL's clock, epoch milliseconds. Bounded; rejects while PostgreSQL is away. */
  readonly ask: () => Promise<number>;
}

export class OwnClock {
  readonly #options: OwnClockOptions;
  #reading: ClockReading | undefined;
  /** What the log said last. */
  #said: ClockState = "good";
  #cancel: () => void = () => {};
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: OwnClockOptions) {
    this.#options = options;
  }

  /** The mint's clock less PostgreSQL's; `undefined` while PostgreSQL does not answer. */
  get estimate(): ClockEstimate | undefined {
    return estimateAt(this.#reading, this.#options.clock.now());
  }

  get state(): ClockState {
    return judgeClock(this.estimate, this.#options.skewSeconds);
  }

  start(): void {
    this.#looking = this.look().finally(() => this.#schedule());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  /** Once. Never rejects. */
  async look(): Promise<void> {
    const { clock, timers, ask } = this.#options;
    const [sentAt, askedAt] = [clock.now(), timers.monotonicMs()];
    try {
      const at = await ask();
      const roundTripMs = timers.monotonicMs() - askedAt;
      this.#reading = readClock({ sentAt, receivedAt: clock.now(), at, roundTripMs });
    } catch {
      // Whoever needs PostgreSQL says that it is away.
      this.#reading = undefined;
    }
    this.#say();
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#cancel = this.#options.timers.after(CLOCK_LOOK_EVERY_MS, () => this.start());
  }

  #say(): void {
    const { state, estimate } = this;
    if (state === "unknown" || state === this.#said) return;
    this.#said = state;
    const { log, skewSeconds } = this.#options;
    const fields = { ...estimate, skewSeconds };
    if (state === "good") log.info("mint-clock-good", fields);
    else if (state === "warn") log.warn("mint-clock-off", fields);
    else {
      log.error(
        "mint-clock-wrong",
        new Error("this mint's clock and PostgreSQL's differ by more than the tolerance"),
        fields,
      );
    }
  }
}
