/** Events that are over for long, over HTTP on PostgreSQL. */
import { FakeClock } from "@vestibule/testkit/fake-clock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENDED_SHOWN_MS } from "../src/limits.ts";
import { type LocalMint, localMint } from "./support/service.ts";

const TABLES = [
  "claims",
  "segments",
  "number_blocks",
  "premints",
  "demand",
  "cuts",
  "credits_used",
];

describe("an event that is over for long", () => {
  const clock = new FakeClock();
  let mint: LocalMint;
  beforeAll(async () => {
    mint = await localMint({ clock });
  });
  afterAll(() => mint.stop());

  const rowsOf = async (event: string): Promise<number> => {
    let rows = 0;
    for (const table of TABLES) {
      const [row] = await mint.database.sql<{ count: number }[]>`
        select count(*) as count from ${mint.database.sql(table)} where event = ${event}`;
      rows += row?.count ?? 0;
    }
    return rows;
  };

  it("leaves its figures and its audit log, and nothing else, once its pages need not say that it is over", async () => {
    const { client, database } = mint;
    const endsAt = clock.now() + 3_600_000;
    for (const event of ["old", "other"]) {
      await client.create({ event, endsAt: event === "old" ? endsAt : endsAt + 86_400_000 });
      for (let fan = 0; fan < 3; fan += 1) await client.join(undefined, event);
      await expect
        .poll(async () => (await client.admin("GET", `/${event}`)).body.committed)
        .toBeGreaterThan(0);
    }
    const before = await rowsOf("other");
    const early = await client.admin("POST", "/old/archive");
    expect(early.status).toBe(409);
    expect(early.body.archivableAt).toBe(endsAt + ENDED_SHOWN_MS);
    clock.advance(3_600_000 + ENDED_SHOWN_MS);
    const { status, body } = await client.admin("POST", "/old/archive");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      ...{ event: "old", done: true, archivedAt: clock.now() },
      figures: { issued: 3, highestNumber: 3, claimed: 0, endedAt: endsAt },
    });
    expect(body.deleted).toBeGreaterThanOrEqual(2);
    expect(await rowsOf("old")).toBe(0);
    expect(await rowsOf("other")).toBe(before);
    const again = await client.admin("POST", "/old/archive");
    expect([again.status, again.body]).toEqual([200, { ...body, deleted: 0 }]);
    expect((await client.admin("GET", "/old")).status).toBe(404);
    expect((await client.join(undefined, "old")).status).toBe(404);
    const taken = await client.create({ event: "old", endsAt: clock.now() + 3_600_000 });
    expect(taken.body.type).toBe("urn:vestibule:problem:event-exists");
    const log = await database.sql<{ action: string }[]>`
      select action from audit_log where event = 'old' order by id`;
    expect(log.map(({ action }) => action)).toEqual(["create", "archive"]);
    expect((await client.admin("POST", "/nowhere/archive")).status).toBe(404);
  });

  it("is archived once, however many ask at once, and goes on where an answer was lost", async () => {
    const { client, database } = mint;
    const endsAt = clock.now() + 3_600_000;
    for (const event of ["crowded", "lost"]) {
      await client.create({ event, endsAt });
      await client.join(undefined, event);
    }
    clock.advance(3_600_000 + ENDED_SHOWN_MS);
    const archive = (event: string) => client.admin("POST", `/${event}/archive`);
    const all = await Promise.all(Array.from({ length: 5 }, () => archive("crowded")));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const [log] = await database.sql<{ count: number }[]>`
      select count(*) as count from audit_log where event = 'crowded' and action = 'archive'`;
    expect(log?.count).toBe(1);
    // As a call leaves it whose answer is lost: stored, and this leader does not know.
    await database.sql`
      update events set archived_at_ms = ${clock.now()}, line_version = line_version + 1,
             archive = (select archive from events where event = 'crowded')
       where event = 'lost'`;
    expect((await archive("lost")).body).toMatchObject({ event: "lost", done: true });
    expect((await client.admin("GET", "/lost")).status).toBe(404);
    expect(await rowsOf("lost")).toBe(0);
  });
});
