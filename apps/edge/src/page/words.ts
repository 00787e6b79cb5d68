/** A view in words: the same for the first view by the server and for the script in the page. */
import type { View } from "@vestibule/client/view";
import { claimWindowMs } from "@vestibule/drip/slot";
import { texts } from "./texts.en.ts";

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
  /** The organizer's own words, a line each. */
  readonly notice: string;
  /** Whether to say that the place stays theirs. */
  readonly kept: boolean;
  /** What a press of the button does; without JavaScript there is always one. With it, it does `take` by itself. */
  readonly action: "join" | "join-again" | "confirm" | "enter" | "take" | "again" | "none";
  /** Where a link to the order leads, if there is one. */
  readonly order?: string | undefined;
}

export interface Formats {
  number(n: number): string;
  /** A moment, with the zone unless it is surely the visitor's own (AO-02). */
  time(at: number): string;
}

export function wordsOf(view: View, formats: Formats, eventTitle: string): Words {
  const { state, number } = view;
  const place = number === undefined ? "" : formats.number(number);
  const { title } = texts;
  const headline = headlineOf(view);
  let prefix = headline;
  if (state === "turn") prefix = title.turn;
  else if (view.target !== undefined && state === "confirm" && !view.said)
    prefix = `${countdown(view.target - view.now)} · ${headline}`;
  else if (state === "waiting" && place !== "") prefix = title.place(place);
  return {
    title: `${prefix} · ${eventTitle}`,
    headline,
    number: NO_PLACE.has(state) ? "" : place,
    facts: factsOf(view, formats),
    lead: leadOf(view),
    notice: [view.reason, view.notice].filter((line) => line !== "").join("\n"),
    kept: number !== undefined && !NO_PLACE.has(state) && !NOT_KEPT.has(state),
    action: actionOf(view),
    order: state === "bought" ? view.order : undefined,
  };
}

/** Whoever has been asked is told, once, when this is left to answer. */
const HURRY_MS = 30_000;

/** In these the place in line is of no more use. */
const NO_PLACE: ReadonlySet<View["state"]> = new Set(["ended", "missed", "bought"]);

/** In these it may be lost, or is not there to keep. */
const NOT_KEPT: ReadonlySet<View["state"]> = new Set(["cookies", "passed", "confirm"]);

/** In these nobody knows how long it takes. */
const STOPPED: ReadonlySet<View["state"]> = new Set(["paused", "unreachable", "offline", "clock"]);

function factsOf(view: View, formats: Formats): readonly Fact[] {
  const { state, ahead, eta, target, now, number, slot } = view;
  if (state === "confirm" && slot !== undefined) {
    const left = { value: countdown(slot.claimBy - now), label: texts.confirmLeft };
    const at = hasOpened(view)
      ? { value: formats.time(slot.closesAt), label: texts.turnEnds }
      : { value: formats.time(slot.opensAt), label: texts.turnAt };
    return view.said ? [at] : [left, at];
  }
  if (target !== undefined) {
    const left = { value: countdown(target - now), label: labelOfCountdown(view) };
    const at = { value: formats.time(target), label: labelOfMoment(view) };
    return [left, at];
  }
  const waits = state === "waiting" || state === "near";
  const stopped = STOPPED.has(state);
  if (number === undefined || ahead === undefined || (!waits && !stopped)) return [];
  const people =
    ahead === 0 ? texts.nobodyAhead : { value: formats.number(ahead), label: texts.ahead(ahead) };
  return waits ? [people, { value: range(eta), label: texts.wait }] : [people];
}

function labelOfCountdown({ state }: View): string {
  if (state === "known") return texts.turnIn;
  return state === "turn" ? texts.turnLeft : texts.countdown;
}

function labelOfMoment({ state, number }: View): string {
  if (state === "known") return texts.turnAt;
  if (state === "turn") return texts.turnEnds;
  return number === undefined ? texts.opensAt : texts.startsAt;
}

function hasOpened({ slot, now }: View): boolean {
  return slot !== undefined && now >= slot.opensAt;
}

