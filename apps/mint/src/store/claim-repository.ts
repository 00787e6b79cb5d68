import type { Database } from "@vestibule/db/connect";
import { bigints } from "./arrays.ts";
import { type SegmentRow, toSegment } from "./event-repository.ts";
import { assertHeld, fenceTable } from "./fence.ts";
import { isLiveSlot, opensAt } from "./live-slot.ts";
import type { MintStore, PlaceFound } from "./store.ts";

interface PlaceRow extends SegmentRow {
  n: number;
  claimed: boolean;
  settled: boolean;
  creditUsed: boolean;
}

export function claimRepository(
  database: Database,
): Pick<MintStore, "recordClaims" | "findPlaces"> {
  return {
    recordClaims: (lead, { event, at, fresh, again }) =>
      database.run(async (sql) => {
        const all = [...fresh, ...again];
        // A row lock on the segments: a claim commits before its segment is settled, or not at all.
        const rows = await sql<{ held: boolean; granted: string | null }[]>`
          with ${fenceTable(sql, lead)}, asked as (
            select a.n, a.segment, a.ordinality <= ${fresh.length} as fresh
              from unnest(${bigints(all.map(({ n }) => n))}::bigint[],
                          ${bigints(all.map(({ segment }) => segment))}::bigint[])
                   with ordinality as a (n, segment, ordinality)
          ), open as materialized (
            select s.id from segments s
             where s.event = ${event} and not s.settled and exists (select 1 from lead)
               and s.id in (select segment from asked where fresh) for share
          ), recorded as (
            insert into claims (event, n, segment, claimed_at_ms)
            select ${event}, a.n, a.segment, ${at}::bigint from asked a join open o on o.id = a.segment
             where a.fresh
            on conflict (event, n) do update
               set segment = excluded.segment, claimed_at_ms = excluded.claimed_at_ms
             where claims.segment <> excluded.segment
               and exists (select 1 from segments earlier
                            where earlier.event = claims.event and earlier.id = claims.segment and earlier.settled)
            returning n
          ), known as (
            -- One look by the primary key for each, whatever the statistics say: a plan that was made while the table was
            -- small reads all of it, or all of the segment.
            select a.n from asked a cross join lateral (
              select c.segment from claims c where c.event = ${event} and c.n = a.n limit 1
            ) c where c.segment = a.segment
          )
          select exists (select 1 from lead) as held,
                 (select string_agg(n::text, ',') from (select n from recorded union select n from known) g) as granted`;
        assertHeld(rows);
        return new Set((rows[0]?.granted ?? undefined)?.split(",").map(Number));
      }),

    findPlaces: (event, numbers) =>
      database.run(async (sql) => {
        // A number has one live slot, found by its base, unless one of its slots was made good: then
        // the latest commit has the latest slot, wherever its run begins.
        const rows = await sql<PlaceRow[]>`
          with asked as materialized (
            select a.n, exists (select 1 from credits_used u where u.event = ${event} and u.n = a.n) as credited
              from unnest(${bigints(numbers)}::bigint[]) as a (n)
          ), found as (
            select a.n, s.* from asked a cross join lateral (
              select * from segments s
               where s.event = ${event} and s.base <= a.n and a.n < s.base + s.count
                 and ${isLiveSlot(sql, "a.n")}
               order by s.base desc, s.id desc limit 1
            ) s where not a.credited
            union all
            select a.n, s.* from asked a cross join lateral (
              select * from segments s
               where s.event = ${event} and s.base <= a.n and a.n < s.base + s.count
                 and ${isLiveSlot(sql, "a.n")}
               order by s.id desc limit 1
            ) s where a.credited
          )
          select s.n, s.event, s.id, s.base, s.count, s.from_ms, s.until_ms, s.cut_after_ms, s.settled,
                 coalesce((select c.segment from claims c
                            where c.event = ${event} and c.n = s.n) = s.id, false) as claimed,
                 exists (select 1 from credits_used u
                          where u.event = ${event} and u.n = s.n
                            and u.slot_s = floor(${opensAt(sql, "s.n")} / 1000)) as "creditUsed"
            from found s`;
        return new Map<number, PlaceFound>(
          rows.map((row) => {
            const { claimed, settled, creditUsed } = row;
            return [row.n, { segment: toSegment(row), claimed, settled, creditUsed }];
          }),
        );
      }),
  };
}
