/** A view in words: the same for the first view by the server and for the script in the page. */
import type { PageState, View } from "@vestibule/client/view";
import { claimWindowMs } from "@vestibule/drip/slot";
import type { Formats } from "./formats.ts";
import type { OwnTexts } from "./own-texts.ts";
import { type Texts, say } from "./texts.ts";

export interface Fact {
  readonly value: string;
  readonly label: string;
}

export interface Words {
  readonly title: string;
  readonly headline: string;
  readonly number: string;
  readonly facts: readonly Fact[];
  readonly lead: string;
  /** What it costs, and about how much is left, a line each. */
  readonly offer: string;
  /** The organizer's own words, a line each. */
  readonly notice: string;
  /** Whether to say that the place stays theirs. */
  readonly kept: boolean;
  /** Whether there is a place to give up, and a turn to be told of. */
  readonly leaves: boolean;
  /** What a press of the button does; without JavaScript there is always one. With it, it does `take` by itself. */
  readonly action: "join" | "join-again" | "confirm" | "enter" | "take" | "again" | "none";
  /** Where a link to the order leads, if there is one. */
  readonly order?: string | undefined;
}

/** The language of the page, and how it writes figures. */
export interface Speech {
  readonly texts: Texts;
  readonly formats: Formats;
  /** What the organizer adds to it. */
  readonly own?: OwnTexts | undefined;
  /** Said while this device works for its place, where the event asks for that. */
  readonly proving?: string | undefined;
}

export function wordsOf(view: View, speech: Speech, eventTitle: string): Words {
  const { texts, formats } = speech;
  const { state, number } = view;
  const place = number === undefined ? "" : formats.number(number);
  const headline = headlineOf(view, texts);
  let prefix = headline;
  if (state === "turn") prefix = texts.titleTurn;
  else if (view.target !== undefined && state === "confirm" && !view.said)
    prefix = `${formats.countdown(view.target - view.now)} · ${headline}`;
  else if (state === "waiting" && place !== "") prefix = say(texts.titlePlace, { number: place });
  return {
    title: `${prefix} · ${eventTitle}`,
    headline,
    number: NO_PLACE.has(state) ? "" : place,
    facts: factsOf(view, speech),
    lead: leadOf(view, speech),
    offer: NO_OFFER.has(state) ? "" : offerOf(view, speech).join("\n"),
    notice: [view.reason, view.notice].filter((line) => line !== "").join("\n"),
    kept: number !== undefined && !NO_PLACE.has(state) && !NOT_KEPT.has(state),
    leaves: number !== undefined && !NO_PLACE.has(state),
    action: actionOf(view),
    order: state === "bought" ? view.order : undefined,
  };
}

/** Whoever has been asked is told, once, when this is left to answer. */
export const HURRY_MS = 30_000;

/** In these the place in line is of no more use. */
const NO_PLACE: ReadonlySet<PageState> = new Set(["ended", "missed", "bought"]);

/** In these whoever closes the page may lose it, or it is not there to keep. */
const NOT_KEPT: ReadonlySet<PageState> = new Set(["cookies", "passed", "known", "turn", "confirm"]);

/** In these there is nothing to be had, or it is theirs. */
const NO_OFFER: ReadonlySet<PageState> = new Set(["ended", "soldout", "bought"]);

/** In these nobody knows how long it takes. */
const STOPPED: ReadonlySet<PageState> = new Set(["paused", "unreachable", "offline", "clock"]);

function factsOf(view: View, { texts, formats }: Speech): readonly Fact[] {
  const { state, ahead, eta, target, now, number } = view;
  const fact = (value: string, label: string): Fact => ({ value, label });
  if (target !== undefined) {
    const [left, at, moment = target] = labelsOf(view, texts);
    const told = fact(formats.time(moment, now), at);
    return view.said && state === "confirm"
      ? [told]
      : [fact(formats.countdown(target - now), left), told];
  }
  const waits = state === "waiting" || state === "near";
  const stopped = STOPPED.has(state);
  if (number === undefined || ahead === undefined || (!waits && !stopped)) return [];
  const people =
    ahead === 0
      ? fact(texts.nobody, texts.aheadOfYou)
      : fact(formats.number(ahead), texts.ahead[formats.category(ahead)] ?? texts.ahead.other);
  return waits ? [people, fact(range(eta, { texts, formats }), texts.wait)] : [people];
}

/** Of what is counted down, and of a moment: the same, unless there is a third. */
function labelsOf(view: View, texts: Texts): [left: string, at: string, moment?: number] {
  const { state, slot, number } = view;
  if (state === "known") return [texts.turnIn, texts.turnAt];
  if (state === "turn") return [texts.turnLeft, texts.turnEnds];
  if (state === "confirm" && slot !== undefined)
    return hasOpened(view)
      ? [texts.confirmLeft, texts.turnEnds, slot.closesAt]
      : [texts.confirmLeft, texts.turnAt, slot.opensAt];
  return [texts.countdown, number === undefined ? texts.opensAt : texts.startsAt];
}

