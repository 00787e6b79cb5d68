import type { Database, Transaction } from "@vestibule/db/connect";
import { assert } from "@vestibule/kernel/assert";
import { unavailable } from "../unavailable.ts";
import { STEP_DEADLINE_MS } from "../limits.ts";
import { bigints } from "./arrays.ts";
import { toStored } from "./bypass-split.ts";
import { type SegmentRow, toSegment, writeAudit } from "./event-repository.ts";
import { fence } from "./fence.ts";
import { isLiveSlot } from "./live-slot.ts";
import {
  type EventChange,
  type Lead,
  LineMovedError,
  type MintStore,
  type StepRequest,
  type StoredSegment,
} from "./store.ts";

export function stepRepository(database: Database): Pick<MintStore, "step"> {
  return {
    step: (lead, request) =>
      database.transaction(
        async (sql) => {
          await fence(sql, lead);
          const version = await lockEvent(sql, request);
          const claimed = await countClaims(sql, request);
          const change = request.decide(claimed);
          const segments = await insertSegments(sql, lead, request.event, change);
          // The rest is sent together: PostgreSQL runs it in order.
          await Promise.all([
            ...changeSegments(sql, request.event, change),
            ...changeDemand(sql, request.event, change),
            useCredits(sql, request.event, change),
            changeBlock(sql, lead, request.event, change),
            changeEvent(sql, request.event, change),
            change.audit === undefined
              ? undefined
              : writeAudit(sql, {
                  event: request.event,
                  version: version + 1,
                  audit: change.audit,
                }),
            change.note === undefined
              ? undefined
              : writeAudit(sql, { event: request.event, version, audit: change.note }),
          ]);
          if (request.isFresh?.() === false) throw unavailable("a step was decided too long ago");
          return { change, segments };
        },
        { deadlineMs: STEP_DEADLINE_MS },
      ),
  };
}

async function lockEvent(sql: Transaction, { event, lineVersion }: StepRequest): Promise<number> {
  const [row] = await sql<{ version: number }[]>`
    select version from events
     where event = ${event} and line_version = ${lineVersion} for no key update`;
  if (row === undefined) throw new LineMovedError("the line was planned on another state");
  return row.version;
}

/**
 * The lock makes a claim that is on its way either commit first, and be counted, or find its segment
 * settled. Counting is a statement of its own: it sees what committed while the lock was awaited.
 */
async function countClaims(
  sql: Transaction,
  { event, settle }: StepRequest,
): Promise<ReadonlyMap<number, number>> {
  if (settle.length === 0) return new Map();
  const locked = await sql`
    select id from segments where event = ${event} and id = any(${bigints(settle)}::bigint[]) and not settled
     order by id for update`;
  assert(locked.length === settle.length, "a segment is settled once");
  const rows = await sql<{ segment: number; claimed: number }[]>`
    select segment, count(*) as claimed from claims
     where event = ${event} and segment = any(${bigints(settle)}::bigint[]) group by segment`;
  const claimed = new Map(settle.map((id) => [id, 0]));
  for (const row of rows) claimed.set(row.segment, row.claimed);
  return claimed;
}

async function insertSegments(
  sql: Transaction,
  lead: Lead,
  event: string,
  { segments = [] }: EventChange,
): Promise<readonly StoredSegment[]> {
  if (segments.length === 0) return [];
  const column = (read: (segment: (typeof segments)[number]) => number) => segments.map(read);
  const rows = await sql<SegmentRow[]>`
    insert into segments (event, base, count, from_ms, until_ms, epoch)
    select ${event}, s.base, s.count, s.from_ms, s.until_ms, ${lead.epoch}
      from unnest(${bigints(column((s) => s.base))}::bigint[], ${bigints(column((s) => s.count))}::bigint[],
                  ${bigints(column((s) => s.from))}::bigint[], ${bigints(column((s) => s.until))}::bigint[])
           with ordinality as s (base, count, from_ms, until_ms, position)
     order by s.position
    returning event, id, base, count, from_ms, until_ms, cut_after_ms`;
  assert(rows.length === segments.length, "every planned segment is stored");
  return rows.map(toSegment).sort((a, b) => a.id - b.id);
}

