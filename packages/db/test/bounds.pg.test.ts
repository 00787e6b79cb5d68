import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { type Database, connectDatabase, safeBigint } from "../src/connect.ts";

let database: Database;
let url: string;
beforeAll(async () => {
  url = await freshDatabase();
  database = connectDatabase({
    url,
    applicationName: "bounds-test",
    connectionsMax: 2,
    waitersMax: 3,
    deadlineMs: 4_000,
    statementTimeoutMs: 2_000,
    lockTimeoutMs: 200,
  });
  await database.sql`create table t (id int primary key, n bigint)`;
});
afterAll(() => database.close());

const cause = (code: string) => ({ code: "unavailable", cause: { code } });

test("a statement that takes too long is ended by PostgreSQL", async () => {
  await expect(database.run((sql) => sql`select pg_sleep(30)`)).rejects.toMatchObject(
    cause("57014"),
  );
});

test("a wait for a lock is bounded, and the lock's holder goes on", async () => {
  await database.sql`insert into t values (1, 0)`;
  const holder = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const first = database.transaction(async (sql) => {
    await sql`update t set n = 1 where id = 1`;
    locked.resolve();
    await holder.promise;
  });
  await locked.promise;
  await expect(database.run((sql) => sql`update t set n = 2 where id = 1`)).rejects.toMatchObject(
    cause("55P03"),
  );
  holder.resolve();
  await first;
  expect(await database.run((sql) => sql`select n from t where id = 1`)).toEqual([{ n: 1 }]);
});

test("more calls than connections wait; more than may wait are refused at once", async () => {
  const calls = Array.from({ length: 8 }, () => database.run((sql) => sql`select pg_sleep(0.1)`));
  const outcomes = await Promise.allSettled(calls);
  const refused = outcomes.filter((each) => each.status === "rejected");
  expect(outcomes.filter((each) => each.status === "fulfilled")).toHaveLength(5);
  for (const each of refused) expect(each.reason).toMatchObject(cause("DATABASE_BUSY"));
});

test("a call that waits for a connection past its deadline is answered, and never runs", async () => {
  const busy = [1, 2].map(() => database.run((sql) => sql`select pg_sleep(1)`));
  let ran = false;
  const late = database.run(
    async (sql) => {
      ran = true;
      await sql`select 1`;
    },
    { deadlineMs: 50 },
  );
  await expect(late).rejects.toMatchObject(cause("DATABASE_DEADLINE"));
  await Promise.all(busy);
  expect(await database.isUp()).toBe(true);
  expect(ran).toBe(false);
});

test("whoever asks whether it is up is told so also while every connection is taken and everybody waits", async () => {
  const busy = Array.from({ length: 5 }, () => database.run((sql) => sql`select pg_sleep(0.6)`));
  const startedAt = performance.now();
  const asked = await Promise.all(Array.from({ length: 100 }, () => database.isUp()));
  expect(new Set(asked)).toEqual(new Set([true]));
  expect(performance.now() - startedAt).toBeLessThan(500);
  await Promise.all(busy);
});

