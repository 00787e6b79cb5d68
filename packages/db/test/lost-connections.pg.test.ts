import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { startLocalPostgres } from "@vestibule/testkit/local-postgres";
import { Wire } from "@vestibule/testkit/wire";
import { type Database, type DatabaseOptions, connectDatabase } from "../src/connect.ts";

const opened: Database[] = [];
const open = (url: string, options: Partial<DatabaseOptions> = {}): Database => {
  const database = connectDatabase({ url, applicationName: "db-test", ...options });
  opened.push(database);
  return database;
};
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close({ graceMs: 500 })));
});

test("connections that are killed again and again never leave a call without an answer", async () => {
  const url = await freshDatabase();
  const database = open(url, { applicationName: "victim", connectionsMax: 20 });
  const killer = open(url);
  await database.sql`create table t (n int)`;
  const kill = { on: true };
  const kills = (async () => {
    while (kill.on) {
      await killer.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'victim' and datname = current_database()
           and query like '%insert into t%' and state <> 'idle' limit 3`;
    }
  })();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 300 }, (_, n) => database.run((sql) => sql`insert into t values (${n})`)),
  );
  kill.on = false;
  await kills;
  for (const each of outcomes) {
    if (each.status === "fulfilled") continue;
    expect(each.reason).toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
    expect(each.reason).not.toMatchObject({ cause: { code: "DATABASE_DEADLINE" } });
  }
  await expect.poll(() => database.isUp()).toBe(true);
});

test("a server that restarts is used again without a restart of ours", async () => {
  const home = await mkdtemp(join(tmpdir(), "restart-"));
  await chmod(home, 0o777); // the server runs as another user when we are root
  const options = { dataDir: join(home, "data"), password: "restart-test" };
  const server = await startLocalPostgres(options);
  const database = open(server.url());
  await database.run((sql) => sql`create table t (n int)`);
  await server.stop();
  await expect(database.run((sql) => sql`select 1`)).rejects.toMatchObject({ code: "unavailable" });
  expect(await database.isUp()).toBe(false);
  const again = await startLocalPostgres({ ...options, port: server.port });
  await expect.poll(() => database.isUp(), { timeout: 5_000 }).toBe(true);
  expect(await database.run((sql) => sql`insert into t values (1) returning n`)).toEqual([
    { n: 1 },
  ]);
  await database.close();
  await again.stop();
  await rm(home, { recursive: true });
});

test("a network that swallows everything is answered within the deadline, and left behind", async () => {
  const wire = await Wire.open();
  const database = open(wire.through(await freshDatabase()), {
    connectionsMax: 2,
    deadlineMs: 600,
    statementTimeoutMs: 500,
    lockTimeoutMs: 500,
  });
  expect(await database.isUp()).toBe(true);
  wire.break("lose");
  const startedAt = performance.now();
  const calls = await Promise.allSettled([
    ...Array.from({ length: 10 }, () => database.run((sql) => sql`select 1`)),
    database.transaction(async (sql) => {
      await Promise.all([sql`select 1`, sql`select 2`, sql`select 3`]);
    }),
  ]);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  for (const call of calls) {
    expect(call).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
  }
  wire.mend();
  await expect.poll(() => database.isUp(), { timeout: 10_000 }).toBe(true);
  wire.close();
});

test("statements queued in a transaction whose connection is closed are all settled", async () => {
  const url = await freshDatabase();
  const database = open(url, {
    deadlineMs: 3_000,
    statementTimeoutMs: 2_000,
    lockTimeoutMs: 2_000,
  });
  const killer = open(url);
  const call = database.transaction(async (sql) => {
    const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    const queued = [sql`select pg_sleep(1)`, sql`select 1`, sql`select 2`];
    await killer.sql`select pg_terminate_backend(${row?.pid ?? 0})`;
    await Promise.all(queued);
  });
  await expect(call).rejects.toMatchObject({ code: "unavailable" });
  expect(await database.run((sql) => sql`select 1 as one`)).toEqual([{ one: 1 }]);
});

test("a transaction that lost its connection never speaks on the one that replaced it", async () => {
  const url = await freshDatabase();
  const [database, killer] = [open(url, { connectionsMax: 1 }), open(url)];
  await database.sql`create table t (n int)`;
  const reached = Promise.withResolvers<number>();
  const goOn = Promise.withResolvers<void>();
  const late = Promise.withResolvers<unknown>();
  const call = database.transaction(async (sql) => {
    const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
    reached.resolve(row?.pid ?? 0);
    await goOn.promise;
    // Nobody waits for this one any more; it must not run outside of its transaction.
    await sql`insert into t values (1)`.then(late.resolve, late.resolve);
  });
  const lost = call.catch((error: unknown) => error);
  await killer.sql`select pg_terminate_backend(${await reached.promise})`;
  expect(await lost).toMatchObject({ code: "unavailable" });
  await database.sql`select 1`;
  goOn.resolve();
  expect(await late.promise).toMatchObject({ code: "CONNECTION_CLOSED" });
  expect(await database.sql`select from t`).toHaveLength(0);
});

test("shutdown ends in bounded time while a statement never comes back", async () => {
  const database = open(await freshDatabase());
  const call = database.run((sql) => sql`select pg_sleep(30)`);
  const settled = Promise.allSettled([call]);
  await expect
    .poll(() => database.sql`select from pg_stat_activity where query like '%pg_sleep(30)%'`)
    .not.toHaveLength(0);
  const startedAt = performance.now();
  await database.close({ graceMs: 1_000 });
  expect(performance.now() - startedAt).toBeLessThan(2_500);
  expect((await settled)[0]).toMatchObject({ status: "rejected", reason: { code: "unavailable" } });
});
