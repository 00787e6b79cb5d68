/** What an organizer does to one event. Each deed is one step: facts, line and audit log together. */
import type {
  EventChange as SettingsChange,
  EventSettings,
  Hold,
} from "@vestibule/contracts/event-settings";
import type { Mistake } from "@vestibule/contracts/parse";
import { resumeLine } from "@vestibule/drip/hold";
import type { EpochMs } from "@vestibule/kernel/units";
import { problem } from "@vestibule/service/problems";
import type { AuditEntry, Demand, EventChange, EventFacts, EventRecord } from "../store/store.ts";
import { commitNext, issuedBy } from "./controller.ts";
import type { EventLine } from "./event-line.ts";
import { boundedSeconds, isEnded, stateAt } from "./event-state.ts";
import { changedEvent } from "./settings-change.ts";

/** Who does it, and on which version: absent means on whichever. When it happens is when it is its turn. */
export interface Deed {
  readonly actor: string;
  readonly version?: number | undefined;
}

/** What is committed stays as it is. @throws AppError `version-mismatch`, `event-ended`, `invalid-settings`. */
export function changeSettings(line: EventLine, change: SettingsChange, deed: Deed): Promise<void> {
  return perform(line, deed, (record, now) => {
    const changed = changedEvent(record, change, now);
    const { progress } = record;
    return {
      settings: changed.settings,
      ...(changed.line === progress.line ? {} : { progress: { ...progress, line: changed.line } }),
      audit: audit(deed, "change", change),
    };
  });
}

/**
 * One path belongs to one running event. A later event may be prepared on it when it begins after the
 * earlier one's end; nested paths are told apart by their length.
 */
export function routeMistakes(
  { hosts = [], paths = [], joinableAt, startsAt }: Partial<EventSettings>,
  others: readonly EventRecord[],
  now: EpochMs,
): readonly Mistake[] {
  const begins = joinableAt ?? startsAt ?? now;
  const taken = others.filter(
    (other) =>
      !isEnded(other, now) &&
      other.settings.endsAt > begins &&
      other.settings.hosts.some((host) => hosts.includes(host)),
  );
  return paths.flatMap((path, index) => {
    const owner = taken.find((other) => other.settings.paths.includes(path));
    if (owner === undefined) return [];
    const message = `Belongs to the event ${owner.settings.event}, which has not ended`;
    return [{ field: `paths.${index}`, message }];
  });
}

/** Nobody new enters from this moment on. Held already: only what `wanted` names changes. */
export function hold(line: EventLine, wanted: Hold, deed: Deed): Promise<void> {
  return perform(line, deed, (record, now) => {
    assertRunning(record, now);
    const held = record.facts.hold ?? { since: now, scope: "entries", reason: "" };
    const { scope = held.scope, reason = held.reason } = wanted;
    const hold = { since: held.since, scope, reason };
    return { facts: { ...record.facts, hold }, audit: audit(deed, "hold", hold) };
  });
}

/**
 * The drip goes on: numbers that the hold cut come first, in the same step.
 *
 * @throws AppError `conflict` when it is not held, or within the hold's own second.
 */
export function resume(line: EventLine, deed: Deed): Promise<void> {
  return perform(line, deed, (record, now) => {
    const held = record.facts.hold;
    if (held === undefined) throw problem("conflict", { detail: "The event is not held" });
    const resumed = resumeLine({
      line: record.progress.line,
      segments: record.segments,
      heldSince: held.since,
      now,
    });
    if (!resumed.ok) {
      throw problem("conflict", {
        detail: "A hold lasts at least until the next full second",
        retryAfterSeconds: boundedSeconds(resumed.refusal.from - now),
      });
    }
    const facts: EventFacts = { ...record.facts, hold: undefined };
    const front = (record.demand[0]?.position ?? 0) - resumed.value.cut.length;
    const cut: Demand[] = resumed.value.cut.map(({ first, last }, index) => ({
      position: front + index,
      first,
      last,
    }));
    const demand = [...cut, ...record.demand];
    const drip =
      stateAt({ ...record, facts }, now) === "open"
        ? commitNext({
            record: { ...record, demand },
            issued: issuedBy(line),
            now,
            line: resumed.value.line,
          })
        : {};
    const { line: next = resumed.value.line, demandDone, demandSet = [], segments } = drip;
    const changed = new Map([...cut, ...demandSet].map((run) => [run.position, run]));
    for (const position of demandDone ?? []) changed.delete(position);
    return {
      facts,
      progress: { ...record.progress, line: next },
      cut: { since: held.since, until: now },
      cutSegments: resumed.value.cutSegments.map((segment) => ({
        id: segment.id,
        cutAfter: held.since,
      })),
      ...(segments === undefined ? {} : { segments }),
      ...(demandDone === undefined ? {} : { demandDone }),
      demandSet: [...changed.values()],
      issuedThrough: line.sequencer.issuedThrough,
      audit: audit(deed, "resume", { since: held.since, until: now }),
    };
  });
}

/** No further slot is committed; slots that are committed stay what they are. */
export function declareSoldout(line: EventLine, deed: Deed): Promise<void> {
  return perform(line, deed, (record, now) => {
    assertRunning(record, now);
    const facts = { ...record.facts, soldoutAt: record.facts.soldoutAt ?? now };
    return { facts, audit: audit(deed, "soldout", {}) };
  });
}

/** For good: nobody joins, claims or is let in any more. */
export function end(line: EventLine, deed: Deed): Promise<void> {
  return perform(line, deed, (record, now) => {
    const facts = { ...record.facts, endedAt: record.facts.endedAt ?? now };
    return { facts, audit: audit(deed, "end", {}) };
  });
}

/** For the audit log, which never has the token itself. Nothing else changes, so that it is in no organizer's way. */
export function noteServiceToken(
  line: EventLine,
  { actor, ...detail }: { actor: string; name: string; jti: string; expiresAt: number },
): Promise<void> {
  const note = { actor, action: "service-token", detail };
  return line.write(async () => void (await line.step({ settle: [], decide: () => ({ note }) })));
}

function perform(
  line: EventLine,
  deed: Deed,
  decide: (record: EventRecord, now: EpochMs) => EventChange,
): Promise<void> {
  return line.write(async (now) => {
    const { record } = line;
    assertVersion(record, deed.version);
    // A refusal asks nothing of the store. The deed itself is dated when the store is ready for it.
    decide(record, now);
    await line.step({ settle: [], decide: (_claimed, later) => decide(record, later) });
  });
}

/** @throws AppError `version-mismatch` */
export function assertVersion({ version }: EventRecord, expected: number | undefined): void {
  if (expected === undefined || expected === version) return;
  throw problem("version-mismatch", { extensions: { version } });
}

function assertRunning(record: EventRecord, now: EpochMs): void {
  if (isEnded(record, now)) throw problem("event-ended");
}

function audit({ actor }: Deed, action: string, detail: object): AuditEntry {
  return { actor, action, detail: { ...detail } };
}
