import type { EventSettings } from "@vestibule/contracts/event-settings";
import { LAST_CALL_SECONDS_DEFAULT } from "@vestibule/contracts/limits";
import type { Database, Sql, Transaction } from "@vestibule/db/connect";
import { assert } from "@vestibule/kernel/assert";
import { type EpochMs, epochMs, ticketNumber } from "@vestibule/kernel/units";
import { fromStored, type SplitBypass, toStored } from "./bypass-split.ts";
import { fence, fenceTable, assertHeld } from "./fence.ts";
import type {
  AuditEntry,
  Cut,
  Demand,
  EventRecord,
  MintStore,
  NumberBlock,
  StoredSegment,
} from "./store.ts";

export function eventRepository(
  database: Database,
): Pick<MintStore, "loadEvents" | "loadEvent" | "createEvent" | "reserveNumbers" | "tally"> {
  return {
    loadEvents: () => database.transaction((sql) => load(sql)),
    loadEvent: async (event) => (await database.transaction((sql) => load(sql, event)))[0],

    createEvent: (lead, { settings, at, audit }) =>
      database.transaction(async (sql) => {
        await fence(sql, lead);
        const rows = await sql`
          insert into events (event, settings, created_at_ms)
          values (${settings.event}, ${sql.json(toStored(settings))}, ${at})
          on conflict (event) do nothing`;
        if (rows.count === 0) return false;
        await writeAudit(sql, { event: settings.event, version: 1, audit });
        return true;
      }),

    reserveNumbers: (lead, { event, first, through }) =>
      database.run(async (sql) => {
        // Absolute ends: the same reservation, sent again after a lost answer, changes nothing.
        // The event's row is locked before the block's, as in a step.
        const rows = await sql<{ held: boolean }[]>`
          with ${fenceTable(sql, lead)}, event as (
            update events set reserved = greatest(reserved, ${through}::bigint)
             where event = ${event} and exists (select 1 from lead)
            returning 1
          ), block as (
            insert into number_blocks (event, epoch, first, last, issued_through)
            select ${event}, ${lead.epoch}, ${first}::bigint, ${through}::bigint, ${first}::bigint - 1
              from event
            on conflict (event, epoch) do update set last = greatest(number_blocks.last, excluded.last)
             where number_blocks.first = excluded.first and not number_blocks.closed
            returning 1
          )
          select exists (select 1 from lead) as held, exists (select 1 from block) as done`;
        assertHeld(rows);
        assert(
          (rows[0] as { done?: boolean } | undefined)?.done === true,
          "a block grows in place",
        );
      }),

    tally: (event) =>
      database.run(async (sql) => {
        const [row] = await sql<{ claimed: number; lapsed: number }[]>`
          select (select count(*) from claims where event = ${event}) as claimed,
                 (select lapsed from events where event = ${event}) as lapsed`;
        return { claimed: row?.claimed ?? 0, lapsed: row?.lapsed ?? 0 };
      }),
  };
}

/** One line of the audit log, in the transaction of the deed. */
export async function writeAudit(
  sql: Transaction,
  { event, version, audit }: { event: string | null; version: number | null; audit: AuditEntry },
): Promise<void> {
  await sql`
    insert into audit_log (actor, action, event, version, detail)
    values (${audit.actor}, ${audit.action}, ${event}, ${version}, ${sql.json(audit.detail as never)})`;
}

/** Settings that events made by an older release do not have: as if they had been left out. */
const LATER = {
  lastCallSeconds: LAST_CALL_SECONDS_DEFAULT,
  presence: "auto",
  ratePlan: [],
  approximationBudget: 0,
  priceRange: "",
  tellLeft: true,
} satisfies Partial<EventSettings>;
type Later = keyof typeof LATER;

interface EventRow {
  event: string;
  settings: Omit<EventSettings, Later | "bypass"> &
    Partial<Pick<EventSettings, Later>> &
    SplitBypass;
  version: number;
  created_at_ms: number;
  held_since_ms: number | null;
  hold_scope: "entries" | "all" | null;
  hold_reason: string | null;
  soldout_at_ms: number | null;
  ended_at_ms: number | null;
  supply_out_at_ms: number | null;
  supply_seq: number;
  supply_last_call_at_ms: number | null;
  supply_last_call_seq: number;
  supply_left: number | null;
  supply_left_seq: number;
  reserved: number;
  line_version: number;
  next_number: number;
  frontier_ms: number;
  give_back_micro: number;
  granted: number;
  serving: number;
  lapsed: number;
}

