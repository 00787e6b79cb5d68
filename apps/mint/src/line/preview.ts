/** What a change would do, and when, before it is made: the deed's own arithmetic, and nothing is written. */
import type {
  EventChange as SettingsChange,
  EventSettings,
} from "@vestibule/contracts/event-settings";
import type { PreviewView } from "@vestibule/contracts/preview-api";
import { earliestResume, resumeLine } from "@vestibule/drip/hold";
import type { LineState, Segment } from "@vestibule/drip/line-state";
import { type Outlook, outlookOf } from "@vestibule/drip/outlook";
import { assert } from "@vestibule/kernel/assert";
import { type EpochMs, epochMs } from "@vestibule/kernel/units";
import { PREVIEW_MINUTES } from "../limits.ts";
import type { EventRecord } from "../store/store.ts";
import { dripPolicy } from "./controller.ts";
import type { EventLine } from "./event-line.ts";
import { stateAt } from "./event-state.ts";
import { assertVersion } from "./organizer.ts";
import { changedEvent } from "./settings-change.ts";

/** @throws AppError as `changeSettings`: the same is refused, for the same reasons. */
export function previewChange(
  line: EventLine,
  change: SettingsChange,
  { version, now }: { readonly version: number; readonly now: EpochMs },
): PreviewView {
  const { record } = line;
  assertVersion(record, version);
  const changed = changedEvent(record, change, now);
  const waiting = line.waitingCount();
  const before = look(record, {
    settings: record.settings,
    line: record.progress.line,
    waiting,
    now,
  });
  const after = look(record, { ...changed, waiting, now });
  const { takesHoldAt } = after.outlook;
  return {
    event: line.event,
    version: record.version,
    state: stateAt(record, now),
    at: now,
    takesHoldAt,
    waiting: after.waiting,
    endsAt: changed.settings.endsAt,
    changes: differences(record.settings, changed.settings),
    before: view(before.outlook),
    after: view(after.outlook),
  };
}

interface Looked {
  readonly settings: EventSettings;
  readonly line: LineState;
  readonly waiting: number;
  readonly now: EpochMs;
}

/** While it is held: as if it were resumed at once. Whoever's slot that cuts waits again. */
function look(
  record: EventRecord,
  { settings, line, waiting, now }: Looked,
): { readonly outlook: Outlook; readonly waiting: number } {
  const resumed = asIfResumed(record, line, now);
  const people = waiting + resumed.cutCount;
  const outlook = outlookOf({
    line: resumed.line,
    policy: dripPolicy(settings),
    segments: resumed.segments,
    now,
    startsAt: settings.startsAt ?? 0,
    endsAt: settings.endsAt,
    waiting: people,
    lifetimeSeconds: settings.lifetimeSeconds,
    minutes: PREVIEW_MINUTES,
  });
  return { outlook, waiting: people };
}

function asIfResumed(
  { facts, segments }: EventRecord,
  line: LineState,
  now: EpochMs,
): { readonly line: LineState; readonly segments: readonly Segment[]; readonly cutCount: number } {
  const heldSince = facts.hold?.since;
  if (heldSince === undefined) return { line, segments, cutCount: 0 };
  const at = epochMs(Math.max(now, earliestResume(heldSince)));
  const resumed = resumeLine({ line, segments, heldSince, now: at });
  assert(resumed.ok, "the earliest moment is not too early");
  const cut = new Map(resumed.value.cutSegments.map((segment) => [segment.id, segment]));
  return {
    line: resumed.value.line,
    segments: segments.map((segment) => cut.get(segment.id) ?? segment),
    cutCount: resumed.value.cutCount,
  };
}

function differences(before: EventSettings, after: EventSettings): PreviewView["changes"] {
  const fields = Object.keys(after) as (keyof EventSettings)[];
  return fields
    .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
    .map((field) => ({ field, before: before[field], after: after[field] }));
}

function view({ takesHoldAt: _moment, ...outlook }: Outlook): PreviewView["after"] {
  return { ...outlook, perMinute: [...outlook.perMinute] };
}
