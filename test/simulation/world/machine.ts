/** A process on a machine of its own: its clocks, its timers, and what can befall it. */
import type { Clock } from "@vestibule/kernel/clock";
import { type EpochMs, epochMs } from "@vestibule/kernel/units";
import type { Timers } from "@vestibule/mint/src/timers.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** A machine's time of day: off by some, drifting, and sometimes set. */
export class WallClock implements Clock {
  readonly #time: VirtualTime;
  readonly #partsPerMillion: number;
  readonly #since: number;
  #offsetMs: number;

  constructor(
    time: VirtualTime,
    { offsetMs = 0, partsPerMillion = 0 }: { offsetMs?: number; partsPerMillion?: number } = {},
  ) {
    this.#time = time;
    this.#since = time.now;
    this.#offsetMs = offsetMs;
    this.#partsPerMillion = partsPerMillion;
  }

  /** How far it is ahead of a clock that is right. */
  get offsetMs(): number {
    const passed = this.#time.now - this.#since;
    return this.#offsetMs + Math.trunc((passed * this.#partsPerMillion) / 1_000_000);
  }

  now(): EpochMs {
    return epochMs(this.#time.now + this.offsetMs);
  }

  /** Set forward, or back when negative. */
  stepBy(ms: number): void {
    this.#offsetMs += ms;
  }
}

/** Everything that a process hears comes through here, so that a dead one hears nothing and a stopped one later. */
export class Machine implements Timers {
  readonly name: string;
  readonly clock: WallClock;
  readonly #time: VirtualTime;
  readonly #bornAt: number;
  readonly #onKill = new Set<() => void>();
  #waiting: (() => void)[] = [];
  #state: "runs" | "stopped" | "dead" = "runs";

  constructor(name: string, time: VirtualTime, clock: WallClock = new WallClock(time)) {
    this.name = name;
    this.clock = clock;
    this.#time = time;
    this.#bornAt = time.now;
  }

  get isAlive(): boolean {
    return this.#state !== "dead";
  }

  get isStopped(): boolean {
    return this.#state === "stopped";
  }

  monotonicMs(): number {
    return this.#time.now - this.#bornAt;
  }

  after(ms: number, run: () => void): () => void {
    let cancelled = false;
    const cancel = this.#time.after(ms, () => {
      this.post(() => {
        if (!cancelled) run();
      });
    });
    return () => {
      cancelled = true;
      cancel();
    };
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(ms, resolve);
    });
  }

  /** Something reaches the process now; a stopped one hears of it when it goes on. */
  post(run: () => void): void {
    if (this.#state === "runs") run();
    else if (this.#state === "stopped") this.#waiting.push(run);
  }

  /** SIGKILL, or the power goes. */
  kill(): void {
    if (this.#state === "dead") return;
    this.#state = "dead";
    this.#waiting = [];
    for (const tell of this.#onKill) tell();
    this.#onKill.clear();
  }

  /** SIGSTOP: it does nothing more, and knows nothing of that. */
  stop(): void {
    if (this.#state === "runs") this.#state = "stopped";
  }

  /** SIGCONT: everything that came meanwhile, in its order, each at a moment of its own. */
  goOn(): void {
    if (this.#state !== "stopped") return;
    this.#state = "runs";
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const run of waiting) {
      this.#time.after(0, () => {
        this.post(run);
      });
    }
  }

  /** Calls `tell` when it dies, as a connection does that is reset. */
  onKill(tell: () => void): () => void {
    this.#onKill.add(tell);
    return () => void this.#onKill.delete(tell);
  }
}