function changeSegments(
  sql: Transaction,
  event: string,
  { settled = [], cutSegments = [], cut }: EventChange,
): Promise<unknown>[] {
  const writes: Promise<unknown>[] = [];
  if (cutSegments.length > 0) {
    writes.push(sql`
      update segments s set cut_after_ms = c.at
        from unnest(${bigints(cutSegments.map(({ id }) => id))}::bigint[],
                    ${bigints(cutSegments.map(({ cutAfter }) => cutAfter))}::bigint[]) as c (id, at)
       where s.event = ${event} and s.id = c.id`);
    // Whoever had claimed a slot that is cut claims the new one: the old claim counts for nothing.
    writes.push(sql`
      delete from claims c using segments s
       where c.event = ${event} and s.event = c.event and s.id = c.segment
         and s.id = any(${bigints(cutSegments.map(({ id }) => id))}::bigint[])
         and not ${isLiveSlot(sql, "c.n")}`);
  }
  if (settled.length > 0) {
    writes.push(sql`
      update segments s set settled = true, claimed = c.claimed, lapsed = c.lapsed
        from unnest(${bigints(settled.map(({ id }) => id))}::bigint[],
                    ${bigints(settled.map(({ claimed }) => claimed))}::bigint[],
                    ${bigints(settled.map(({ lapsed }) => lapsed))}::bigint[]) as c (id, claimed, lapsed)
       where s.event = ${event} and s.id = c.id`);
  }
  if (cut !== undefined) {
    writes.push(sql`
      insert into cuts (event, since_ms, until_ms) values (${event}, ${cut.since}, ${cut.until})`);
  }
  return writes;
}

function changeDemand(
  sql: Transaction,
  event: string,
  { demandDone = [], demandSet = [] }: EventChange,
): Promise<unknown>[] {
  const writes: Promise<unknown>[] = [];
  if (demandDone.length > 0) {
    writes.push(sql`
      delete from demand where event = ${event} and position = any(${bigints(demandDone)}::bigint[])`);
  }
  if (demandSet.length > 0) {
    writes.push(sql`
      insert into demand (event, position, first, last)
      select ${event}, d.position, d.first, d.last
        from unnest(${bigints(demandSet.map(({ position }) => position))}::bigint[],
                    ${bigints(demandSet.map(({ first }) => first))}::bigint[],
                    ${bigints(demandSet.map(({ last }) => last))}::bigint[]) as d (position, first, last)
      on conflict (event, position) do update set first = excluded.first, last = excluded.last`);
  }
  return writes;
}

/** The primary key lets no slot be made good twice, whoever planned it. */
async function useCredits(
  sql: Transaction,
  event: string,
  { creditsUsed = [] }: EventChange,
): Promise<void> {
  if (creditsUsed.length === 0) return;
  await sql`
    insert into credits_used (event, n, slot_s, used_at_ms)
    select ${event}, c.n, c.slot, c.at
      from unnest(${bigints(creditsUsed.map(({ n }) => n))}::bigint[],
                  ${bigints(creditsUsed.map(({ slot }) => slot))}::bigint[],
                  ${bigints(creditsUsed.map(({ at }) => at))}::bigint[]) as c (n, slot, at)`;
}

async function changeBlock(
  sql: Transaction,
  lead: Lead,
  event: string,
  { issuedThrough }: EventChange,
): Promise<void> {
  if (issuedThrough === undefined) return;
  await sql`
    update number_blocks set issued_through = greatest(issued_through, ${issuedThrough}::bigint)
     where event = ${event} and epoch = ${lead.epoch}`;
}

async function changeEvent(
  sql: Transaction,
  event: string,
  { progress, settings, facts, audit }: EventChange,
): Promise<void> {
  const line = progress?.line;
  const hold = facts?.hold;
  await sql`
    update events set line_version = line_version + 1
      ${audit === undefined ? sql`` : sql`, version = version + 1`}
      ${settings === undefined ? sql`` : sql`, settings = ${sql.json(toStored(settings))}`}
      ${
        facts === undefined
          ? sql``
          : sql`, held_since_ms = ${hold?.since ?? null}, hold_scope = ${hold?.scope ?? null},
                  hold_reason = ${hold?.reason ?? null}, soldout_at_ms = ${facts.soldoutAt ?? null},
                  ended_at_ms = ${facts.endedAt ?? null},
                  supply_out_at_ms = ${facts.supply.outAt ?? null}, supply_seq = ${facts.supply.seq},
                  supply_last_call_at_ms = ${facts.supply.lastCall.at ?? null},
                  supply_last_call_seq = ${facts.supply.lastCall.seq},
                  supply_left = ${facts.supply.left.atMost ?? null},
                  supply_left_seq = ${facts.supply.left.seq}`
      }
      ${
        progress === undefined || line === undefined
          ? sql``
          : sql`, next_number = ${line.nextNumber}, frontier_ms = ${line.frontier},
                  give_back_micro = ${line.giveBackMicro}, granted = ${line.granted},
                  serving = greatest(serving, ${progress.serving}::bigint), lapsed = ${progress.lapsed}`
      }
     where event = ${event}`;
}
