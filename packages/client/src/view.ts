/**
 * What the holding page shows, as a function of what is known. Used for the first view by the server
 * and from then on by the script in the page: pure, and small.
 */
import type { DripView } from "@vestibule/contracts/statements";
import { type EtaRange, aheadOf, etaRange, soonestTurnMs } from "@vestibule/drip/estimate";
import { lastCallInMs } from "@vestibule/drip/last-call";
import { slotOf } from "@vestibule/drip/line";
import { type SlotTimes, slotTimes } from "@vestibule/drip/slot";
import { type Told, isUnlikely, waitSince } from "./honesty.ts";

export type PageState =
  | "joining"
  | "scheduled"
  | "waiting"
  | "near"
  | "known"
  | "turn"
  /** There is a slot, and it counts only when the fan says that they are there: before its opening, and after. */
  | "confirm"
  /** The line has passed this number, and lists no slot of it: it is over or still owed, and a claim tells which. */
  | "passed"
  | "owed"
  | "missed"
  /** The fan has left the line, and is in it again only when they say so. */
  | "gone"
  | "bought"
  | "credit"
  | "paused"
  | "soldout"
  | "ended"
  | "unreachable"
  | "offline"
  | "clock"
  | "cookies";

/** Trouble between the page and the line; the place is not affected by any of it. */
export type Condition = "unreachable" | "offline" | "clock" | "cookies";

/** `proving`: this device works for its place. `limited`: too many on this network are joining at once. */
export type Effort = "proving" | "limited";

/** Of the manifest: what the page needs besides the drip. Moments in epoch milliseconds. */
export interface PageSettings {
  readonly event: string;
  readonly lifetimeSeconds: number;
  readonly claimWindowSeconds: number;
  readonly endsAt: number;
  readonly startsAt?: number | undefined;
  readonly joinableAt?: number | undefined;
}

export interface ViewInput {
  readonly settings: PageSettings;
  /** By the mint's clock, epoch milliseconds. */
  readonly now: number;
  readonly number?: number | undefined;
  readonly drip?: DripView | undefined;
  /** When it was heard, or that there is no newer one; absent: now. */
  readonly heardAt?: number | undefined;
  readonly condition?: Condition | undefined;
  /** When this place was given, as its ticket says. Epoch milliseconds. */
  readonly joinedAt?: number | undefined;
  /** The fewest people ahead that this place was shown, and the most of the way: it is never shown otherwise again. */
  readonly aheadMost?: number | undefined;
  readonly behind?: number | undefined;
  /** What it was told of its wait, and whether it was unlikely to get one, the last time. */
  readonly told?: Told | undefined;
  readonly unlikely?: boolean | undefined;
  /** The mint said that the slot is over. */
  readonly missed?: boolean | undefined;
  /** A slot of this place was listed, and its time ran out. One that is listed now says more. */
  readonly lapsed?: boolean | undefined;
  /** The mint said that this place is given the next slot. */
  readonly owed?: boolean | undefined;
  /** The fan has left the line. */
  readonly gone?: boolean | undefined;
  /** This place has bought: the path of its order. */
  readonly order?: string | undefined;
  /** A purchase failed by a fault of ours: when the slot is over, a claim makes it good. */
  readonly credit?: boolean | undefined;
  /** What a join takes besides asking: work, or the patience of a whole network. */
  readonly effort?: Effort | undefined;
  /** The admission is in hand, for this slot. */
  readonly claimed?: { readonly opensAt: number; readonly closesAt: number } | undefined;
  /** The fan has said that they are there: for the slot that opens at this moment, or the first that a look at the line tells. */
  readonly saidFor?: number | "first" | undefined;
}

export interface View {
  readonly state: PageState;
  readonly number?: number | undefined;
  readonly ahead?: number | undefined;
  readonly eta?: EtaRange | undefined;
  /** With why the wait is longer than this place was told before (`grew`). */
  readonly told?: Told | undefined;
  /** While it waits: more people come before it than are left. */
  readonly unlikely: boolean;
  /** As in the drip. */
  readonly left?: DripView["left"];
  /** The organizer's words for what it costs. */
  readonly priceRange: string;
  /** The least time to a turn that is not committed; absent without a place, 0 without a statement. */
  readonly soonestMs?: number | undefined;
  /** Until the last call, 0 while it lasts; absent: there is none. */
  readonly lastCallInMs?: number | undefined;
  readonly slot?: SlotTimes | undefined;
  /** What a countdown runs to: the opening of the line, of the sale, or of the slot. */
  readonly target?: number | undefined;
  /** How much of the wait is behind, by its estimate: 0 to 1. */
  readonly behind: number;
  readonly notice: string;
  /** The organizer's words for the pause. */
  readonly reason: string;
  readonly order?: string | undefined;
  /** A turn counts only when its fan says that they are there. */
  readonly asks: boolean;
  /** They have, and the claim is on its way. */
  readonly said: boolean;
  /** What is in the way of it. */
  readonly condition?: Condition | undefined;
  /** Of a join that takes longer. */
  readonly effort?: Effort | undefined;
  /** Nobody can join: sold out, or over. */
  readonly isShut: boolean;
  /** The turn is over, whatever else there is to say. */
  readonly isLost: boolean;
  readonly settings: PageSettings;
  readonly now: number;
}

const NEAR_MS = 60_000;
const NEAR_PEOPLE = 3;

