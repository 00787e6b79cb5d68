import type { Database, Sql, Transaction } from "@vestibule/db/connect";
import { databaseErrorCode } from "@vestibule/db/errors";
import { AppError } from "@vestibule/kernel/app-error";
import {
  HOLDER_SILENT_MS,
  LEASE_AHEAD_MS_MAX,
  LEASE_DEADLINE_MS,
  LEASE_LOCK_MS,
} from "../limits.ts";
import { bigints, texts } from "./arrays.ts";
import { writeAudit } from "./event-repository.ts";
import { fence } from "./fence.ts";
import type {
  BlockEnd,
  Forgotten,
  Lead,
  LeaseAnswer,
  LeaseRequest,
  LeaseSeen,
  MintStore,
  Renewal,
} from "./store.ts";
import { planTakeover } from "./takeover.ts";

/** Of the server that answers; every promotion of a replica begins a new timeline. Any role may ask. */
const historyOf = (sql: Sql | Transaction) => sql`
  (select system_identifier from pg_control_system()) || '/' ||
    ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint`;

/** SQLSTATE of a server that does not say: not for this role, not here, never heard of. */
const UNTOLD: ReadonlySet<string | undefined> = new Set(["42501", "0A000", "42883"]);

export function leaseRepository(
  database: Database,
): Pick<MintStore, "acquireLease" | "renewLease" | "releaseLease"> {
  return {
    acquireLease: async (request) => {
      const deadline = { deadlineMs: LEASE_DEADLINE_MS };
      const attempt = () => database.transaction((sql) => acquire(sql, request), deadline);
      try {
        return await attempt();
      } catch (error) {
        if (!isLockTimeout(error)) throw error;
        await database.run(endSilentHolders, deadline);
        return attempt();
      }
    },

    renewLease: async (lead, ttlMs) => {
      try {
        return await database.run((sql) => renew(sql, lead, ttlMs), {
          deadlineMs: LEASE_DEADLINE_MS,
        });
      } catch (error) {
        // Where the lease was taken the server said it: this one is another, or says it no more.
        if (UNTOLD.has(databaseErrorCode(error))) return "moved";
        throw error;
      }
    },

    releaseLease: (lead, ends) =>
      database.transaction(async (sql) => {
        await fence(sql, lead);
        await giveBack(sql, lead, ends);
        await sql`update lease set released = true where id = 1`;
      }),
  };
}

/** When the lease runs out, epoch milliseconds. */
const untilOf = (sql: Sql | Transaction) =>
  sql`floor(extract(epoch from expires_at) * 1000)::bigint`;

/** Given back, run out, out of all reason, or of a leader whose successor is forgotten: it may not know. */
const isFree = (sql: Sql | Transaction, seen: LeaseSeen) => sql`
  (released or expires_at < clock_timestamp() or epoch < ${seen.epoch}
    or expires_at > clock_timestamp() + ${`${LEASE_AHEAD_MS_MAX} milliseconds`}::interval)`;

interface Row extends LeaseSeen {
  released: boolean;
  history: string | null;
  /** Milliseconds. */
  silent: number;
}

const UNKNOWN: NonNullable<LeaseRequest["known"]> = { seen: { epoch: 0, until: 0 }, ends: [] };