function hasOpened({ slot, now }: View): boolean {
  return slot !== undefined && now >= slot.opensAt;
}

function headlineOf(view: View, texts: Texts): string {
  const { state, said } = view;
  if (state !== "confirm") return texts.headline[state];
  if (said) return texts.headline.said;
  return hasOpened(view) ? texts.headline.confirmTurn : texts.headline.confirm;
}

function leadOf(view: View, speech: Speech): string {
  const { state, isShut, lastCallInMs } = view;
  const { texts, own } = speech;
  const ours = leadOfState(view, speech);
  const theirs = own?.[state as keyof OwnTexts];
  const lead = theirs === undefined ? ours : pair(texts, ours, theirs);
  // A turn that is set stays set: whoever has one is told what it may lead to.
  if (isShut && (state === "known" || state === "turn" || state === "confirm"))
    return pair(texts, texts.soldoutTurn, lead);
  if (state !== "waiting" && state !== "near") return lead;
  const more = [
    view.told?.grew && texts.grew[view.told.grew],
    view.unlikely ? texts.unlikely : lastCallInMs === 0 && texts.lastCall,
  ];
  return more.reduce<string>((said, text) => (text ? pair(texts, said, text) : said), lead);
}

/** Set apart, so that an organizer's words of another direction keep theirs (Unicode's isolates). */
const apart = (words: string): string => `\u2068${words}\u2069`;

function offerOf({ priceRange, left }: View, { texts, formats }: Speech): readonly string[] {
  const price = priceRange === "" ? [] : [say(texts.price, { price: apart(priceRange) })];
  if (left === undefined) return price;
  const { atMost, turns } = left;
  // The smallest band is told as fewer than ten.
  const count = formats.number(atMost < 10 ? 10 : atMost);
  const some = turns === true ? texts.turnsLeft : atMost < 10 ? texts.leftFew : texts.left;
  return [...price, atMost === 0 ? texts.leftNone : say(some, { count })];
}

function leadOfState(view: View, { texts, formats, proving }: Speech): string {
  const { state, number, settings } = view;
  const window = Math.round(claimWindowMs(settings) / 1000);
  if (state === "confirm") return leadOfConfirm(view, texts);
  if (view.asks && (state === "waiting" || state === "near" || state === "owed")) {
    const willAsk = say(texts.willAsk, { window: formats.lengthOfTime(window) });
    return state === "waiting" ? willAsk : pair(texts, texts.lead[state], willAsk);
  }
  if (state === "known") {
    const lasts = {
      lifetime: formats.lengthOfTime(settings.lifetimeSeconds),
      window: formats.lengthOfTime(window),
    };
    if (view.asks) return say(texts.slotSaid, lasts);
    return say(window < settings.lifetimeSeconds ? texts.slot : texts.slotWhole, lasts);
  }
  if (state === "joining" && view.effort === "proving") return proving ?? texts.lead.joining;
  if (state === "joining" && view.effort === "limited") return texts.without.unreachable;
  const without: Partial<Record<PageState, string>> = texts.without;
  return (number === undefined ? without[state] : undefined) ?? texts.lead[state];
}

function leadOfConfirm(view: View, texts: Texts): string {
  const { condition, said, slot, now } = view;
  const calm = hasOpened(view) ? texts.lead.confirmTurn : texts.lead.confirm;
  const isUrgent = slot !== undefined && slot.claimBy - now <= HURRY_MS;
  const asks = isUrgent ? pair(texts, calm, texts.hurry) : calm;
  const lead = said ? texts.lead.said : asks;
  if (condition === undefined) return lead;
  return say(texts.trouble, { headline: texts.headline[condition], lead });
}

/** Two sentences, one after the other as the language has it. */
export function pair({ pair: text }: Texts, first: string, second: string): string {
  return say(text, { first, second });
}

const ACTIONS: Partial<Record<PageState, Words["action"]>> = {
  joining: "join",
  missed: "join-again",
  bought: "join-again",
  gone: "join-again",
  confirm: "confirm",
  turn: "enter",
  credit: "take",
  passed: "take",
  ended: "none",
};

function actionOf({ state, number, isShut, said }: View): Words["action"] {
  if (state === "bought" || state === "gone" ? isShut : state === "confirm" && said) return "none";
  const isTried = state === "unreachable" || state === "clock";
  return isTried && number === undefined ? "join" : (ACTIONS[state] ?? "again");
}

/** An honest range, or the word for not knowing: never a figure that nobody can stand by (QP-06). */
function range(
  eta: { fromMs: number; untilMs: number } | undefined,
  { texts, formats }: Speech,
): string {
  if (eta === undefined) return texts.waitUnknown;
  if (eta.untilMs < 60_000) return say(texts.under, { time: formats.between("minute", 1, 1) });
  const from = Math.max(1, Math.floor(eta.fromMs / 60_000));
  const to = Math.max(from, Math.ceil(eta.untilMs / 60_000));
  if (to < 120) return formats.between("minute", from, to);
  return formats.between("hour", Math.max(1, Math.floor(from / 60)), Math.ceil(to / 60));
}
