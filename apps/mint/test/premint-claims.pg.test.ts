/** Claims for people of a batch, by the real mint on PostgreSQL: what is recorded, what is refused, what a kill leaves. */
import { connectDatabase, type Database } from "@vestibule/db/connect";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { runRandomness } from "@vestibule/testkit/run-seed";
import { hashVisitor } from "@vestibule/token/visitor";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type LocalMint,
  localMint,
  type MintClient,
  MintProcess,
  newVisitor,
} from "./support/service.ts";
import { payload } from "./support/world.ts";

const subsOf = (count: number): string[] =>
  Array.from({ length: count }, () => hashVisitor(newVisitor()));
const FAST = { ratePerMinute: 60_000, horizonSeconds: 10, claimWindowSeconds: 120 };

interface Claim {
  readonly admission?: string;
  readonly refused?: string;
}

async function given(client: MintClient, batch: string, subs: readonly string[]): Promise<number> {
  const { status, body } = await client.admin("PUT", `/spring/premints/${batch}`, {
    body: { subs },
  });
  expect(status).toBe(200);
  return body.first as number;
}

const claim = (client: MintClient, batch: string, body: unknown) =>
  client.admin("POST", `/spring/premints/${batch}/admissions`, { body });

const committedBy = async (client: MintClient): Promise<number> =>
  Number(payload((await client.ask("GET", "/v1/events/spring/drip")).body as string)["committed"]);

describe("claims for people of a batch, over HTTP", () => {
  let mint: LocalMint;
  beforeAll(async () => {
    mint = await localMint();
    await mint.client.create(FAST);
  });
  afterAll(() => mint.stop());

  it("records each claim once beside fans' own, in the segment of its slot, and signs for nothing else", async () => {
    const { client, database } = mint;
    const visitors = Array.from({ length: 1_000 }, newVisitor);
    const subs = visitors.map(hashVisitor);
    const first = await given(client, "whole", subs);
    const whose = subs.map((_sub, index) => index);
    await expect.poll(() => committedBy(client), { timeout: 9_000 }).toBeGreaterThanOrEqual(first);
    const place = { visitor: visitors[0] ?? "", ticket: "" };
    place.ticket = (
      await client.admin("PUT", "/spring/premints/whole", { body: { subs } })
    ).body.tickets[0];
    const [one, two, own] = await Promise.all([
      claim(client, "whole", { subs, whose }),
      claim(client, "whole", { subs, whose: whose.toReversed() }),
      client.claim(place.visitor, place.ticket),
    ]);
    expect([one.status, two.status, own.status]).toEqual([200, 200, 201]);
    expect(one.headers.get("cache-control")).toBe("no-store");
    const claims = one.body.claims as Claim[];
    const rows = await database.sql<{ n: number; opens: number }[]>`
      select c.n, s.from_ms + floor((c.n - s.base) * (s.until_ms - s.from_ms)::numeric / s.count)::bigint as opens
        from claims c join segments s on s.event = c.event and s.id = c.segment
       where c.event = 'spring' and c.n between s.base and s.base + s.count - 1`;
    const opens = new Map(rows.map(({ n, opens: at }) => [n, at]));
    for (const [index, { admission, refused }] of claims.entries()) {
      const n = first + index;
      if (admission === undefined) {
        expect(refused).toBe("too-early");
        continue;
      }
      expect(payload(admission)).toMatchObject({
        ...{ aud: "spring", sub: subs[index], act: "purchase", n },
        nbf: Math.floor((opens.get(n) ?? 0) / 1_000),
      });
    }
    expect(payload(own.body.admission)["jti"]).toBe(payload(claims[0]?.admission ?? "")["jti"]);
    const granted = (two.body.claims as Claim[]).concat(claims).filter((each) => each.admission);
    const jtis = new Set(granted.map(({ admission = "" }) => payload(admission)["jti"]));
    expect(rows).toHaveLength(jtis.size);
    expect((await client.admin("GET", "/spring")).body.claimed).toBe(jtis.size);
  });

  it("refuses rubbish by its fields, and records nothing for it", async () => {
    const { client } = mint;
    const subs = subsOf(3);
    await given(client, "small", subs);
    const before = (await client.admin("GET", "/spring")).body.claimed;
    const rubbish: readonly (readonly [string, unknown, number])[] = [
      ["small", {}, 422],
      ["small", { subs }, 422],
      ["small", { subs, whose: [] }, 422],
      ["small", { subs, whose: [3] }, 422],
      ["small", { subs, whose: [-1] }, 422],
      ["small", { subs, whose: [0.5] }, 422],
      ["small", { subs, whose: [1, 1] }, 422],
      ["small", { subs, whose: [0], confirmed: "yes" }, 422],
      ["small", { subs, whose: [0], n: 7 }, 422],
      ["small", { subs: subs.toReversed(), whose: [0] }, 409],
      ["small", { subs: subsOf(3), whose: [0] }, 409],
      ["none", { subs, whose: [0] }, 404],
      ["a.b", { subs, whose: [0] }, 422],
      ["small", { subs, whose: [0], filler: "x".repeat(70_000) }, 413],
    ];
    for (const [batch, body, status] of rubbish)
      expect(
        (await claim(client, batch, body)).status,
        `${batch} ${JSON.stringify(body).slice(0, 60)}`,
      ).toBe(status);
    const path = "/v1/admin/events/spring/premints/small/admissions";
    const stranger = await client.ask("POST", path, { body: { subs, whose: [0] } });
    expect(stranger.status).toBe(401);
    expect((await client.admin("GET", "/spring")).body.claimed).toBe(before);
  });

  it("is refused with 503 by a mint that was replaced, and recorded by nobody", async () => {
    const { client, database } = mint;
    const subs = subsOf(5);
    const first = await given(client, "late", subs);
    await expect
      .poll(() => committedBy(client), { timeout: 9_000 })
      .toBeGreaterThanOrEqual(first + 4);
    await database.sql`update lease set epoch = epoch + 1, holder = 'other'`;
    const refused = await claim(client, "late", { subs, whose: [0, 1, 2, 3, 4] });
    expect([refused.status, refused.body.type]).toEqual([503, "urn:vestibule:problem:unavailable"]);
    const rows = await database.sql`select 1 from claims where event = 'spring' and n >= ${first}`;
    expect(rows).toHaveLength(0);
  });
});