test("calls that wait for one lock leave connections and waiting room to all others", async () => {
  await database.sql`insert into t values (20, 0), (21, 0)`;
  const other = connectDatabase({
    ...{ url, applicationName: "keys-test", connectionsMax: 5, waitersMax: 50 },
    ...{ deadlineMs: 2_000, statementTimeoutMs: 1_800, lockTimeoutMs: 1_500 },
  });
  const raise = (id: number) =>
    other.run((sql) => sql`update t set n = n + 1 where id = ${id}`, { key: `row ${id}` });
  const release = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const holder = database.transaction(async (sql) => {
    await sql`select from t where id = 20 for update`;
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  const stuck = Array.from({ length: 42 }, () => raise(20));
  await expect(raise(20)).rejects.toMatchObject(cause("DATABASE_BUSY"));
  const startedAt = performance.now();
  await Promise.all([
    ...Array.from({ length: 10 }, () => raise(21)),
    other.run((sql) => sql`select 1`),
  ]);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
  release.resolve();
  await Promise.all([holder, ...stuck]);
  expect(await database.sql`select id, n from t where id in (20, 21) order by id`).toEqual([
    { id: 20, n: 42 },
    { id: 21, n: 10 },
  ]);
  await other.close();
});

test("a call that is given up begins no further statement", async () => {
  const release = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<unknown>();
  const call = database.run(
    async (sql, stopIfLate) => {
      try {
        await sql`select 1`;
        await release.promise;
        stopIfLate();
        await sql`insert into t values (6, 6)`;
      } finally {
        ended.resolve(undefined);
      }
    },
    { deadlineMs: 50 },
  );
  await expect(call).rejects.toMatchObject(cause("DATABASE_DEADLINE"));
  release.resolve();
  await ended.promise;
  expect(await database.run((sql) => sql`select from t where id = 6`)).toHaveLength(0);
});

test("a transaction that is given up is rolled back, also when its work goes on", async () => {
  const release = Promise.withResolvers<void>();
  const call = database.transaction(
    async (sql) => {
      await sql`insert into t values (7, 7)`;
      await release.promise;
    },
    { deadlineMs: 50 },
  );
  await expect(call).rejects.toMatchObject(cause("DATABASE_DEADLINE"));
  release.resolve();
  await expect
    .poll(
      () => database.sql`select from pg_stat_activity
       where datname = current_database() and state like 'idle in transaction%'`,
    )
    .toHaveLength(0);
  expect(await database.run((sql) => sql`select from t where id = 7`)).toHaveLength(0);
});

test("a transaction that sits idle is ended by PostgreSQL", async () => {
  const never = Promise.withResolvers<void>();
  const call = database.transaction(async (sql) => {
    await sql`insert into t values (8, 8)`;
    await never.promise;
  });
  await expect(call).rejects.toMatchObject({ code: "unavailable" });
  expect(await database.run((sql) => sql`select from t where id = 8`)).toHaveLength(0);
});

test("what the work throws comes out as it is, after a rollback", async () => {
  const failure = new Error("ours");
  const call = database.transaction(async (sql) => {
    await sql`insert into t values (9, 9)`;
    throw failure;
  });
  await expect(call).rejects.toBe(failure);
  expect(await database.run((sql) => sql`select from t where id = 9`)).toHaveLength(0);
});

test("a read-only server is passing trouble", async () => {
  const call = database.transaction(async (sql) => {
    await sql`set transaction read only`;
    await sql`insert into t values (10, 10)`;
  });
  await expect(call).rejects.toMatchObject(cause("25006"));
});

test("a fault of ours is not passed off as passing trouble", async () => {
  await expect(database.run((sql) => sql`select * from no_such_table`)).rejects.toMatchObject({
    code: "42P01",
  });
});

test("a bigint is a number, and one beyond 2^53 - 1 is an error instead of a rounded one", async () => {
  const [row] = await database.run(
    (sql) =>
      sql`select ${1_767_225_600_123}::bigint as at, ${Number.MAX_SAFE_INTEGER}::bigint as top`,
  );
  expect(row).toEqual({ at: 1_767_225_600_123, top: Number.MAX_SAFE_INTEGER });
  await expect(database.run((sql) => sql`select 9007199254740992::bigint`)).rejects.toThrow(
    RangeError,
  );
  expect(() => safeBigint("-9007199254740992")).toThrow(RangeError);
  expect(await database.isUp()).toBe(true);
});

test("the session has the settings that were asked for, and losing them is noticed", async () => {
  await database.assertSessionSettings();
  const [kept] = await database.run(
    (sql) => sql`
      select current_setting('tcp_keepalives_idle') as idle,
             current_setting('tcp_keepalives_interval') as interval,
             current_setting('tcp_keepalives_count') as count`,
  );
  expect(kept).toEqual({ idle: "5", interval: "2", count: "3" });
  const url = new URL(await freshDatabase());
  const other = connectDatabase({ url: url.href, applicationName: "bounds-test" });
  await other.sql`select set_config('statement_timeout', '0', false)`;
  await expect(other.assertSessionSettings()).rejects.toThrow(/pooler in session mode/);
  await other.close();
});

test("a server that answers a commit before it is on disk is refused", async () => {
  const url = await freshDatabase();
  const name = new URL(url).pathname.slice(1);
  await database.sql.unsafe(`alter database ${name} set synchronous_commit = off`);
  const careless = connectDatabase({ url, applicationName: "careless" });
  await expect(careless.assertSessionSettings()).rejects.toThrow(/synchronous_commit/);
  await careless.close();
});