export interface SegmentRow {
  event: string;
  id: number;
  base: number;
  count: number;
  from_ms: number;
  until_ms: number;
  cut_after_ms: number | null;
}

export function toSegment(row: SegmentRow): StoredSegment {
  return {
    id: row.id,
    base: ticketNumber(row.base),
    count: row.count,
    from: epochMs(row.from_ms),
    until: epochMs(row.until_ms),
    ...(row.cut_after_ms === null ? {} : { cutAfter: epochMs(row.cut_after_ms) }),
  };
}

async function load(sql: Sql | Transaction, event?: string): Promise<readonly EventRecord[]> {
  const only = event === undefined ? sql`` : sql`and event = ${event}`;
  // One snapshot for all five reads.
  await sql`set transaction isolation level repeatable read, read only`;
  const events = await sql<
    EventRow[]
  >`select * from events where archived_at_ms is null ${only} order by position`;
  const blocks = await sql<(NumberBlock & { event: string })[]>`
    select event, epoch, first, last, issued_through as "issuedThrough" from number_blocks
     where true ${only} order by event, first`;
  const segments = await sql<SegmentRow[]>`
    select event, id, base, count, from_ms, until_ms, cut_after_ms from segments
     where not settled ${only} order by event, id`;
  const demand = await sql<(Demand & { event: string })[]>`
    select event, position, first, last from demand where true ${only} order by event, position`;
  const cuts = await sql<{ event: string; since_ms: number; until_ms: number }[]>`
    select event, since_ms, until_ms from cuts where true ${only} order by event, since_ms`;
  const byEvent = {
    blocks: Map.groupBy(blocks, (row) => row.event),
    segments: Map.groupBy(segments, (row) => row.event),
    demand: Map.groupBy(demand, (row) => row.event),
    cuts: Map.groupBy(cuts, (row) => row.event),
  };
  return events.map((row) =>
    toRecord(row, {
      blocks: (byEvent.blocks.get(row.event) ?? []).map(
        ({ epoch, first, last, issuedThrough }) => ({
          epoch,
          first,
          last,
          issuedThrough,
        }),
      ),
      segments: (byEvent.segments.get(row.event) ?? []).map(toSegment),
      demand: (byEvent.demand.get(row.event) ?? []).map(({ position, first, last }) => ({
        position,
        first,
        last,
      })),
      cuts: (byEvent.cuts.get(row.event) ?? []).map(({ since_ms, until_ms }) => ({
        since: epochMs(since_ms),
        until: epochMs(until_ms),
      })),
    }),
  );
}

interface Parts {
  readonly blocks: readonly NumberBlock[];
  readonly segments: readonly StoredSegment[];
  readonly demand: readonly Demand[];
  readonly cuts: readonly Cut[];
}

function toRecord(row: EventRow, parts: Parts): EventRecord {
  const { held_since_ms: since, hold_scope: scope } = row;
  return {
    settings: fromStored({ ...LATER, ...row.settings }),
    version: row.version,
    createdAt: epochMs(row.created_at_ms),
    facts: {
      hold:
        since === null || scope === null
          ? undefined
          : { since: epochMs(since), scope, reason: row.hold_reason ?? "" },
      soldoutAt: moment(row.soldout_at_ms),
      endedAt: moment(row.ended_at_ms),
      supply: {
        outAt: moment(row.supply_out_at_ms),
        seq: row.supply_seq,
        lastCall: { at: moment(row.supply_last_call_at_ms), seq: row.supply_last_call_seq },
        left: { atMost: row.supply_left ?? undefined, seq: row.supply_left_seq },
      },
    },
    progress: {
      line: {
        nextNumber: ticketNumber(row.next_number),
        frontier: epochMs(row.frontier_ms),
        giveBackMicro: row.give_back_micro,
        granted: row.granted,
      },
      serving: row.serving,
      lapsed: row.lapsed,
    },
    lineVersion: row.line_version,
    reserved: row.reserved,
    ...parts,
  };
}

function moment(value: number | null): EpochMs | undefined {
  return value === null ? undefined : epochMs(value);
}
