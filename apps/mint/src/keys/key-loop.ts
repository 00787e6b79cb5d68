/** Looks at the keys every few seconds: a leader does what is due, every other mint reads what was done. */
import type { Clock } from "@vestibule/kernel/clock";
import type { Log } from "@vestibule/service/log";
import type { LineTerm } from "../lead/line-term.ts";
import { KEYS_LOOK_EVERY_MS } from "../limits.ts";
import { LeaseLostError } from "../store/store.ts";
import type { Timers } from "../timers.ts";
import type { KeyKeeper } from "./key-keeper.ts";
import { keyFacts } from "./key-policy.ts";

export interface KeyLoopOptions {
  readonly keeper: KeyKeeper;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly log: Log;
  /** The present term, while no other mint can lead. */
  readonly term: () => Pick<LineTerm, "lead" | "events"> | undefined;
}

export class KeyLoop {
  readonly #options: KeyLoopOptions;
  #cancel: () => void = () => {};
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;
  #trouble: string | undefined;

  constructor(options: KeyLoopOptions) {
    this.#options = options;
  }

  start(): void {
    if (this.#stopped) return;
    this.#cancel = this.#options.timers.after(KEYS_LOOK_EVERY_MS, () => {
      this.#looking = this.look().finally(() => this.start());
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#looking;
  }

  /** Once. Never rejects. */
  async look(): Promise<void> {
    const { keeper, clock, log, term } = this.#options;
    const present = term();
    try {
      if (present === undefined) await keeper.read();
      else {
        const records = present.events.map(({ line }) => line.record);
        const seq = keeper.published?.seq;
        await keeper.tick({ lead: present.lead, facts: keyFacts(records, clock.now()) });
        if (keeper.published?.seq !== seq) log.info("keys-changed", { seq: keeper.published?.seq });
      }
      this.#trouble = undefined;
    } catch (error) {
      // Whoever renews the lease hears of that by themselves.
      if (error instanceof LeaseLostError) return;
      const trouble = error instanceof Error ? error.message : String(error);
      if (trouble !== this.#trouble) log.error("keys-trouble", error);
      this.#trouble = trouble;
    }
  }
}
