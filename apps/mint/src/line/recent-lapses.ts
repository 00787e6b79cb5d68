/** How many do not come, lately: what the line's speed can be told by, as long as people go on as they did. */
import {
  LAPSE_DRIFT,
  LAPSE_KEEP,
  LAPSE_SIGMAS,
  LAPSE_SLOTS_MAX,
  LAPSE_SLOTS_MIN,
} from "../limits.ts";

/** Slots whose counts are final. */
export interface Settled {
  readonly claimed: number;
  readonly lapsed: number;
}

/** A share of slots, 0 to 1: between these. */
export interface LapseRange {
  readonly least: number;
  readonly most: number;
}

/**
 * The last few hundred slots. In memory: whoever takes over begins with the share of the whole sale.
 *
 * The range that is told stays as long as it is true of what is seen, give or take half of its margin, and not much too
 * wide: an estimate that rests on it does not grow and shrink with every few people.
 */
export class RecentLapses {
  readonly #counts: Settled[];
  #range: LapseRange | undefined;

  constructor({ claimed, lapsed }: Settled) {
    const scale = Math.min(1, LAPSE_SLOTS_MAX / Math.max(1, claimed + lapsed));
    this.#counts = [{ claimed: Math.max(0, claimed) * scale, lapsed: lapsed * scale }];
    this.#look();
  }

  note(settled: readonly Settled[]): void {
    if (settled.length === 0) return;
    this.#counts.push(...settled);
    let total = this.#counts.reduce((sum, one) => sum + one.claimed + one.lapsed, 0);
    for (;;) {
      const [oldest] = this.#counts;
      if (oldest === undefined) break;
      total -= oldest.claimed + oldest.lapsed;
      if (total < LAPSE_SLOTS_MAX) break;
      this.#counts.shift();
    }
    this.#look();
  }

  /** `undefined`: too few slots were settled to say. */
  get range(): LapseRange | undefined {
    return this.#range;
  }

  #look(): void {
    const lapsed = this.#counts.reduce((sum, one) => sum + one.lapsed, 0);
    const total = this.#counts.reduce((sum, one) => sum + one.claimed, lapsed);
    if (total < LAPSE_SLOTS_MIN) return;
    const share = lapsed / total;
    // One of each more, so that nobody is sure of a share of nothing.
    const spread = (lapsed + 1) / (total + 2);
    const margin = LAPSE_DRIFT + LAPSE_SIGMAS * Math.sqrt((spread * (1 - spread)) / total);
    const within = (part: number): LapseRange => ({
      least: Math.max(0, share - part * margin),
      most: Math.min(1, share + part * margin),
    });
    const [near, now, told] = [within(0.5), within(1), this.#range];
    const isTrue = told !== undefined && told.least <= near.least && near.most <= told.most;
    const isWide = told !== undefined && told.most - told.least > now.most - now.least + LAPSE_KEEP;
    if (!isTrue || isWide) this.#range = now;
  }
}
