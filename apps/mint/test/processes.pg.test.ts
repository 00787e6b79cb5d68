/** A mint as a process of its own: killed, restarted, and refused. Who leads of several: failover.pg.test.ts. */
import { connectDatabase, type Database } from "@vestibule/db/connect";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MintProcess, newVisitor, runMint } from "./support/service.ts";
import { openings, tooFast, twice } from "./support/exactness.ts";
import { payload } from "./support/world.ts";

const KILLS = 50;

describe("a mint that is killed", () => {
  let url: string;
  let database: Database;
  beforeAll(async () => {
    url = await freshDatabase();
    database = connectDatabase({ url, applicationName: "test" });
  });
  afterAll(() => database.close());

  it(`law 1: ${KILLS} kills at random points between reserve and answer, and no number twice`, async () => {
    const random = runRandomness();
    const tickets = new Map<number, string>();
    let mint = await MintProcess.start(url);
    await mint.client.create({ ratePerMinute: 6_000 });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const run = { stopped: false };
      const fan = async (): Promise<void> => {
        while (!run.stopped) {
          const answer = await mint.client.join(newVisitor()).catch(() => undefined);
          if (answer === undefined) return;
          if (answer.status !== 201) continue;
          const { number, ticket } = answer.body;
          expect(tickets.has(number), `number ${number} twice, at kill ${kill}`).toBe(false);
          tickets.set(number, ticket);
        }
      };
      const fans = Array.from({ length: 16 }, fan);
      // Answers, not time, decide the moment: anywhere within the first blocks.
      const enough = tickets.size + random.integer({ min: 1, max: 400 });
      await expect.poll(() => tickets.size >= enough, { timeout: 20_000, interval: 1 }).toBe(true);
      await mint.kill("SIGKILL");
      run.stopped = true;
      await Promise.all(fans);
      // The lease runs out on its own in life; here nobody has three seconds to spare, 50 times.
      await database.sql`update lease set expires_at = now() - interval '1 second'`;
      mint = await MintProcess.start(url);
    }
    await mint.kill("SIGTERM");
    const [row] = await database.sql<
      { epoch: number; released: boolean }[]
    >`select epoch, released from lease`;
    expect(row).toMatchObject({ epoch: KILLS + 1, released: true });
    for (const [number, ticket] of tickets) expect(payload(ticket)).toMatchObject({ n: number });
    const segments = await database.sql<
      { base: number; count: number; from: number; until: number }[]
    >`
      select base, count, from_ms as "from", until_ms as "until" from segments order by id`;
    const [{ lapsed } = { lapsed: 0 }] = await database.sql<
      { lapsed: number }[]
    >`select lapsed from events`;
    const slots = openings(segments as never);
    expect(twice(slots)).toEqual([]);
    expect(
      tooFast(slots, { ratePerMinute: 6_000, extra: lapsed }),
      "law 3, as stored",
    ).toBeUndefined();
  }, 600_000);

  it("gives its numbers back when it is asked to stop: three restarts, no gap, nobody's place lost", async () => {
    const event = "restarted";
    const fans: { visitor: string; number: number; ticket: string }[] = [];
    for (let restart = 0; restart < 3; restart += 1) {
      const mint = await MintProcess.start(url);
      if (restart === 0) await mint.client.create({ event, ratePerMinute: 1 });
      const visitor = newVisitor();
      const { body } = await mint.client.join(visitor, event);
      fans.push({ visitor, ...body });
      for (const fan of fans) {
        const back = await mint.client.ask("POST", `/v1/events/${event}/tickets`, {
          body: { visitor: fan.visitor, ticket: fan.ticket },
        });
        expect(back.body.number).toBe(fan.number);
      }
      await mint.kill("SIGTERM");
      expect(mint.child.exitCode).toBe(0);
    }
    expect(fans.map(({ number }) => number)).toEqual([1, 2, 3]);
  }, 60_000);
});

describe("a mint that must not start", () => {
  it("says that the key-encryption key is the wrong one, and ends", async () => {
    const url = await freshDatabase();
    const mint = await MintProcess.start(url);
    await mint.kill("SIGTERM");
    const { code, stderr } = await runMint(url, {
      VESTIBULE_KEK: Buffer.alloc(32, 8).toString("base64url"),
    });
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /VESTIBULE_KEK does not open .* start with the key-encryption key that sealed it/,
    );
  }, 60_000);

  it("names every mistake of its environment, and no secret", async () => {
    const { code, stderr } = await runMint("not a url", {
      VESTIBULE_PORT: "70000",
      VESTIBULE_ISSUER: `https://${"x".repeat(300)}`,
      VESTIBULE_ADMIN_TOKEN: "short-secret",
      VESTIBULE_KEK: "also-secret",
      VESTIBULE_TYPO: "1",
    });
    expect(code).toBe(1);
    for (const name of ["PORT", "DATABASE_URL", "ISSUER", "ADMIN_TOKEN", "KEK", "TYPO"]) {
      expect(stderr).toContain(`VESTIBULE_${name}`);
    }
    expect(stderr).not.toMatch(/short-secret|also-secret/);
  }, 60_000);
});