describe("a mint that is killed while it claims for people of a batch", () => {
  let url: string;
  let database: Database;
  beforeAll(async () => {
    url = await freshDatabase();
    database = connectDatabase({ url, applicationName: "test" });
  });
  afterAll(() => database.close());

  it("law 1: three kills, everybody claimed for until there is an answer: one claim and one admission each", async () => {
    const random = runRandomness();
    const subs = subsOf(1_000);
    let mint = await MintProcess.start(url);
    await mint.client.create(FAST);
    const first = await given(mint.client, "a", subs);
    const seen = new Map<number, unknown>();
    for (let kill = 0; kill <= 3; kill += 1) {
      const { client } = mint;
      const left = () => subs.map((_sub, index) => index).filter((index) => !seen.has(index));
      let answers = 0;
      const run = (async () => {
        while (left().length > 0) {
          const some = left().slice(0, random.integer({ min: 1, max: 300 }));
          const answer = await claim(client, "a", { subs, whose: some }).catch(() => undefined);
          if (answer === undefined) return;
          if (answer.status !== 200) continue;
          for (const [at, { admission }] of (answer.body.claims as Claim[]).entries())
            if (admission !== undefined) seen.set(some[at] ?? 0, payload(admission)["jti"]);
          answers += 1;
        }
      })();
      if (kill === 3) {
        await run;
        break;
      }
      const enough = random.integer({ min: 1, max: 3 });
      await expect
        .poll(() => answers >= enough || left().length === 0, { timeout: 20_000, interval: 1 })
        .toBe(true);
      await mint.kill("SIGKILL");
      await run;
      await database.sql`update lease set expires_at = now() - interval '1 second'`;
      mint = await MintProcess.start(url);
    }
    expect(new Set(seen.values()).size).toBe(1_000);
    const rows = await database.sql<{ n: number }[]>`select n from claims order by n`;
    expect(rows.map(({ n }) => n)).toEqual(subs.map((_sub, index) => first + index));
    await mint.kill("SIGTERM");
  }, 60_000);
});
