/** MH-05: PostgreSQL goes away under a running mint and comes back, on the same port, with its data. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalPostgres, startLocalPostgres } from "@vestibule/testkit/local-postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { localMint, type LocalMint, newVisitor } from "./support/service.ts";
import { payload } from "./support/world.ts";

describe("a mint whose PostgreSQL restarts", () => {
  const folder = mkdtempSync(join(tmpdir(), "vestibule-outage-"));
  const options = { dataDir: join(folder, "data"), password: "test" };
  let postgres: LocalPostgres;
  let mint: LocalMint;

  beforeAll(async () => {
    // The server's own user must be able to reach it.
    const { chmodSync } = await import("node:fs");
    chmodSync(folder, 0o755);
    postgres = await startLocalPostgres(options);
    mint = await localMint({ url: postgres.url() });
    await mint.client.create({ ratePerMinute: 60_000 });
  });
  afterAll(async () => {
    await mint.stop();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("gives what it had reserved and grants nothing new; says nothing once another may lead; recovers without a restart", async () => {
    const numbers = new Set<number>();
    const take = async (): Promise<number> => {
      const { status, body, headers } = await mint.client.join();
      if (status === 201) {
        expect(numbers.has(body.number)).toBe(false);
        numbers.add(body.number);
      } else {
        expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      }
      return status;
    };
    const visitor = newVisitor();
    const fan = (await mint.client.join(visitor)).body;
    numbers.add(fan.number);
    for (let index = 0; index < 40; index += 1) expect(await take()).toBe(201);
    const drip = async () => {
      const { status, body } = await mint.client.ask("GET", "/v1/events/spring/drip");
      return { status, ...(payload(body) as { seq: number; committed: number; state: string }) };
    };
    await expect.poll(async () => (await drip()).committed, { timeout: 10_000 }).toBe(41);
    const before = await drip();

    const { port } = postgres;
    await postgres.stop();
    expect((await mint.client.ask("GET", "/readyz")).status).toBe(503);
    expect((await mint.client.ask("GET", "/healthz")).status).toBe(200);
    expect(await take()).toBe(201); // from the block that is reserved
    expect((await mint.client.claim(visitor, fan.ticket)).status).toBe(503);
    await expect.poll(take, { timeout: 20_000, interval: 0 }).toBe(503);
    expect((await mint.client.admin("POST", "/spring/hold")).status).toBe(503);
    for (const path of ["/v1/events/spring/drip", "/v1/manifest"]) {
      const status = async () => (await mint.client.ask("GET", path)).status;
      await expect.poll(status, { timeout: 10_000 }).toBe(503);
    }
    expect((await mint.client.ask("GET", "/.well-known/jwks.json")).status).toBe(200);

    postgres = await startLocalPostgres({ ...options, port });
    await expect.poll(take, { timeout: 15_000, interval: 100 }).toBe(201);
    await mint.client.ready();
    expect((await mint.client.claim(visitor, fan.ticket)).status).toBe(201);
    await expect.poll(async () => (await drip()).committed, { timeout: 15_000 }).toBe(numbers.size);
    expect((await drip()).seq).toBeGreaterThan(before.seq);
    const [row] = await mint.database.sql<{ waiting: number }[]>`
      select count(*) as waiting from pg_stat_activity where state like 'idle in transaction%'`;
    expect(row?.waiting).toBe(0);
  }, 90_000);
});
