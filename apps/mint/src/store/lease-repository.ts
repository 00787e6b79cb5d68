import type { Database } from "@vestibule/db/connect";
import { LEASE_DEADLINE_MS } from "../limits.ts";
import { bigints, texts } from "./arrays.ts";
import { fence } from "./fence.ts";
import type { BlockEnd, Lead, MintStore } from "./store.ts";

export function leaseRepository(
  database: Database,
): Pick<MintStore, "acquireLease" | "renewLease" | "releaseLease"> {
  return {
    acquireLease: ({ holder, ttlMs, gapNumbers }) =>
      database.transaction(
        async (sql) => {
          // A first look without a lock: a standby must not make grants wait twice a second.
          const [free] = await sql`
            select 1 from lease where id = 1 and (released or expires_at < clock_timestamp())`;
          if (free === undefined) return undefined;
          const [row] = await sql<{ epoch: number; released: boolean }[]>`
            select epoch, released from lease
             where id = 1 and (released or expires_at < clock_timestamp()) for update`;
          if (row === undefined) return undefined;
          const epoch = row.epoch + 1;
          if (!row.released) await skipGap(sql, gapNumbers);
          await sql`update number_blocks set closed = true where not closed`;
          await sql`
            update lease set holder = ${holder}, epoch = ${epoch}, released = false,
                   expires_at = clock_timestamp() + ${`${ttlMs} milliseconds`}::interval
             where id = 1`;
          return { holder, epoch };
        },
        { deadlineMs: LEASE_DEADLINE_MS },
      ),

    renewLease: (lead, ttlMs) =>
      database.run(
        async (sql) => {
          const rows = await sql`
            update lease set expires_at = clock_timestamp() + ${`${ttlMs} milliseconds`}::interval
             where id = 1 and epoch = ${lead.epoch} and holder = ${lead.holder} and not released`;
          return rows.count === 1;
        },
        { deadlineMs: LEASE_DEADLINE_MS },
      ),

    releaseLease: (lead, ends) =>
      database.transaction(async (sql) => {
        await fence(sql, lead);
        await giveBack(sql, lead, ends);
        await sql`update lease set released = true where id = 1`;
      }),
  };
}

type Tx = Parameters<Parameters<Database["transaction"]>[0]>[0];

/** Whoever joined an event that is over needs no number any more; all others skip the gap. */
async function skipGap(sql: Tx, gapNumbers: number): Promise<void> {
  await sql`
    update events set reserved = reserved + ${gapNumbers}
     where ended_at_ms is null and (settings->>'endsAt')::bigint > extract(epoch from now()) * 1000`;
}

async function giveBack(sql: Tx, lead: Lead, ends: readonly BlockEnd[]): Promise<void> {
  const events = ends.map(({ event }) => event);
  const throughs = ends.map(({ issuedThrough }) => issuedThrough);
  await sql`
    with ends as (
      select * from unnest(${texts(events)}::text[], ${bigints(throughs)}::bigint[]) as e (event, through)
    ), unused as (
      delete from number_blocks b using ends e
       where b.event = e.event and b.epoch = ${lead.epoch} and e.through < b.first
    ), used as (
      update number_blocks b set last = e.through, issued_through = e.through, closed = true
        from ends e
       where b.event = e.event and b.epoch = ${lead.epoch} and e.through >= b.first
    )
    -- A failover may have forgotten the block: then what was given from it counts as reserved all the same.
    update events v
       set reserved = e.through
      from ends e left join number_blocks b on b.event = e.event and b.epoch = ${lead.epoch}
     where v.event = e.event and (b.event is not null or v.reserved < e.through)`;
}
