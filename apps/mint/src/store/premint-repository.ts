import type { Database, Sql, Transaction } from "@vestibule/db/connect";
import { assert } from "@vestibule/kernel/assert";
import { epochMs } from "@vestibule/kernel/units";
import { writeAudit } from "./event-repository.ts";
import { fence } from "./fence.ts";
import type { MintStore, Premint } from "./store.ts";

export function premintRepository(
  database: Database,
): Pick<MintStore, "recordPremint" | "findPremint"> {
  return {
    findPremint: (event, batch) => database.run((sql) => find(sql, event, batch)),

    recordPremint: (lead, { event, premint, audit }) =>
      database.transaction(async (sql) => {
        await fence(sql, lead);
        const { batch, first, count, digest, at } = premint;
        const added = await sql`
          insert into premints (event, batch, first, count, digest, at_ms)
          values (${event}, ${batch}, ${first}, ${count}, ${digest}, ${at})
          on conflict (event, batch) do nothing`;
        if (added.count === 0) {
          const known = await find(sql, event, batch);
          assert(known !== undefined, "a batch is never removed while its event is live");
          return known;
        }
        // They are given now: a takeover need not doubt it.
        const last = first + count - 1;
        const block = await sql`
          update number_blocks set issued_through = greatest(issued_through, ${last}::bigint)
           where event = ${event} and epoch = ${lead.epoch} and first <= ${first} and last >= ${last}`;
        assert(block.count === 1, "a batch lies in the block of who gives it");
        await writeAudit(sql, { event, version: null, audit });
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

async function find(
  sql: Sql | Transaction,
  event: string,
  batch: string,
): Promise<Premint | undefined> {
  const [row] = await sql<PremintRow[]>`
    select batch, first, count, digest, at_ms from premints where event = ${event} and batch = ${batch}`;
  if (row === undefined) return undefined;
  const { at_ms: at, ...rest } = row;
  return { ...rest, at: epochMs(at) };
}
