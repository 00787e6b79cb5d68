import type { Database, Sql } from "@vestibule/db/connect";
import { assert } from "@vestibule/kernel/assert";
import { epochMs } from "@vestibule/kernel/units";
import { assertHeld, fenceTable } from "./fence.ts";
import type { MintStore, Premint } from "./store.ts";

export function premintRepository(
  database: Database,
): Pick<MintStore, "recordPremint" | "findPremint"> {
  return {
    findPremint: (event, batch) => database.run((sql) => find(sql, event, batch)),

    // One statement: batches of one event wait for each other.
    recordPremint: (lead, { event, premint, audit }) =>
      database.run(async (sql) => {
        const { batch, first, count, digest, at } = premint;
        const last = first + count - 1;
        const rows = await sql<{ held: boolean; done: boolean; known: PremintRow | null }[]>`
          with ${fenceTable(sql, lead)}, known as (
            select batch, first, count, digest, at_ms from premints
             where event = ${event} and batch = ${batch}
          ), block as (
            -- They are given now: a takeover need not doubt it.
            update number_blocks set issued_through = greatest(issued_through, ${last}::bigint)
             where event = ${event} and epoch = ${lead.epoch} and first <= ${first}::bigint and last >= ${last}::bigint
               and exists (select 1 from lead) and not exists (select 1 from known)
            returning 1
          ), added as (
            insert into premints (event, batch, first, count, digest, at_ms)
            select ${event}, ${batch}, ${first}::bigint, ${count}::integer, ${digest}, ${at}::bigint from block
            returning 1
          ), noted as (
            insert into audit_log (actor, action, event, detail)
            select ${audit.actor}, ${audit.action}, ${event}, ${sql.json(audit.detail as never)} from added
          )
          select exists (select 1 from lead) as held, exists (select 1 from added) as done,
                 (select to_json(known) from known) as known`;
        assertHeld(rows);
        const { known = null, done = false } = rows[0] ?? {};
        if (known !== null) return toPremint(known);
        assert(done, "a batch lies in the block of who gives it");
        return premint;
      }),
  };
}

interface PremintRow {
  batch: string;
  first: number;
  count: number;
  digest: string;
  at_ms: number;
}

async function find(sql: Sql, event: string, batch: string): Promise<Premint | undefined> {
  const [row] = await sql<PremintRow[]>`
    select batch, first, count, digest, at_ms from premints where event = ${event} and batch = ${batch}`;
  return row === undefined ? undefined : toPremint(row);
}

function toPremint({ at_ms: at, ...rest }: PremintRow): Premint {
  return { ...rest, at: epochMs(at) };
}