function headlineOf(view: View): string {
  const { state, said } = view;
  if (state !== "confirm") return texts.headline[state];
  if (said) return texts.said.headline;
  return hasOpened(view) ? texts.confirmTurn.headline : texts.headline.confirm;
}

function leadOf(view: View): string {
  const { state, isShut, lastCallInMs } = view;
  const lead = leadOfState(view);
  // A turn that is set stays set: whoever has one is told what it may lead to.
  if (isShut && (state === "known" || state === "turn" || state === "confirm"))
    return `${texts.soldoutTurn} ${lead}`;
  const waits = state === "waiting" || state === "near";
  return waits && lastCallInMs === 0 ? `${lead} ${texts.lastCall}` : lead;
}

function leadOfState(view: View): string {
  const { state, number, settings } = view;
  const window = Math.round(claimWindowMs(settings) / 1000);
  if (state === "confirm") return leadOfConfirm(view);
  if (view.asks && (state === "waiting" || state === "near" || state === "owed")) {
    const willAsk = texts.willAsk(texts.duration(window));
    return state === "waiting" ? willAsk : `${texts.lead[state]} ${willAsk}`;
  }
  if (state === "known") {
    const lifetime = texts.duration(settings.lifetimeSeconds);
    if (view.asks) return texts.saidSlot(lifetime);
    return window < settings.lifetimeSeconds
      ? texts.slot(lifetime, texts.duration(window))
      : texts.slotWhole(lifetime);
  }
  if (state === "scheduled" && number !== undefined) return texts.lead.scheduledWithPlace;
  if (state === "unreachable" && number === undefined) return texts.lead.unreachableWithout;
  if (state === "clock" && number === undefined) return texts.lead.clockWithout;
  if (state === "soldout" && number === undefined) return texts.lead.soldoutWithout;
  return texts.lead[state];
}

function leadOfConfirm(view: View): string {
  const { condition, said, slot, now } = view;
  const trouble = condition === undefined ? "" : `${texts.headline[condition]}. `;
  if (said) return trouble + texts.said.lead;
  const lead = hasOpened(view) ? texts.confirmTurn.lead : texts.lead.confirm;
  const isUrgent = slot !== undefined && slot.claimBy - now <= HURRY_MS;
  return trouble + (isUrgent ? `${lead} ${texts.confirmHurry}` : lead);
}

function actionOf({ state, number, isShut, said }: View): Words["action"] {
  switch (state) {
    case "joining":
      return "join";
    case "missed":
      return "join-again";
    case "bought":
      return isShut ? "none" : "join-again";
    case "confirm":
      return said ? "none" : "confirm";
    case "turn":
      return "enter";
    case "credit":
    case "passed":
      return "take";
    case "ended":
      return "none";
    case "owed":
    case "near":
    case "known":
    case "scheduled":
    case "waiting":
    case "paused":
    case "soldout":
    case "offline":
    case "cookies":
      return "again";
    case "unreachable":
    case "clock":
      return number === undefined ? "join" : "again";
  }
}

/** `9:05`, or `1:09:05` above an hour; never below zero. Rounded up, so that 0:00 means now. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${hours > 0 ? two(minutes) : minutes}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/** An honest range, or the word for not knowing: never a figure that nobody can stand by (QP-06). */
export function range(eta: { fromMs: number; untilMs: number } | undefined): string {
  if (eta === undefined) return texts.waitUnknown;
  if (eta.untilMs < 60_000) return texts.lessThanMinute;
  const from = Math.max(1, Math.floor(eta.fromMs / 60_000));
  const to = Math.max(from, Math.ceil(eta.untilMs / 60_000));
  if (to < 120) return from === to ? texts.minutes(from) : texts.minutesRange(from, to);
  const fromHours = Math.max(1, Math.floor(from / 60));
  const toHours = Math.ceil(to / 60);
  return fromHours === toHours ? texts.hours(toHours) : texts.hoursRange(fromHours, toHours);
}
