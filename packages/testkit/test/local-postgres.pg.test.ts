import postgres from "postgres";
import { expect, test } from "vitest";

import { freshDatabase } from "../src/fresh-database.ts";
import { startLocalPostgres } from "../src/local-postgres.ts";

test("each database is empty and apart from the others", async () => {
  const [first, second] = [postgres(await freshDatabase()), postgres(await freshDatabase())];
  await first`create table here (n int)`;
  expect(await second`select to_regclass('here') as found`).toEqual([{ found: null }]);
  await Promise.all([first.end(), second.end()]);
});

test("a server that was stopped answers nobody, and a wrong password opens nothing", async () => {
  const server = await startLocalPostgres();
  const wrong = new URL(server.url());
  wrong.password = "wrong";
  const refused = postgres(wrong.href, { max: 1 });
  await expect(refused`select 1`).rejects.toThrow(/password authentication failed/);
  await refused.end();

  await server.stop();
  const late = postgres(server.url(), { max: 1, connect_timeout: 1 });
  await expect(late`select 1`).rejects.toThrow(/ECONNREFUSED/);
  await late.end();
});

test("a server that is killed or restarted comes back on its port with what was committed", async () => {
  const server = await startLocalPostgres();
  const { pid } = server;
  const sql = postgres(server.url(), { max: 1, onnotice: () => {} });
  await sql`create table kept (n int)`;
  await server.kill();
  const answers = async (): Promise<boolean> => (await sql`select 1`.catch(() => [])).length > 0;
  await expect.poll(answers).toBe(false);
  await server.restart();
  await sql`insert into kept values (1)`;
  await server.restart();
  expect(await sql`select n from kept`).toEqual([{ n: 1 }]);
  expect(server.pid).not.toBe(pid);
  await sql.end();
  await server.stop();
});