export function viewOf(input: ViewInput): View {
  const { settings, now, drip, aheadMost = Infinity, heardAt = now } = input;
  const slot = slotOfNumber(input);
  const found = stateOf(input, slot);
  // Joining again is no way out while nobody can join: then it is as for somebody without a place.
  const isShut = drip?.state === "soldout" || drip?.state === "ended" || now >= endOf(input);
  const isLost = found === "missed";
  const noWayBack = isLost && drip?.state === "soldout";
  const state = noWayBack ? "soldout" : found;
  const number = noWayBack ? undefined : input.number;
  const { notice = "", priceRange = "", left } = drip ?? {};
  const reason = state === "paused" ? (drip?.heldReason ?? "") : "";
  const { order, condition, effort } = input;
  const asks = drip?.presence === "confirm";
  const { saidFor } = input;
  const said = saidFor === "first" || (slot !== undefined && saidFor === slot.opensAt);
  const lastCall = drip && lastCallInMs(drip, now);
  const told = { notice, priceRange, left, reason, unlikely: false };
  const about = { settings, now, ...told, order, isShut, isLost, lastCallInMs: lastCall };
  const base = { ...about, asks, said, condition, effort, state, number, slot };
  if (number === undefined || drip === undefined) {
    const soonestMs = number === undefined ? undefined : 0;
    return { ...base, soonestMs, behind: 0, target: targetOf(state, input, slot) };
  }
  const wait = waitSince(number, drip, { now, heardAt: Math.min(now, heardAt), told: input.told });
  const waited = Math.max(0, now - Math.max(input.joinedAt ?? now, settings.startsAt ?? 0));
  const share = wait.eta === undefined ? 0 : waited / (waited + wait.eta.untilMs || 1);
  const hasOpened = slot !== undefined && now >= slot.opensAt;
  const ahead = hasOpened ? 0 : Math.min(aheadOf(number, drip, now), aheadMost);
  const waits = state === "waiting" || state === "near";
  return {
    ...base,
    ...wait,
    behind: hasOpened ? 1 : Math.max(input.behind ?? 0, share),
    ahead,
    unlikely: waits && isUnlikely(ahead, drip, input.unlikely === true),
    soonestMs: soonestTurnMs(number, drip, now),
    target: targetOf(state, input, slot),
  };
}

function slotOfNumber(input: ViewInput): SlotTimes | undefined {
  const { number, drip, settings, claimed, now } = input;
  if (number === undefined) return undefined;
  const opens = drip && slotOf(drip.segments, number, drip);
  const listed = opens === undefined ? undefined : slotTimes(opens, settings);
  // One that is over says nothing about the slot that made it good.
  if (listed !== undefined && now < listed.closesAt) return listed;
  if (claimed === undefined || drip?.heldSince !== undefined) return listed;
  // Segments are listed until their claims are over; what is claimed already lasts longer.
  return slotTimes(claimed.opensAt as SlotTimes["opensAt"], settings);
}

function stateOf(input: ViewInput, slot: SlotTimes | undefined): PageState {
  const { settings, now, number, drip, condition, missed, lapsed, owed, claimed, credit } = input;
  if (condition === "cookies") return "cookies";
  // Whatever has become of the turn, and of the sale: there is nothing more to do with this place.
  if (input.order !== undefined) return "bought";
  if (now >= endOf(input) || drip?.state === "ended") return "ended";
  if (number === undefined && input.gone === true) return "gone";
  // Whoever has a credit had claimed.
  const isClaimed = claimed !== undefined || credit === true;
  const isOver =
    slot === undefined ? lapsed === true : now >= (isClaimed ? slot.closesAt : slot.claimBy);
  const isMissed = (missed === true || isOver) && credit !== true && owed !== true;
  const hasTurn = slot !== undefined && !isOver && !isMissed;
  // Their word counts at the mint, wherever it is said.
  if (hasTurn && drip?.presence === "confirm" && !isClaimed) return "confirm";
  // Whoever's turn it is could not go in here.
  if (condition === "clock") return "clock";
  if (number === undefined) {
    if (now < opensForJoins(settings)) return "scheduled";
    if (drip?.state === "soldout") return "soldout";
    return condition ?? "joining";
  }
  if (isMissed) return "missed";
  if (hasTurn) return now < slot.opensAt ? "known" : "turn";
  if (condition !== undefined) return condition;
  if (drip === undefined) return "waiting";
  if (drip.state === "soldout") return "soldout";
  if (drip.heldSince !== undefined || drip.state === "paused") return "paused";
  if (now >= drip.exp * 1000) return "unreachable";
  if (credit === true && (isOver || number <= drip.committed)) return "credit";
  if (number <= drip.committed) return owed === true ? "owed" : "passed";
  if (now < (drip.startsAt ?? settings.startsAt ?? 0)) return "scheduled";
  const eta = etaRange(number, drip, now);
  // Near is what a fan takes for near: within a minute at the latest, or the next few.
  const isNear = (eta?.untilMs ?? Infinity) < NEAR_MS || aheadOf(number, drip, now) <= NEAR_PEOPLE;
  return isNear && (eta?.fromMs ?? Infinity) < NEAR_MS ? "near" : "waiting";
}

function endOf({ drip, settings }: ViewInput): number {
  return drip?.endsAt ?? settings.endsAt;
}

/** From when numbers are given, epoch milliseconds; 0: always. */
export function opensForJoins({ joinableAt, startsAt }: PageSettings): number {
  return joinableAt ?? startsAt ?? 0;
}

function targetOf(
  state: PageState,
  { settings, number, drip }: ViewInput,
  slot: SlotTimes | undefined,
): number | undefined {
  if (state === "known") return slot?.opensAt;
  if (state === "confirm") return slot?.claimBy;
  if (state === "turn") return slot?.closesAt;
  if (state !== "scheduled") return undefined;
  return number === undefined ? opensForJoins(settings) : (drip?.startsAt ?? settings.startsAt);
}
