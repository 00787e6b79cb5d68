/**
 * A failover to a replica that lacks the last commits, with two real servers: the replica is a copy of the first one's
 * data, and is promoted by PostgreSQL's own means. ADR 16.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectDatabase } from "@vestibule/db/connect";
import { sleep } from "@vestibule/feed/fetch-text.system";
import {
  copyPostgresData,
  type LocalPostgres,
  startLocalPostgres,
} from "@vestibule/testkit/local-postgres";
import { Wire } from "@vestibule/testkit/wire";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EPOCHS_PER_HISTORY, LEASE_TRY_EVERY_MS, SAFETY_GAP_NUMBERS } from "../src/limits.ts";
import { MintProcess, newVisitor } from "./support/service.ts";
import { payload } from "./support/world.ts";

const JOINS = 300;

describe("a database that forgets that the leader changed", () => {
  let folder: string;
  let servers: LocalPostgres[];
  let mints: MintProcess[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "vestibule-forgets-"));
    // The server's own user must be able to reach it.
    chmodSync(folder, 0o755);
    servers = [];
    mints = [];
  });
  afterEach(async () => {
    for (const mint of mints) mint.child.kill("SIGCONT");
    await Promise.all(mints.map((mint) => mint.kill("SIGKILL")));
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  });

  const serve = async (data: string, more: { isReplica?: boolean } = {}) => {
    const dataDir = join(folder, data);
    const server = await startLocalPostgres({ dataDir, password: "test", ...more });
    servers.push(server);
    return server;
  };
  const lead = async (url: string) => {
    const mint = await MintProcess.start(url);
    mints.push(mint);
    return mint;
  };
  const join300 = async ({ client }: MintProcess): Promise<number[]> => {
    const answers = await Promise.all(
      Array.from({ length: JOINS }, () => client.join(newVisitor())),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    return answers.map(({ body }) => body.number as number);
  };
  const statement = async ({ client }: MintProcess) => {
    const drip = async () => (await client.ask("GET", "/v1/events/spring/drip")).body as string;
    return payload(await drip()) as { seq: number };
  };
  const promote = async (replica: LocalPostgres) => {
    const database = connectDatabase({ url: replica.url(), applicationName: "test" });
    await database.sql`select pg_promote()`;
    return database;
  };

  it("law 1: a new mint repeats no number and no statement of the forgotten leader", async () => {
    const first = await serve("first");
    const before = await lead(first.url());
    await before.client.create({ ratePerMinute: 6_000 });
    await before.kill("SIGTERM");
    await first.stop();
    copyPostgresData(join(folder, "first"), join(folder, "replica"));

    const again = await serve("first");
    const forgotten = await lead(again.url());
    const numbers = await join300(forgotten);
    const { seq } = await statement(forgotten);
    await forgotten.kill("SIGKILL");
    await again.stop();

    const replica = await serve("replica", { isReplica: true });
    const database = await promote(replica);
    const next = await lead(replica.url());
    const later = await join300(next);
    expect(Math.min(...later)).toBeGreaterThan(Math.max(...numbers) + SAFETY_GAP_NUMBERS);
    expect((await statement(next)).seq).toBeGreaterThan(seq);
    const [row] = await database.sql<{ epoch: number; history: string }[]>`select * from lease`;
    // Epoch 1 made the event; 2 is forgotten.
    expect(row?.epoch).toBe(2 + EPOCHS_PER_HISTORY);
    expect(row?.history).toMatch(/^\d{15,}\/2$/);
    const [noted] =
      await database.sql`select detail from audit_log where action = 'database-forgot'`;
    expect(noted?.["detail"]).toMatchObject({ epoch: row?.epoch, epochs: [1, 0] });
    await database.close();
  }, 120_000);

  it("law 1: a copy of the disk that is put back begins no timeline: a standby has seen later renewals, and skips all the same", async () => {
    const first = await serve("first");
    const wire = await Wire.open();
    const url = wire.through(first.url());
    const leader = await lead(url);
    const standby = await MintProcess.standby(url);
    mints.push(standby);
    await leader.client.create({ ratePerMinute: 6_000 });
    await first.stop();
    copyPostgresData(join(folder, "first"), join(folder, "copy"));

    const moveTo = (server: LocalPostgres) => {
      wire.through(server.url());
      wire.break("cut");
      wire.mend();
    };
    const again = await serve("first");
    moveTo(again);
    await leader.client.ready();
    const numbers = await join300(leader);
    const { seq } = await statement(leader);
    const database = connectDatabase({ url: again.url(), applicationName: "test" });
    const [renewed] = await database.sql<{ epoch: number; at: Date }[]>`
      select epoch, expires_at as at from lease`;
    // The standby looks twice a second, and has seen a renewal that the copy lacks.
    await expect
      .poll(
        async () =>
          (await database.sql`select from lease where expires_at > ${renewed!.at}`).length,
      )
      .toBe(1);
    await sleep(2 * LEASE_TRY_EVERY_MS);
    await database.close();
    await leader.kill("SIGKILL");
    await again.stop();

    const copy = await serve("copy");
    moveTo(copy);
    await standby.client.ready();
    const later = await join300(standby);
    expect(Math.min(...later)).toBeGreaterThan(Math.max(...numbers) + 2 * SAFETY_GAP_NUMBERS);
    expect((await statement(standby)).seq).toBeGreaterThan(seq);
    const after = connectDatabase({ url: copy.url(), applicationName: "test" });
    const [row] = await after.sql<{ epoch: number; history: string }[]>`select * from lease`;
    await after.close();
    expect(row?.epoch).toBe(renewed!.epoch + 1 + EPOCHS_PER_HISTORY);
    expect(row?.history).toMatch(/^\d{15,}\/1$/);
    wire.close();
  }, 120_000);

  it("law 1: a leader that was stopped, and finds its lease again where its successor is forgotten, repeats nothing of it", async () => {
    const first = await serve("first");
    const wire = await Wire.open();
    const stopped = await lead(wire.through(first.url()));
    await stopped.client.create({ ratePerMinute: 6_000 });
    const numbers = await join300(stopped);
    await first.stop();
    copyPostgresData(join(folder, "first"), join(folder, "replica"));
    stopped.child.kill("SIGSTOP");

    const again = await serve("first");
    const successor = await lead(again.url());
    numbers.push(...(await join300(successor)));
    const { seq } = await statement(successor);
    await again.stop();
    await successor.kill("SIGKILL");

    const replica = await serve("replica", { isReplica: true });
    const database = await promote(replica);
    const [row] = await database.sql<{ epoch: number }[]>`select epoch from lease`;
    expect(row?.epoch).toBe(1);
    // As a name that now stands for another server.
    wire.through(replica.url());
    wire.break("cut");
    wire.mend();
    stopped.child.kill("SIGCONT");
    await stopped.client.ready();
    const later = [...(await join300(stopped)), ...(await join300(stopped))];
    expect(new Set([...numbers, ...later]).size).toBe(numbers.length + later.length);
    expect((await statement(stopped)).seq).toBeGreaterThan(seq);
    await database.close();
    wire.close();
  }, 120_000);
});
