import type { ArchivedFigures } from "@vestibule/contracts/archive-api";
import type { Database } from "@vestibule/db/connect";
import { epochMs } from "@vestibule/kernel/units";
import { writeAudit } from "./event-repository.ts";
import { fence } from "./fence.ts";
import { LineMovedError, type MintStore } from "./store.ts";

/** Whatever an event has in more rows than one. Those of audit_log stay. */
const TABLES = [
  "claims",
  "segments",
  "credits_used",
  "demand",
  "cuts",
  "number_blocks",
  "premints",
] as const;

export function archiveRepository(
  database: Database,
): Pick<MintStore, "archiveEvent" | "findArchived" | "clearArchived"> {
  return {
    archiveEvent: (lead, { event, lineVersion, at, figures, audit }) =>
      database.transaction(async (sql) => {
        await fence(sql, lead);
        const rows = await sql`
          update events set archived_at_ms = ${at}, archive = ${sql.json({ ...figures })},
                 line_version = line_version + 1, version = version + 1
           where event = ${event} and line_version = ${lineVersion} and archived_at_ms is null
          returning version`;
        const version = (rows[0] as { version: number } | undefined)?.version;
        if (version === undefined) throw new LineMovedError("the event is not as it was");
        await writeAudit(sql, { event, version, audit });
      }),

    findArchived: (event) =>
      database.run(async (sql) => {
        const [row] = await sql<{ archived_at_ms: number; archive: ArchivedFigures }[]>`
          select archived_at_ms, archive from events where event = ${event} and archived_at_ms is not null`;
        return row === undefined
          ? undefined
          : { at: epochMs(row.archived_at_ms), figures: row.archive };
      }),

    // Needs no fence: nothing is granted, and whoever leads, an archived event stays one.
    clearArchived: (event, rowsMax) =>
      database.run(async (sql) => {
        let deleted = 0;
        for (const table of TABLES) {
          if (deleted >= rowsMax) break;
          const rows = await sql`
            delete from ${sql(table)} where ctid = any(array(
              select r.ctid from ${sql(table)} r join events e using (event)
               where r.event = ${event} and e.archived_at_ms is not null limit ${rowsMax - deleted}))`;
          deleted += rows.count;
        }
        return deleted;
      }),
  };
}
