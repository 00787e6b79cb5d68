/** A view in words: the same for the first view by the server and for the script in the page. */
import { claimWindowMs } from "@vestibule/drip/slot";
import { texts } from "./texts.en.ts";
import type { View } from "./view.ts";

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
  readonly action: "join" | "join-again" | "enter" | "take" | "again" | "none";
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
  let prefix = texts.headline[state];
  if (state === "turn") prefix = title.turn;
  else if (state === "waiting" && place !== "") prefix = title.place(place);
  return {
    title: `${prefix} · ${eventTitle}`,
    headline: texts.headline[state],
    number: NO_PLACE.has(state) ? "" : place,
    facts: factsOf(view, formats),
    lead: leadOf(view),
    notice: [view.reason, view.notice].filter((line) => line !== "").join("\n"),
    kept: number !== undefined && !NO_PLACE.has(state) && state !== "cookies" && state !== "passed",
    action: actionOf(view),
    order: state === "bought" ? view.order : undefined,
  };
}

/** In these the place in line is of no more use. */
const NO_PLACE: ReadonlySet<View["state"]> = new Set(["ended", "missed", "bought"]);

/** In these nobody knows how long it takes. */
const STOPPED: ReadonlySet<View["state"]> = new Set(["paused", "unreachable", "offline", "clock"]);

function factsOf(view: View, formats: Formats): readonly Fact[] {
  const { state, ahead, eta, target, now, number } = view;
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

function leadOf(view: View): string {
  const { state, isShut, lastCallInMs } = view;
  const lead = leadOfState(view);
  // A turn that is set stays set: whoever has one is told what it may lead to.
  if (isShut && (state === "known" || state === "turn")) return `${texts.soldoutTurn} ${lead}`;
  const waits = state === "waiting" || state === "near";
  return waits && lastCallInMs === 0 ? `${lead} ${texts.lastCall}` : lead;
}

function leadOfState(view: View): string {
  const { state, number, settings } = view;
  if (state === "known") {
    const window = Math.round(claimWindowMs(settings) / 1000);
    const lifetime = texts.duration(settings.lifetimeSeconds);
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

function actionOf({ state, number, isShut }: View): Words["action"] {
  switch (state) {
    case "joining":
      return "join";
    case "missed":
      return "join-again";
    case "bought":
      return isShut ? "none" : "join-again";
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
