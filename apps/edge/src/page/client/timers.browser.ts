/** Named timers: starting one replaces it. And named tasks: each runs once at a time. */
export type Task = "paint" | "poll" | "join" | "claim" | "enter";

/** `setTimeout` takes 31 bits of milliseconds; beyond, it fires at once. */
const DELAY_MS_MAX = 2_000_000_000;

export class Timers {
  readonly #timers = new Map<Task, number>();
  readonly #busy = new Set<Task>();

  later(task: Task, delayMs: number, work: () => unknown): void {
    clearTimeout(this.#timers.get(task));
    const run = () => {
      this.#timers.delete(task);
      void work();
    };
    this.#timers.set(task, setTimeout(run, Math.min(Math.max(0, delayMs), DELAY_MS_MAX)));
  }

  cancel(task: Task): void {
    clearTimeout(this.#timers.get(task));
    this.#timers.delete(task);
  }

  isSet(task: Task): boolean {
    return this.#timers.has(task);
  }

  isBusy(task: Task): boolean {
    return this.#busy.has(task);
  }

  /** Waking up several times asks once. */
  async once(task: Task, work: () => Promise<void>): Promise<void> {
    if (this.#busy.has(task)) return;
    this.#busy.add(task);
    try {
      await work();
    } finally {
      this.#busy.delete(task);
    }
  }
}
