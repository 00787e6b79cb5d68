/** Named timers: starting one replaces it. And named tasks: each runs once at a time. */
import type { Device } from "./device.ts";

export type Task = "paint" | "poll" | "join" | "claim" | "enter" | "leave";

/** Timers of browsers take 31 bits of milliseconds; beyond, they fire at once. */
const DELAY_MS_MAX = 2_000_000_000;

export class Tasks {
  readonly #device: Device;
  readonly #timers = new Map<Task, number>();
  readonly #busy = new Set<Task>();

  constructor(device: Device) {
    this.#device = device;
  }

  later(task: Task, delayMs: number, work: () => unknown): void {
    this.forget(task);
    const run = (): void => {
      this.#timers.delete(task);
      void work();
    };
    const delay = Math.min(Math.max(0, delayMs), DELAY_MS_MAX);
    this.#timers.set(task, this.#device.startTimer(run, delay));
  }

  forget(task: Task): void {
    const timer = this.#timers.get(task);
    if (timer !== undefined) this.#device.stopTimer(timer);
    this.#timers.delete(task);
  }

  isSet(task: Task): boolean {
    return this.#timers.has(task);
  }

  isBusy(task: Task): boolean {
    return this.#busy.has(task);
  }

  /** Waking up several times asks once. */
  async runOnce(task: Task, work: () => Promise<void>): Promise<void> {
    if (this.#busy.has(task)) return;
    this.#busy.add(task);
    try {
      await work();
    } finally {
      this.#busy.delete(task);
    }
  }
}
