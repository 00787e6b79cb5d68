/** What is known of one visitor's place in one line, and how each answer changes it. No clock, no request. */
import type { DripView } from "@vestibule/contracts/statements";
import { type View, type ViewInput, viewOf } from "./view.ts";

/** What whoever waits starts from. The drip is asked for. */
export interface PlaceData extends Omit<
  ViewInput,
  | "now"
  | "drip"
  | "heardAt"
  | "aheadMost"
  | "behind"
  | "told"
  | "unlikely"
  | "saidFor"
  | "effort"
  | "lapsed"
> {
  /** By the clock of the location that said all this, when it did; absent: nobody knows, and the first statement tells. */
  readonly now?: number | undefined;
  /** Sold out when it was said: whether that changes is seen in the drip. */
  readonly shut?: boolean | undefined;
  /** An admission was shown, and only a fault of ours is in its way. */
  readonly returns?: boolean | undefined;
}

type Known = { -readonly [Name in keyof Omit<ViewInput, "now">]: ViewInput[Name] };

/** States of a turn that is set, and those in which a place that the line has passed may be. */
const HAS_TURN: ReadonlySet<View["state"]> = new Set(["known", "turn", "confirm"]);
const PASSED: ReadonlySet<View["state"]> = new Set(["passed", "owed", "missed"]);

export class Place {
  readonly known: Known;
  readonly #wasShut: boolean;
  /** The opening of the turn with which another tab has gone in: here only a press leads there. */
  inside: number | undefined;
  /** The credit stands for the slot that is on its way. */
  isCreditUsed = false;

  constructor(data: PlaceData) {
    this.known = { ...data };
    this.#wasShut = data.shut === true;
  }

  /**
   * @param now by the mint's clock, epoch milliseconds
   * @param isSure false: it may be hours off, and nothing that follows from it is kept
   */
  view(now: number, isSure = true): View {
    const { known } = this;
    const view = viewOf({ ...known, now });
    if (!isSure) return view;
    const hasSlot = HAS_TURN.has(view.state);
    if (hasSlot && this.isCreditUsed) known.credit = this.isCreditUsed = false;
    if (hasSlot) known.owed = false;
    // It ran out before our eyes: that holds when it is listed no more.
    known.lapsed = !hasSlot && (known.lapsed === true || view.isLost);
    const hasOpened = view.slot !== undefined && now >= view.slot.opensAt;
    if (!hasOpened && !view.isLost) known.aheadMost = view.ahead ?? known.aheadMost;
    known.behind = view.behind;
    known.told = view.told ?? known.told;
    known.unlikely = view.unlikely;
    return view;
  }

  /** An answer that a newer one has overtaken takes nothing back (law 2). */
  heard(said: DripView, now: number): void {
    const { known } = this;
    this.view(now); // sees a turn that has run out: the next statement may list it no more
    if (said.seq >= (known.drip ?? said).seq) known.drip = said;
    known.heardAt = now;
    const { slot } = this.view(now);
    if (known.saidFor === "first") known.saidFor = slot?.opensAt;
    // A hold, or a new slot after it, voids the admission in hand: claim again.
    const opensAt = known.claimed?.opensAt ?? 0;
    const held = opensAt > (known.drip?.heldSince ?? Infinity);
    if (held || (slot !== undefined && slot.opensAt !== opensAt)) known.claimed = undefined;
  }

  /** True when the number is a new one. */
  joined(number: number, joinedAt: number): boolean {
    const { known } = this;
    const isNew = number !== known.number;
    known.missed = known.lapsed = known.owed = known.gone = false;
    if (isNew) this.#forget();
    known.number = number;
    known.joinedAt ??= joinedAt;
    return isNew;
  }

  /** Of the fan's own will. */
  leave(): void {
    this.#forget();
    Object.assign(this.known, { number: undefined, gone: true, credit: false });
  }

  /** What was of another number. */
  #forget(): void {
    const { known } = this;
    known.claimed = known.order = known.aheadMost = known.told = known.joinedAt = undefined;
    known.behind = 0;
    known.saidFor = known.unlikely = this.inside = undefined;
    known.missed = known.lapsed = known.owed = false;
  }

  /** The fan is there: for the slot that is set, or the first that a look at the line tells. Its opening, when it is known. */
  confirm(now: number): number | undefined {
    const opensAt = this.view(now).slot?.opensAt;
    this.known.saidFor = opensAt ?? "first";
    return opensAt;
  }

  /** The mint: the slot is over, and `order` is what was bought in it. */
  over(order: string | undefined): void {
    Object.assign(this.known, { missed: true, owed: false, order, credit: false });
  }

  /** The mint: the next slot is for this place. True when that is news. */
  owe(): boolean {
    const isNews = this.known.owed !== true;
    Object.assign(this.known, { owed: true, lapsed: false });
    return isNews;
  }

  /** The line has passed this number without a slot: the mint owes it one, or says that it is over. */
  isPassed({ state, slot }: View): boolean {
    return PASSED.has(state) && slot === undefined;
  }

  /** Nobody joins: whether that changes is seen in the drip. */
  get isShut(): boolean {
    const { drip } = this.known;
    return drip === undefined ? this.#wasShut : drip.state === "ended" || drip.state === "soldout";
  }
}
