/** What a change of an event's settings makes of them, and of its line: the same for the deed and for its preview. */
import type {
  EventChange as SettingsChange,
  EventSettings,
} from "@vestibule/contracts/event-settings";
import type { Mistake } from "@vestibule/contracts/parse";
import { changePolicy } from "@vestibule/drip/change-policy";
import type { LineState } from "@vestibule/drip/line-state";
import { rateAt } from "@vestibule/drip/rate-plan";
import type { EpochMs } from "@vestibule/kernel/units";
import { problem } from "@vestibule/service/problems";
import type { EventRecord } from "../store/store.ts";
import { bypassMistakes } from "./bypass.ts";
import { dripPolicy } from "./controller.ts";
import { looksMistakes } from "./event-looks.ts";
import { isEnded } from "./event-state.ts";

interface ChangedEvent {
  readonly settings: EventSettings;
  /** As `changePolicy` leaves it; the very object when that is nothing. */
  readonly line: LineState;
}

/**
 * A rehearsal that is over by its time goes on when its end is moved: drills use one event again and again, and
 * between them nobody can join it.
 *
 * @throws AppError `event-ended`, `invalid-settings`.
 */
export function changedEvent(
  record: EventRecord,
  change: SettingsChange,
  now: EpochMs,
): ChangedEvent {
  const before = record.settings;
  const isReopened = before.rehearsal === true && change.endsAt !== undefined;
  if ((!isReopened || record.facts.endedAt !== undefined) && isEnded(record, now))
    throw problem("event-ended");
  const settings = changedSettings(before, change, now);
  const mistakes = changeMistakes(record, change, now);
  if (mistakes.length > 0) throw problem("invalid-settings", { extensions: { errors: mistakes } });
  return { settings, line: changedLine(record, settings, now) };
}

/** Relations between settings that no single field can check. */
export function settingsMistakes(
  { startsAt, joinableAt, endsAt = Infinity }: Partial<EventSettings>,
  now: EpochMs,
): readonly Mistake[] {
  const mistakes: Mistake[] = [];
  const wrong = (field: string, message: string): void => void mistakes.push({ field, message });
  if (endsAt <= now) wrong("endsAt", "Must be in the future");
  if (startsAt !== undefined && startsAt >= endsAt) wrong("startsAt", "Must be before endsAt");
  if (joinableAt !== undefined && joinableAt >= endsAt)
    wrong("joinableAt", "Must be before endsAt");
  if (startsAt !== undefined && joinableAt !== undefined && joinableAt > startsAt) {
    wrong("joinableAt", "Must not be after startsAt");
  }
  return mistakes;
}

/** What is wrong with a change whose members are each in order. */
export function changeMistakes(
  { settings: before }: EventRecord,
  change: SettingsChange,
  now: EpochMs,
): readonly Mistake[] {
  const after = changedSettings(before, change, now);
  const looks = change.looks && looksMistakes({ ...before, looks: change.looks });
  const mistakes = [
    ...settingsMistakes(after, now),
    ...(looks ?? []),
    // What an event had before there was such a rule is in no other change's way.
    ...(change.bypass === undefined ? [] : bypassMistakes(after)),
  ];
  if (after.horizonSeconds >= before.horizonSeconds) return mistakes;
  // Admissions are signed a horizon ahead: how long keys verify, and cuts are told, is reckoned by it.
  const message = `Must not be less than before, which is ${before.horizonSeconds}`;
  return [...mistakes, { field: "horizonSeconds", message }];
}

function changedSettings(
  before: EventSettings,
  change: SettingsChange,
  now: EpochMs,
): EventSettings {
  const rates = changedRates(before, change, now);
  return { ...before, ...withoutUndefined({ ...change, ...rates }) };
}

/** A rate that is said alone holds from now on; a plan that is said alone begins at the rate of now. */
function changedRates(
  before: EventSettings,
  { ratePerMinute, ratePlan }: SettingsChange,
  now: EpochMs,
): Pick<SettingsChange, "ratePerMinute" | "ratePlan"> {
  if (ratePlan === undefined) return ratePerMinute === undefined ? {} : { ratePlan: [] };
  return ratePerMinute === undefined ? { ratePerMinute: rateAt(before, now).ratePerMinute } : {};
}

function changedLine(record: EventRecord, settings: EventSettings, now: EpochMs): LineState {
  const { line } = record.progress;
  const [before, after] = [dripPolicy(record.settings), dripPolicy(settings)];
  const isOfRates =
    before.ratePerMinute !== after.ratePerMinute ||
    JSON.stringify(before.ratePlan) !== JSON.stringify(after.ratePlan) ||
    before.approximationBudget !== after.approximationBudget;
  return isOfRates ? changePolicy(line, { before, after, now }) : line;
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
