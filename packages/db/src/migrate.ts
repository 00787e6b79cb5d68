/** Applies numbered `.sql` files once each, in order, whoever else does the same at the same time. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { Database, Transaction } from "./connect.ts";

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
  /** SHA-256 of the text, hex. */
  readonly checksum: string;
}

export interface MigrateOptions {
  /** Whose numbering it is (`mint`, `purchase`): two apps may share one database. */
  readonly namespace: string;
  /** Folder of `0001_name.sql`, `0002_name.sql` … */
  readonly directory: URL;
}

/** "vst" as a number: the advisory lock that keeps two migrating processes apart. */
const LOCK_KEY = 0x76_73_74;
const FILE_NAME = /^(\d{4})_([a-z0-9_]+)\.sql$/;
/** A migration may take longer than a request may. */
const DEADLINE_MS = 120_000;

/**
 * Brings the database up to date; safe to call at every start and from many processes. A database
 * with migrations newer than this folder is fine: migrations only add, and an older release runs on.
 *
 * @returns the versions applied by this call.
 * @throws Error when a file was changed after it was applied, or numbers are missing or double.
 */
export async function migrate(
  database: Database,
  { namespace, directory }: MigrateOptions,
): Promise<readonly number[]> {
  const migrations = await readMigrations(directory);
  const applied: number[] = [];
  for (const migration of [undefined, ...migrations]) {
    const done = await database.transaction(
      async (sql) => {
        await sql.unsafe("set local statement_timeout = '110s'; set local lock_timeout = '60s'");
        await sql`select pg_advisory_xact_lock(${LOCK_KEY})`;
        if (migration === undefined) return createLedger(sql);
        return applyOnce(sql, namespace, migration);
      },
      { deadlineMs: DEADLINE_MS },
    );
    if (done && migration !== undefined) applied.push(migration.version);
  }
  return applied;
}

/** @throws Error on a file name that is no migration, or a gap in the numbers. */
async function readMigrations(directory: URL): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (file, index) => {
      const [, digits, name] = FILE_NAME.exec(file) ?? [];
      if (digits === undefined || name === undefined || Number(digits) !== index + 1) {
        throw new Error(`${file}: migrations are named 0001_name.sql and numbered without gaps`);
      }
      const text = (await readFile(new URL(file, directory), "utf8")).replaceAll("\r\n", "\n");
      const checksum = createHash("sha256").update(text).digest("hex");
      return { version: index + 1, name, text, checksum };
    }),
  );
}

async function createLedger(sql: Transaction): Promise<boolean> {
  await sql`
    create table if not exists vestibule_migrations (
      namespace text not null,
      version integer not null,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now(),
      primary key (namespace, version)
    )`;
  return false;
}

async function applyOnce(
  sql: Transaction,
  namespace: string,
  { version, name, text, checksum }: Migration,
): Promise<boolean> {
  const [known] = await sql<{ checksum: string }[]>`
    select checksum from vestibule_migrations
     where namespace = ${namespace} and version = ${version}`;
  if (known !== undefined) {
    if (known.checksum === checksum) return false;
    throw new Error(`migration ${version} (${name}) was changed after it was applied`);
  }
  await sql.unsafe(text).simple();
  await sql`
    insert into vestibule_migrations (namespace, version, name, checksum)
    values (${namespace}, ${version}, ${name}, ${checksum})`;
  return true;
}
