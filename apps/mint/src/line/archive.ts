/** Events that are over for long: their rows go, a line of figures stays. */
import type { ArchivedFigures } from "@vestibule/contracts/archive-api";
import type { EpochMs } from "@vestibule/kernel/units";
import { problem } from "@vestibule/service/problems";
import { ENDED_SHOWN_MS } from "../limits.ts";
import type { EventRecord } from "../store/store.ts";
import type { EventLine } from "./event-line.ts";
import { endOf } from "./event-state.ts";

/**
 * From when an event may be archived: no ticket and no admission of it has been valid for long then, and the manifest
 * does not name it any more, so that no location notices. `undefined`: never, a rehearsal is used again.
 */
export function archivableAt({ settings, facts }: EventRecord): number | undefined {
  return settings.rehearsal === true ? undefined : endOf(settings, facts) + ENDED_SHOWN_MS;
}

/**
 * For good: the name is never free again.
 *
 * @throws AppError `conflict` before `archivableAt`, which it names.
 */
export function archiveEvent(line: EventLine, deed: { readonly actor: string }): Promise<void> {
  return line.write(async (now) => {
    const { record, event } = line;
    // By a call beside this one.
    if ((await line.store.findArchived(event)) !== undefined) return;
    assertArchivable(record, now);
    const { claimed, lapsed } = await line.store.tally(event);
    const figures: ArchivedFigures = {
      issued: line.issuedCount(),
      highestNumber: line.highestIssued(),
      claimed,
      lapsed,
      endedAt: endOf(record.settings, record.facts),
    };
    await line.store.archiveEvent(line.lead, {
      ...{ event, lineVersion: record.lineVersion, at: now, figures },
      audit: { actor: deed.actor, action: "archive", detail: figures },
    });
  });
}

function assertArchivable(record: EventRecord, now: EpochMs): void {
  const from = archivableAt(record);
  if (from === undefined)
    throw problem("conflict", { detail: "A rehearsal is used again: it is not archived" });
  if (now >= from) return;
  const when = new Date(from).toISOString();
  throw problem("conflict", {
    detail: `It may be archived from ${when} on: until then its pages say that it is over`,
    extensions: { archivableAt: from },
  });
}
