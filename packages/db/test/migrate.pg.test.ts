import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { type Database, connectDatabase } from "../src/connect.ts";
import { migrate } from "../src/migrate.ts";

let database: Database;
let folder: string;
beforeEach(async () => {
  database = connectDatabase({ url: await freshDatabase(), applicationName: "migrate-test" });
  folder = await mkdtemp(join(tmpdir(), "migrations-"));
});
afterEach(async () => {
  await database.close();
  await rm(folder, { recursive: true });
});

const file = (name: string, text: string) => writeFile(join(folder, name), text);
const options = (namespace = "app") => ({ namespace, directory: pathToFileURL(`${folder}/`) });

test("each migration runs once, in order, whoever starts at the same time", async () => {
  await file("0001_first.sql", "create table a (n int);\ninsert into a values (1);");
  await file("0002_second.sql", "insert into a select n + 1 from a;");
  const runs = await Promise.all([1, 2, 3, 4].map(() => migrate(database, options())));
  expect(runs.flat()).toHaveLength(2);
  expect(new Set(runs.flat())).toEqual(new Set([1, 2]));
  expect(await database.sql`select n from a order by n`).toEqual([{ n: 1 }, { n: 2 }]);
  expect(await migrate(database, options())).toEqual([]);
});

test("a migration that fails leaves nothing of itself, and the ones before it stay", async () => {
  await file("0001_good.sql", "create table a (n int);");
  await file("0002_bad.sql", "create table b (n int); select no_such_function();");
  await expect(migrate(database, options())).rejects.toThrow(/no_such_function/);
  expect(await database.sql`select to_regclass('b') as b`).toEqual([{ b: null }]);
  await file("0002_bad.sql", "create table b (n int);");
  expect(await migrate(database, options())).toEqual([2]);
});

test("a migration that was changed after it was applied is refused; line ends do not count", async () => {
  await file("0001_first.sql", "create table a (n int);\n");
  await migrate(database, options());
  await file("0001_first.sql", "create table a (n int);\r\n");
  expect(await migrate(database, options())).toEqual([]);
  await file("0001_first.sql", "create table a (n bigint);\n");
  await expect(migrate(database, options())).rejects.toThrow(/was changed after it was applied/);
});

test.each(["0002_gap.sql", "1_short.sql", "0001-dash.sql", "0001_Upper.sql"])(
  "a file named %s stops the migration before anything runs",
  async (name) => {
    await file(name, "create table a (n int);");
    await expect(migrate(database, options())).rejects.toThrow(/without gaps/);
    expect(await database.sql`select to_regclass('a') as a`).toEqual([{ a: null }]);
  },
);

test("an older release runs on a database that a newer one has migrated", async () => {
  await file("0001_first.sql", "create table a (n int);");
  await file("0002_newer.sql", "alter table a add column m int;");
  await migrate(database, options());
  await rm(join(folder, "0002_newer.sql"));
  expect(await migrate(database, options())).toEqual([]);
});

test("two apps number their migrations apart in one database", async () => {
  await file("0001_first.sql", "create table if not exists a (n int);");
  expect(await migrate(database, options("mint"))).toEqual([1]);
  expect(await migrate(database, options("purchase"))).toEqual([1]);
});
