/**
 * The numbers of one event under one leader: reserved durably in blocks, then given from memory. A
 * number is given at most once because it lies in a block that nobody else can have, and because
 * `take` counts up and nothing else.
 */
import { assert } from "@vestibule/kernel/assert";
import type { Clock } from "@vestibule/kernel/clock";
import { BLOCK_LASTS_MS, BLOCK_NUMBERS_MAX, BLOCK_NUMBERS_MIN, JOIN_QUEUE_MAX } from "../limits.ts";
import { unavailable } from "../unavailable.ts";

const STOPPED = "this leader gives no more numbers";

export interface SequencerOptions {
  /** The first number of this leader's block. */
  readonly first: number;
  /** Resolves once `first … through` are on disk for this leader. May be asked twice for the same. */
  readonly reserve: (through: number) => Promise<void>;
  readonly clock: Clock;
  readonly queueMax?: number;
}

export class Sequencer {
  readonly first: number;
  readonly #reserve: (through: number) => Promise<void>;
  readonly #clock: Clock;
  readonly #queueMax: number;
  readonly #waiters: PromiseWithResolvers<void>[] = [];
  #next: number;
  /** Reserved up to here. */
  #through: number;
  #size = BLOCK_NUMBERS_MIN;
  /** Asked for in one piece. */
  #run = 0;
  #reservedAt = 0;
  #reserving: Promise<void> | undefined;
  #stopped = false;

  constructor({ first, reserve, clock, queueMax = JOIN_QUEUE_MAX }: SequencerOptions) {
    this.first = first;
    this.#reserve = reserve;
    this.#clock = clock;
    this.#queueMax = queueMax;
    this.#next = first;
    this.#through = first - 1;
  }

  /** The highest number given so far; `first - 1` before the first one. */
  get issuedThrough(): number {
    return this.#next - 1;
  }

  get waiting(): number {
    return this.#waiters.length;
  }

  /** The next number, or `undefined` when none is reserved: then await `refilled` and try again. */
  take(): number | undefined {
    if (this.#stopped || this.#next > this.#through) return undefined;
    const number = this.#next;
    this.#next += 1;
    this.#keepAhead();
    return number;
  }

  /**
   * The first of `count` numbers in a row, which are given from now on.
   *
   * @throws AppError `unavailable` as `refilled`.
   */
  async takeRun(count: number): Promise<number> {
    assert(count >= 1 && count <= BLOCK_NUMBERS_MAX, "a run fits a block");
    while (this.#stopped || this.#through - this.#next + 1 < count) {
      this.#run = count;
      await this.refilled();
    }
    this.#run = 0;
    const first = this.#next;
    this.#next += count;
    this.#keepAhead();
    return first;
  }

  /**
   * Resolves, in order of arrival, when there may be a number again.
   *
   * @throws AppError `unavailable` when too many wait, the reservation failed, or this leader stops.
   */
  refilled(): Promise<void> {
    if (this.#stopped || this.#waiters.length >= this.#queueMax) {
      return Promise.reject(unavailable(this.#stopped ? STOPPED : "too many joins wait"));
    }
    const waiter = Promise.withResolvers<void>();
    this.#waiters.push(waiter);
    this.reserveAhead();
    return waiter.promise;
  }

  /** Starts a reservation unless one is on its way. Its failure reaches whoever waits. */
  reserveAhead(): void {
    if (this.#reserving !== undefined || this.#stopped) return;
    this.#adapt();
    const through = Math.max(this.#through, this.#next - 1) + Math.max(this.#size, this.#run);
    this.#reserving = this.#reserve(through).then(
      () => {
        this.#reserving = undefined;
        this.#through = Math.max(this.#through, through);
        this.#wake();
      },
      (error: unknown) => {
        this.#reserving = undefined;
        for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
      },
    );
  }

  /** Gives nothing more, for good. */
  stop(): void {
    this.#stopped = true;
    const error = unavailable(STOPPED);
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
  }

  /** Resolves when no reservation is on its way: one that arrives after the numbers were given back would leave a gap. */
  async idle(): Promise<void> {
    await this.#reserving;
  }

  #keepAhead(): void {
    if (this.#through - this.#next < this.#size / 2) this.reserveAhead();
  }

  /** A block lasts one to four seconds at the present rate of joins, within its bounds. */
  #adapt(): void {
    const now = this.#clock.now();
    const lasted = now - this.#reservedAt;
    this.#reservedAt = now;
    if (this.#waiters.length > this.#size || lasted < BLOCK_LASTS_MS) {
      this.#size = Math.min(this.#size * 2, BLOCK_NUMBERS_MAX);
    } else if (lasted > BLOCK_LASTS_MS * 4) {
      this.#size = Math.max(this.#size / 2, BLOCK_NUMBERS_MIN);
    }
  }

  #wake(): void {
    const count = Math.min(this.#waiters.length, this.#through - this.#next + 1);
    for (const waiter of this.#waiters.splice(0, count)) waiter.resolve();
    if (this.#waiters.length > 0) this.reserveAhead();
  }
}
