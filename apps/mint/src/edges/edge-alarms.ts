/** Says in the log when a location's clock is off and when it is right again. What anybody may cause is bounded. */
import type { Log } from "@vestibule/service/log";
import type { BucketPolicy, TokenBucket } from "@vestibule/valkey/token-bucket";
import type { AlarmChange } from "./edge-table.ts";

export interface EdgeAlarmsOptions {
  readonly log: Log;
  readonly bucket: TokenBucket;
  /** Lines about the rows of one sender, and about all. */
  readonly limits: { readonly sender: BucketPolicy; readonly total: BucketPolicy };
}

const LINES = {
  unknown: "edge-clock-good",
  good: "edge-clock-good",
  warn: "edge-clock-off",
  wrong: "edge-clock-wrong",
} as const;

export class EdgeAlarms {
  readonly #options: EdgeAlarmsOptions;
  /** Lines that were not written since the last one that was. */
  #unsaid = 0;

  constructor(options: EdgeAlarmsOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async say({ row, alarm }: AlarmChange): Promise<void> {
    const { location, sender, estimate, skewSeconds } = row;
    if (!(await this.#mayLog(sender))) return;
    const fields = { location, sender, ...estimate, skewSeconds, ...this.#takeUnsaid() };
    const { log } = this.#options;
    if (alarm === "warn" || alarm === "wrong") log.warn(LINES[alarm], fields);
    else log.info(LINES[alarm], fields);
  }

  /** A report of a new sender found no room. */
  async sayFull(turnedAway: number): Promise<void> {
    // As one sender's: they are told apart by nothing.
    if (!(await this.#mayLog("turned-away"))) return;
    this.#options.log.warn("edges-turned-away", { turnedAway, ...this.#takeUnsaid() });
  }

  async #mayLog(sender: string): Promise<boolean> {
    const { bucket, limits } = this.#options;
    const allowed = async (policy: BucketPolicy, identity: string): Promise<boolean> =>
      (await bucket.take(policy, identity).catch(() => undefined))?.allowed === true;
    if ((await allowed(limits.sender, sender)) && (await allowed(limits.total, "all"))) return true;
    this.#unsaid += 1;
    return false;
  }

  #takeUnsaid(): { unsaid?: number } {
    const unsaid = this.#unsaid;
    this.#unsaid = 0;
    return unsaid === 0 ? {} : { unsaid };
  }
}
