import { unavailable } from "../unavailable.ts";

/** One job after the other, in order: what must not race within one event runs here. */
export class SerialQueue {
  readonly #jobsMax: number;
  #tail: Promise<unknown> = Promise.resolve();
  #jobs = 0;

  constructor({ jobsMax }: { jobsMax: number }) {
    this.#jobsMax = jobsMax;
  }

  /**
   * Settles as `job` does.
   *
   * @throws AppError `unavailable` when too many jobs wait.
   */
  run<Value>(job: () => Promise<Value>): Promise<Value> {
    if (this.#jobs >= this.#jobsMax) {
      return Promise.reject(unavailable("too many writes of one event wait"));
    }
    this.#jobs += 1;
    const done = this.#tail.then(job).finally(() => {
      this.#jobs -= 1;
    });
    this.#tail = done.catch(() => {});
    return done;
  }

  /** Resolves when everything that is queued now is over. */
  async idle(): Promise<void> {
    await this.#tail;
  }
}
