/** Who of a list has what so far. Times of the line are epoch milliseconds, by the mint's clock. */
import type { DripClaims } from "@vestibule/contracts/statements";
import { slotOf } from "@vestibule/drip/line";
import { partOf } from "../token-part.ts";
import type { PlaceBatch, Places } from "./places.ts";

export type Outcome =
  | {
      readonly state: "admitted";
      readonly opensAt: number;
      readonly closesAt: number;
      readonly admission: string;
    }
  /** Its slot was not claimed in time; the event ended before its slot. */
  | { readonly state: "missed" | "ended" };

/** People of one batch who may have a slot; `whose`: indexes into the batch. */
export interface Due {
  readonly batch: PlaceBatch;
  readonly whose: readonly number[];
}

export interface Counts {
  readonly waiting: number;
  readonly admitted: number;
  readonly missed: number;
  readonly ended: number;
}

const STATES = ["waiting", "admitted", "missed", "ended"] as const;
const [WAITING, ADMITTED] = [0, 1];

export class Ledger {
  readonly #batches: readonly PlaceBatch[];
  /** By the index in the file, as all of these: the state's index. */
  readonly #states: Uint8Array;
  readonly #opensAt: Float64Array;
  /** Of the admission, epoch seconds. */
  readonly #signedAt: Float64Array;
  /** By this machine's clock. */
  readonly #againAt: Float64Array;
  readonly #counts: number[];

  constructor({ ids, batches }: Places) {
    this.#batches = batches;
    this.#states = new Uint8Array(ids.length);
    this.#opensAt = new Float64Array(ids.length);
    this.#signedAt = new Float64Array(ids.length);
    this.#againAt = new Float64Array(ids.length);
    this.#counts = [ids.length, 0, 0, 0];
  }

  get counts(): Counts {
    const [waiting = 0, admitted = 0, missed = 0, ended = 0] = this.#counts;
    return { waiting, admitted, missed, ended };
  }

  /** The last of its person counts. */
  note(index: number, outcome: Outcome): void {
    this.#move(index, STATES.indexOf(outcome.state));
    if (outcome.state !== "admitted") return;
    this.#opensAt[index] = outcome.opensAt;
    this.#signedAt[index] = Number(partOf(outcome.admission, 1)["iat"] ?? 0);
  }

  /** The claim came to nothing yet. */
  postpone(index: number, againAt: number): void {
    this.#againAt[index] = againAt;
  }

  /**
   * Whoever's slot a hold has cut waits again: it opened after the hold began, and was claimed before the hold ended.
   * By milliseconds, as the mint cuts: `cutOf` of packages/token judges tokens, which have seconds.
   *
   * @returns how many.
   */
  cut({ cuts }: DripClaims): number {
    if (cuts.length === 0) return 0;
    let count = 0;
    for (const [index, state] of this.#states.entries()) {
      if (state !== ADMITTED) continue;
      const [opensAt = 0, signedAt = 0] = [this.#opensAt[index], this.#signedAt[index]];
      const isCut = cuts.some(
        ({ since, until }) => opensAt > since && signedAt < Math.floor(until / 1_000),
      );
      if (!isCut) continue;
      this.#move(index, WAITING);
      this.#againAt[index] = 0;
      count += 1;
    }
    return count;
  }

  /**
   * Everybody whose slot the drip knows; and now and then those that it has passed, of whom the mint knows more:
   * their window is over, or they wait for a slot on demand.
   */
  due(drip: DripClaims, now: number): readonly Due[] {
    return this.#batches.flatMap((batch) => {
      if (batch.first > drip.committed) return [];
      const whose: number[] = [];
      for (let at = 0; at < batch.subs.length; at += 1) {
        const [index, number] = [batch.from + at, batch.first + at];
        if (this.#states[index] !== WAITING || number > drip.committed) continue;
        // While held the mint has no other answer for them.
        const isAgain = drip.heldSince === undefined && now >= (this.#againAt[index] ?? 0);
        if (isAgain || slotOf(drip.segments, number, drip) !== undefined) whose.push(at);
      }
      return whose.length === 0 ? [] : [{ batch, whose }];
    });
  }

  /** Of those that wait. */
  waiting(): readonly { readonly index: number; readonly number: number }[] {
    return this.#batches.flatMap(({ from, first, subs }) =>
      [...subs.keys()]
        .map((at) => ({ index: from + at, number: first + at }))
        .filter(({ index }) => this.#states[index] === WAITING),
    );
  }

  /** People whose slots are committed, as far as numbers tell; and the highest number that waits. */
  reach({ committed }: DripClaims): { readonly slots: number; readonly last: number | undefined } {
    let slots = 0;
    let last: number | undefined;
    for (const { first, from, subs } of this.#batches) {
      slots += Math.min(subs.length, Math.max(0, committed - first + 1));
      if (last !== undefined && last > first + subs.length - 1) continue;
      for (let at = subs.length - 1; at >= 0; at -= 1) {
        if (this.#states[from + at] !== WAITING) continue;
        last = Math.max(last ?? 0, first + at);
        break;
      }
    }
    return { slots, last };
  }

  /** Nobody waits, and every slot has opened: no hold can cut one any more. */
  isOver({ at, heldSince = Infinity }: DripClaims): boolean {
    if (this.counts.waiting > 0) return false;
    const open = Math.min(at, heldSince);
    return this.#states.every(
      (state, index) => state !== ADMITTED || (this.#opensAt[index] ?? 0) <= open,
    );
  }

  #move(index: number, state: number): void {
    const before = this.#states[index] ?? WAITING;
    this.#states[index] = state;
    this.#counts[before] = (this.#counts[before] ?? 0) - 1;
    this.#counts[state] = (this.#counts[state] ?? 0) + 1;
  }
}
