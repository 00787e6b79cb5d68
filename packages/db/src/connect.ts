/** PostgreSQL with bounds on everything: connections, waiting, statements, locks, and the whole call. */
import { assert } from "@vestibule/kernel/assert";
import postgres from "postgres";
import { DeadlineError, withDeadline } from "./deadline.system.ts";
import { toServiceError } from "./errors.ts";
import { Places } from "./places.ts";
import { openWatchedSocket } from "./watched-socket.system.ts";

type Types = { bigint: number };
/** The driver's tag: `sql\`select …\``. PostgreSQL's `bigint` is a JavaScript number here. */
export type Sql = postgres.Sql<Types>;
/** The same tag within a transaction. */
export type Transaction = postgres.TransactionSql<Types>;

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database`; `?search_path=name` chooses a schema. */
  readonly url: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly connectionsMax?: number;
  /** Calls that may wait for a connection; more are refused at once. */
  readonly waitersMax?: number;
  /** The whole call: waiting for a connection, every statement, the commit. */
  readonly deadlineMs?: number;
  /** PostgreSQL ends a statement that runs longer. Shorter than the deadline. */
  readonly statementTimeoutMs?: number;
  /** PostgreSQL ends a statement that waits longer for one lock. */
  readonly lockTimeoutMs?: number;
}

export interface CallOptions {
  readonly deadlineMs?: number;
  /**
   * What this call may have to wait for inside PostgreSQL, as a row that many want to lock. Calls of one key have
   * at most two fifths of the connections, and four fifths of the waiting room: one row never stops everything else.
   */
  readonly key?: string;
}

/** @throws DeadlineError once the call's deadline is over. */
export type StopIfLate = () => void;

export interface Database {
  /** Without deadline and without the bound on waiting: for tests and long-lived uses (`listen`). */
  readonly sql: Sql;
  /**
   * Runs statements outside of a transaction. Whoever makes several asks `stopIfLate` before each: nothing is
   * begun any more after the call was answered with `unavailable`.
   *
   * @throws AppError `unavailable` when PostgreSQL is away, slow, full or in recovery.
   */
  run<Value>(
    work: (sql: Sql, stopIfLate: StopIfLate) => Promise<Value>,
    options?: CallOptions,
  ): Promise<Value>;
  /**
   * Runs `work` in one transaction (read committed) and resolves after the commit. When it
   * rejects with `unavailable`, the commit may have happened: callers retry by id.
   *
   * @throws AppError `unavailable` as in `run`; whatever `work` throws, after a rollback.
   */
  transaction<Value>(
    work: (sql: Transaction) => Promise<Value>,
    options?: CallOptions,
  ): Promise<Value>;
  /**
   * Whether PostgreSQL answers within a second, on a connection that is for this question alone: busy is up.
   * However many ask at once, they ask once.
   */
  isUp(): Promise<boolean>;
  /**
   * Refuses a pooler that does not keep session settings: with such a one there would be no timeouts.
   * Refuses a server that answers a commit before it is on disk: a crash would undo what was promised.
   *
   * @throws Error that says what to do.
   */
  assertSessionSettings(): Promise<void>;
  /** Ends all connections, within a bound. Calls that still run are cut off at its end. */
  close(options?: { graceMs?: number }): Promise<void>;
}

const CONNECT_TIMEOUT_SECONDS = 3;
/** A statement that had to wait for its connection begins this much later at most. */
export const CONNECT_TIMEOUT_MS: number = CONNECT_TIMEOUT_SECONDS * 1_000;
/** A connection is replaced after this time, so that a moved server is found. */
const CONNECTION_LIFETIME_SECONDS = 1_800;
const CLOSE_GRACE_MS = 5_000;
const UP_DEADLINE_MS = 1_000;
/** Of the connections, what calls of one key have at most, and of those that may wait: a sale may be of one thing. */
const KEY_SHARE = 0.4;
const KEY_WAITERS_SHARE = 0.8;
/** What the network may add to a statement timeout before a silent connection counts as dead. */
const SILENCE_MARGIN_MS = 1_000;
/**
 * PostgreSQL gives up a connection whose network is gone within 11 s, locks included. No timeout of its own is in force while it
 * waits for the second half of a statement.
 */
const KEEPALIVE = {
  tcp_keepalives_idle: 5,
  tcp_keepalives_interval: 2,
  tcp_keepalives_count: 3,
} as const;
const BIGINT_OID = 20;

/** Connects lazily: the first call opens the first connection. */
export function connectDatabase(options: DatabaseOptions): Database {
  const limits = {
    connections: options.connectionsMax ?? 10,
    waiters: options.waitersMax ?? 1_250,
    deadlineMs: options.deadlineMs ?? 5_000,
    statementMs: options.statementTimeoutMs ?? 4_000,
    lockMs: options.lockTimeoutMs ?? 3_000,
  };
  assert(limits.statementMs < limits.deadlineMs, "a statement ends before its call's deadline");
  assert(limits.lockMs <= limits.statementMs, "a lock wait ends before its statement");

  const silentMsMax = limits.statementMs + SILENCE_MARGIN_MS;
  const sql = openPool(options, limits);
  // Connects when it is first asked.
  const probe = openPool(options, { ...limits, connections: 1 });
  let answering: Promise<boolean> | undefined;
  const places = new Places({
    places: limits.connections,
    waitersMax: limits.waiters,
    keyShare: KEY_SHARE,
    keyWaitersShare: KEY_WAITERS_SHARE,
  });

  async function call<Value>(
    work: (stopIfLate: StopIfLate) => Promise<Value>,
    { deadlineMs = limits.deadlineMs, key }: CallOptions,
  ): Promise<Value> {
    let expired = false;
    const stopIfLate = (): void => {
      if (expired) throw new DeadlineError("gave up before its next step");
    };
    try {
      const { entered, leave } = places.enter(key);
      const answer = entered.then(() => {
        // Whoever gave up while waiting for a place has nobody left to answer to.
        if (expired) return places.exit(key) as never;
        const running = work(stopIfLate);
        // The place is free again when the work is over, or when its connection must be dead.
        withDeadline(running, deadlineMs + silentMsMax).then(
          () => places.exit(key),
          () => places.exit(key),
        );
        return running;
      });
      return await withDeadline(answer, deadlineMs, () => {
        expired = true;
        leave();
      });
    } catch (error) {
      throw toServiceError(error);
    }
  }

  return {
    sql,
    run: (work, called = {}) => call((stopIfLate) => work(sql, stopIfLate), called),
    transaction: <Value>(work: (tx: Transaction) => Promise<Value>, called: CallOptions = {}) =>
      call<Value>(async (stopIfLate) => {
        const value = await sql.begin(async (tx) => {
          stopIfLate();
          const result = await work(tx);
          stopIfLate();
          return { result };
        });
        return value.result;
      }, called),
    isUp: () => {
      answering ??= withDeadline(probe`select 1`, UP_DEADLINE_MS)
        .then(
          () => true,
          () => false,
        )
        .finally(() => (answering = undefined));
      return answering;
    },
    assertSessionSettings: async () => {
      const [row] = await call(
        () => sql<{ statement: number; commit: string }[]>`
          select setting::int as statement, current_setting('synchronous_commit') as commit
            from pg_settings where name = 'statement_timeout'`,
        {},
      );
      if (row?.statement !== limits.statementMs) {
        throw new Error(
          "the database connection loses session settings: connect to PostgreSQL directly, or through a pooler in session mode",
        );
      }
      if (row.commit === "off") {
        throw new Error("PostgreSQL runs with synchronous_commit = off: turn it on");
      }
    },
    close: async ({ graceMs = CLOSE_GRACE_MS } = {}) => {
      const timeout = Math.ceil(graceMs / 1_000);
      await withDeadline(
        Promise.all([sql.end({ timeout }), probe.end({ timeout })]),
        graceMs + SILENCE_MARGIN_MS,
      ).catch(() => {});
    },
  };
}

function openPool(
  options: DatabaseOptions,
  limits: { connections: number; statementMs: number; lockMs: number },
): Sql {
  let nextHost = 0;
  return postgres(options.url, {
    max: limits.connections,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    max_lifetime: CONNECTION_LIFETIME_SECONDS,
    // A short wait: the call's own deadline decides how long anybody waits for a server that is away.
    backoff: (attempts) => Math.min(0.02 * 2 ** Math.min(attempts, 5), 0.25),
    fetch_types: false,
    onnotice: () => {},
    types: { bigint: { to: BIGINT_OID, from: [BIGINT_OID], serialize: String, parse: safeBigint } },
    connection: {
      application_name: options.applicationName,
      statement_timeout: limits.statementMs,
      lock_timeout: limits.lockMs,
      idle_in_transaction_session_timeout: limits.statementMs,
      ...KEEPALIVE,
    },
    // Not in the driver's types, but documented: it makes the stream that a connection uses.
    ...({
      socket: ({ host, port, path }: { host: string[]; port: number[]; path: string | false }) => {
        const index = nextHost++ % host.length;
        return openWatchedSocket({
          host: host[index] ?? "127.0.0.1",
          port: port[index] ?? 5432,
          path: path === false ? undefined : path,
          silentMsMax: limits.statementMs + SILENCE_MARGIN_MS,
        });
      },
    } as object),
  });
}

/**
 * A `bigint` column as a number: counters and epoch milliseconds stay far below 2^53.
 *
 * @throws RangeError beyond that, instead of a rounded value.
 */
export function safeBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError("a bigint from PostgreSQL beyond 2^53 - 1");
  return value;
}
