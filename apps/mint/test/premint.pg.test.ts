/** Places given beforehand, by the real mint on PostgreSQL: what it refuses, and what a kill leaves. */
import { connectDatabase, type Database } from "@vestibule/db/connect";
import { hashVisitor } from "@vestibule/token/visitor";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalMint, localMint, MintProcess, newVisitor } from "./support/service.ts";
import { payload } from "./support/world.ts";

const subsOf = (count: number): string[] =>
  Array.from({ length: count }, () => hashVisitor(newVisitor()));

describe("places given beforehand, over HTTP", () => {
  let mint: LocalMint;
  beforeAll(async () => {
    mint = await localMint();
    await mint.client.create();
  });
  afterAll(() => mint.stop());
  const put = (batch: string, body: unknown) =>
    mint.client.admin("PUT", `/spring/premints/${batch}`, { body });

  it("gives a whole batch, and says it in the audit log once", async () => {
    const subs = subsOf(1_000);
    const { status, body } = await put("whole", { subs });
    expect(status).toBe(200);
    expect(body.tickets.map((ticket: string) => payload(ticket)["sub"])).toEqual(subs);
    expect((await put("whole", { subs })).body.first).toBe(body.first);
    const rows = await mint.database.sql<{ actor: string; detail: object }[]>`
      select actor, detail from audit_log where action = 'premint'`;
    expect(rows).toMatchObject([
      { actor: "admin-token", detail: { batch: "whole", first: body.first, count: 1_000 } },
    ]);
  });

  it("refuses rubbish by its fields, and uses up no number for it", async () => {
    const before = (await mint.client.admin("GET", "/spring")).body.highestNumber;
    const [one = ""] = subsOf(1);
    const rubbish: readonly (readonly [string, unknown, number])[] = [
      ["a", {}, 422],
      ["a", { subs: [] }, 422],
      ["a", { subs: [one, "short"] }, 422],
      ["a", { subs: [one, one] }, 422],
      ["a", { subs: subsOf(1_001) }, 422],
      ["a", { subs: [one], number: 7 }, 422],
      ["a", "no json", 400],
      ["a.b", { subs: [one] }, 422],
      ["a".repeat(65), { subs: [one] }, 422],
      ["a", { subs: [one], filler: "x".repeat(70_000) }, 413],
    ];
    for (const [batch, body, status] of rubbish)
      expect((await put(batch, body)).status, `${batch} ${JSON.stringify(body).slice(0, 60)}`).toBe(
        status,
      );
    const wrong = await put("a.b", { subs: [one, "short"], number: 7 });
    const fields = wrong.body.errors.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(["batch", "subs.1", "number"]);
    const none = await mint.client.admin("PUT", "/nowhere/premints/a", { body: { subs: [one] } });
    expect(none.status).toBe(404);
    const stranger = await mint.client.ask("PUT", "/v1/admin/events/spring/premints/a", {
      body: { subs: [one] },
    });
    expect(stranger.status).toBe(401);
    expect((await mint.client.admin("GET", "/spring")).body.highestNumber).toBe(before);
  });
});

describe("a mint that is killed while it gives places beforehand", () => {
  let url: string;
  let database: Database;
  beforeAll(async () => {
    url = await freshDatabase();
    database = connectDatabase({ url, applicationName: "test" });
  });
  afterAll(() => database.close());

  it("law 1: ten kills, every batch asked until it is answered: no number twice, nobody without one", async () => {
    const random = runRandomness();
    const batches = Array.from({ length: 40 }, (_, index) => ({
      batch: `batch-${index}`,
      subs: subsOf(random.integer({ min: 1, max: 1_000 })),
    }));
    const firsts = new Map<string, number>();
    let mint = await MintProcess.start(url);
    await mint.client.create();
    const joined: number[] = [];
    for (let kill = 0; kill <= 10; kill += 1) {
      const { client } = mint;
      const run = (async () => {
        for (const { batch, subs } of batches) {
          const answers = await Promise.all([
            client.admin("PUT", `/spring/premints/${batch}`, { body: { subs } }),
            client.join(),
          ]).catch(() => undefined);
          if (answers === undefined) return;
          const [given, join] = answers;
          if (join.status === 201) joined.push(join.body.number);
          if (given.status !== 200) continue;
          expect(given.body.tickets).toHaveLength(subs.length);
          expect(given.body.first).toBe(firsts.get(batch) ?? given.body.first);
          firsts.set(batch, given.body.first);
        }
      })();
      if (kill === 10) {
        await run;
        break;
      }
      const enough = joined.length + random.integer({ min: 1, max: 8 });
      await expect.poll(() => joined.length >= enough, { timeout: 20_000, interval: 1 }).toBe(true);
      await mint.kill("SIGKILL");
      await run;
      await database.sql`update lease set expires_at = now() - interval '1 second'`;
      mint = await MintProcess.start(url);
    }
    const numbers = batches.flatMap(({ batch, subs }) =>
      subs.map((_, index) => (firsts.get(batch) ?? Number.NaN) + index),
    );
    const all = [...numbers, ...joined];
    expect(all.every(Number.isSafeInteger)).toBe(true);
    expect(new Set(all).size).toBe(all.length);
    await mint.kill("SIGTERM");
  }, 120_000);
});