async function acquire(sql: Transaction, request: LeaseRequest): Promise<LeaseAnswer> {
  const { holder, ttlMs, gapNumbers, known: { seen, ends } = UNKNOWN } = request;
  // A first look without a lock: a standby must not make grants wait twice a second.
  const [looked] = await sql<(LeaseSeen & { free: boolean })[]>`
    select epoch, ${untilOf(sql)} as until, ${isFree(sql, seen)} as free from lease where id = 1`;
  if (looked === undefined) throw new Error("the lease has a row");
  const { free, ...now } = looked;
  if (!free) return { seen: now };
  await sql`select set_config('lock_timeout', ${String(LEASE_LOCK_MS)}, true)`;
  const [row] = await sql<Row[]>`
    select epoch, released, history, ${untilOf(sql)} as until,
           floor(extract(epoch from clock_timestamp() - expires_at) * 1000)::bigint + ${ttlMs}::bigint as silent
      from lease
     where id = 1 and ${isFree(sql, seen)} for update`;
  if (row === undefined) return { seen: now };
  const history = await readHistory(sql);
  const { epoch, skip, forgotten } = planTakeover(
    { ...row, history: row.history ?? undefined, silentMs: row.silent },
    { history, seen, gapNumbers },
  );
  if (forgotten !== undefined) await noteForgotten(sql, { forgotten, history, epoch });
  if (skip > 0) await skipNumbers(sql, skip, forgotten === undefined ? [] : ends);
  await sql`update number_blocks set closed = true where not closed`;
  await sql`
    update lease set holder = ${holder}, epoch = ${epoch}, released = false, history = ${history ?? null},
           expires_at = clock_timestamp() + ${`${ttlMs} milliseconds`}::interval
     where id = 1`;
  return { lead: { holder, epoch, history }, forgotten };
}

async function renew(sql: Sql, lead: Lead, ttlMs: number): Promise<Renewal> {
  const { holder, epoch, history } = lead;
  const same = history === undefined ? sql`true` : sql`${historyOf(sql)} = ${history}`;
  const [row] = await sql<{ same: boolean }[]>`
    with now as materialized (select ${same} as same)
    update lease set expires_at =
           case when now.same then clock_timestamp() + ${`${ttlMs} milliseconds`}::interval else expires_at end
      from now
     where id = 1 and epoch = ${epoch} and holder = ${holder} and not released
    returning now.same`;
  if (row === undefined) return "lost";
  return row.same ? "held" : "moved";
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof AppError && databaseErrorCode(error.cause) === "55P03";
}

/**
 * Ends connections that keep the lease's row locked and say nothing: their mint is stopped, or cut off from here. PostgreSQL's
 * own timeouts come later, and not at all for one that was cut off while it prepared a statement. Any role may end its own.
 */
async function endSilentHolders(sql: Sql): Promise<void> {
  await sql`
    select pg_terminate_backend(a.pid)
      from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.relation = 'lease'::regclass and l.granted and a.pid <> pg_backend_pid()
       and a.datname = current_database()
       and a.wait_event_type = 'Client'
       and a.state_change < clock_timestamp() - ${`${HOLDER_SILENT_MS} milliseconds`}::interval`;
}

async function readHistory(sql: Transaction): Promise<string | undefined> {
  try {
    const [row] = await sql.savepoint(
      (inner) => inner<{ history: string }[]>`select ${historyOf(inner)} as history`,
    );
    return row?.history;
  } catch (error) {
    if (UNTOLD.has(databaseErrorCode(error))) return undefined;
    throw error;
  }
}

/**
 * Every event skips them, from whatever is known on. Also one that is over: it may be so by this server's clock alone, and a
 * rehearsal is opened again.
 */
async function skipNumbers(
  sql: Transaction,
  skip: number,
  ends: readonly BlockEnd[],
): Promise<void> {
  await sql`
    update events v set reserved = greatest(v.reserved, coalesce(e.through, 0)) + ${skip}
      from events w left join unnest(${texts(ends.map(({ event }) => event))}::text[],
             ${bigints(ends.map(({ issuedThrough }) => issuedThrough))}::bigint[]) as e (event, through)
             on e.event = w.event
     where v.event = w.event and v.archived_at_ms is null`;
}

function noteForgotten(
  sql: Transaction,
  {
    forgotten,
    history,
    epoch,
  }: { forgotten: Forgotten; history: string | undefined; epoch: number },
): Promise<void> {
  const detail = { ...forgotten, to: history, epoch };
  const audit = { actor: "mint", action: "database-forgot", detail };
  return writeAudit(sql, { event: null, version: null, audit });
}

async function giveBack(sql: Transaction, lead: Lead, ends: readonly BlockEnd[]): Promise<void> {
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
