/** Fans who come at a steady pace, after a first rush, until somebody says that no more come. */
import { setTimeout as sleep } from "node:timers/promises";

import { SeededRandomness } from "@vestibule/testkit/seeded-randomness";

import { Fan, type FanOptions } from "./fan.ts";

export interface CrowdOptions extends Omit<FanOptions, "name" | "random" | "patience"> {
  readonly seed: number;
  /** How many come at once when it begins. */
  readonly rush: number;
  readonly perSecond: number;
}

export class Crowd {
  readonly #options: CrowdOptions;
  readonly #fans = new Set<Promise<void>>();
  #coming: Promise<void> | undefined;
  #isOver = false;
  #patientUntil = Infinity;
  /** How many came. */
  count = 0;

  constructor(options: CrowdOptions) {
    this.#options = options;
  }

  start(): void {
    for (let index = 0; index < this.#options.rush; index += 1) this.#comes();
    this.#coming ??= this.#come();
  }

  /** How many are not through yet. */
  get present(): number {
    return this.#fans.size;
  }

  /** Nobody comes any more, and whoever is there has this long; resolves when all are through. */
  async end(patienceMs: number): Promise<void> {
    this.#isOver = true;
    await this.#coming;
    this.#patientUntil = Date.now() + patienceMs;
    await Promise.all(this.#fans);
  }

  async #come(): Promise<void> {
    while (!this.#isOver) {
      await sleep(1_000 / this.#options.perSecond);
      this.#comes();
    }
  }

  #comes(): void {
    this.count += 1;
    const fan = new Fan({
      ...this.#options,
      name: `fan ${this.count}`,
      random: new SeededRandomness(this.#options.seed + this.count),
      patience: () => this.#patientUntil,
    });
    const through = fan
      .run()
      .catch((error: unknown) => {
        this.#options.trace.troubles.push(`${this.count} fans in: ${String(error)}`);
      })
      .finally(() => this.#fans.delete(through));
    this.#fans.add(through);
  }
}
