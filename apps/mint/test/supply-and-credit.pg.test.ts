/** The supply endpoint and credits, over HTTP and on PostgreSQL. */
import { generateKeyPair } from "@vestibule/keys/key-pair";
import { jwksDocument } from "@vestibule/keys/public-key";
import { importPrivateJwk, type SigningKey } from "@vestibule/keys/signing-key";
import { epochSeconds, ticketNumber } from "@vestibule/kernel/units";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { signCredit } from "@vestibule/token/sign-credit";
import { hashVisitor } from "@vestibule/token/visitor";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  ADMIN_TOKEN,
  ISSUER,
  localMint,
  type LocalMint,
  newVisitor,
  runMint,
} from "./support/service.ts";
import { payload } from "./support/world.ts";
import { postgresStore } from "../src/store/postgres-store.ts";

let mint: LocalMint;
let key: SigningKey;
let events = 0;

beforeAll(async () => {
  const { privateJwk, publicJwk } = await generateKeyPair();
  const imported = await importPrivateJwk(privateJwk);
  if (!imported.ok) throw new Error(imported.refusal);
  key = imported.value.signingKey;
  mint = await localMint({ creditKeys: jwksDocument([publicJwk]) });
});
afterAll(() => mint.stop());

async function newEvent(change: Record<string, unknown> = {}): Promise<string> {
  const event = `sale-${(events += 1)}`;
  await mint.client.create({ event, ...change });
  return event;
}
const stateOf = async (event: string) =>
  payload((await mint.client.ask("GET", `/v1/events/${event}/drip`)).body as string)["state"];

describe("PUT /v1/supply/events/{event}", () => {
  it("shows in the very next statement, in the organizer's view and at the next join; and is taken back", async () => {
    const event = await newEvent();
    expect((await mint.client.join(newVisitor(), event)).status).toBe(201);
    expect((await mint.client.report(event, { soldOut: true, seq: 1 })).status).toBe(204);
    expect(await stateOf(event)).toBe("soldout");
    const view = (await mint.client.admin("GET", `/${event}`)).body;
    expect(view).toMatchObject({ state: "soldout", version: 1 });
    expect(Date.now() - view.supplySoldOutAt).toBeLessThan(10_000);
    expect((await mint.client.join(newVisitor(), event)).status).toBe(409);
    expect((await mint.client.report(event, { soldOut: false, seq: 2 })).status).toBe(204);
    expect(await stateOf(event)).toBe("open");
    const after = (await mint.client.admin("GET", `/${event}`)).body;
    expect(after.supplySoldOutAt).toBeUndefined();
    expect((await mint.client.join(newVisitor(), event)).status).toBe(201);
    const rows = await mint.database.sql`
      select actor, action, version, detail from audit_log where event = ${event} order by id`;
    expect(rows.slice(1)).toEqual([
      { actor: "supply", action: "supply-out", version: 1, detail: { seq: 1 } },
      { actor: "supply", action: "supply-back", version: 1, detail: { seq: 2 } },
    ]);
  });

  it("a last call is published, seen by the organizer, changed by them, and out of bounds for nobody", async () => {
    const event = await newEvent({ lastCallSeconds: 60 });
    const drip = async () =>
      payload((await mint.client.ask("GET", `/v1/events/${event}/drip`)).body as string);
    expect(
      (await mint.client.report(event, { soldOut: false, lastCall: true, seq: 1 })).status,
    ).toBe(204);
    const { lastCall } = (await drip()) as { lastCall: { from: number; until: number } };
    expect(lastCall.until - lastCall.from).toBe(60_000);
    const { headers, body } = await mint.client.admin("GET", `/${event}`);
    expect(body).toMatchObject({ lastCall, lastCallSeconds: 60, state: "open" });
    const off = await mint.client.admin("PATCH", `/${event}`, {
      body: { lastCallSeconds: 0 },
      headers: { "If-Match": headers.get("ETag")! },
    });
    expect([off.status, off.body.lastCallSeconds, off.body.lastCall]).toEqual([200, 0, undefined]);
    expect((await drip())["lastCall"]).toBeUndefined();
  });

  it("how much is left is kept, told as a band, and shown to the organizer; told or not is theirs, also in a running sale", async () => {
    const event = await newEvent({ priceRange: "20–90 €" });
    const drip = async () =>
      payload((await mint.client.ask("GET", `/v1/events/${event}/drip`)).body as string);
    expect((await drip())["left"]).toBeUndefined();
    const report = { soldOut: false, lastCall: false, left: 1_234, seq: 1 };
    expect((await mint.client.report(event, report)).status).toBe(204);
    expect(await drip()).toMatchObject({ left: { atMost: 2_000 }, priceRange: "20–90 €" });
    const { headers, body } = await mint.client.admin("GET", `/${event}`);
    expect(body).toMatchObject({ supplyLeft: 1_234, tellLeft: true, version: 1 });
    const changed = await mint.client.admin("PATCH", `/${event}`, {
      body: { tellLeft: false, priceRange: "from 25 €" },
      headers: { "If-Match": headers.get("ETag")! },
    });
    expect(changed.body).toMatchObject({ tellLeft: false, priceRange: "from 25 €" });
    const after = await drip();
    expect([after["left"], after["priceRange"]]).toEqual([undefined, "from 25 €"]);
    const stored = (await postgresStore(mint.database).loadEvent(event))!;
    expect(stored.facts.supply.left).toEqual({ atMost: 1_234, seq: 1 });
  });

  it("an event that an older mint made has the default span, no plan and no budget", async () => {
    const event = await newEvent();
    const { sql } = mint.database;
    await sql`
      update events set settings = settings - 'lastCallSeconds' - 'ratePlan' - 'approximationBudget' - 'priceRange' - 'tellLeft'
       where event = ${event}`;
    const stored = (await postgresStore(mint.database).loadEvent(event))!;
    expect(stored.settings).toMatchObject({
      lastCallSeconds: 600,
      ratePlan: [],
      approximationBudget: 0,
      ...{ priceRange: "", tellLeft: true },
    });
  });

  it("has a token of its own: neither the organizer's nor none opens it, nor it the organizer's", async () => {
    const event = await newEvent();
    const report = { soldOut: true, seq: 1 };
    for (const token of [ADMIN_TOKEN, "s".repeat(39), "S".repeat(40)]) {
      expect((await mint.client.report(event, report, token)).status).toBe(401);
    }
    const bare = await mint.client.ask("PUT", `/v1/supply/events/${event}`, { body: report });
    expect(bare.status).toBe(401);
    const headers = { Authorization: `Bearer ${"s".repeat(40)}` };
    expect((await mint.client.ask("GET", "/v1/admin/events", { headers })).status).toBe(401);
    expect(await stateOf(event)).toBe("open");
  });

  it("refuses what is no report, and an event that is none; an ended one is acknowledged", async () => {
    const event = await newEvent();
    for (const body of [
      {},
      { soldOut: true },
      { soldOut: "true", seq: 1 },
      { soldOut: true, seq: 0 },
      { soldOut: true, seq: 1.5 },
      { soldOut: true, seq: 2 ** 53 },
      { soldOut: true, seq: 1, more: 1 },
      { soldOut: true, lastCall: "yes", seq: 1 },
      { soldOut: true, left: -1, seq: 1 },
      { soldOut: true, left: 0.5, seq: 1 },
      { soldOut: true, left: "5", seq: 1 },
      { soldOut: true, left: null, seq: 1 },
      { soldOut: true, left: 1_000_000_000_001, seq: 1 },
      [],
      null,
      "{",
    ]) {
      expect((await mint.client.report(event, body)).status, `body ${JSON.stringify(body)}`).toBe(
        400,
      );
    }
    expect((await mint.client.admin("GET", `/${event}`)).body.supplyLeft).toBeUndefined();
    expect(await stateOf(event)).toBe("open");
    expect((await mint.client.report("nowhere", { soldOut: true, seq: 1 })).status).toBe(404);
    await mint.client.admin("POST", `/${event}/end`);
    expect((await mint.client.report(event, { soldOut: true, seq: 1 })).status).toBe(204);
    expect((await mint.client.admin("GET", `/${event}`)).body.supplySoldOutAt).toBeUndefined();
  });

  it("a seq that no clock has reached is refused, and does not silence the reports after it", async () => {
    const event = await newEvent();
    const day = 86_400_000;
    for (const seq of [Number.MAX_SAFE_INTEGER, Date.now() + day + 60_000]) {
      const { status, body } = await mint.client.report(event, { soldOut: true, seq });
      expect([status, body.type]).toEqual([422, "urn:vestibule:problem:invalid-settings"]);
    }
    expect(await stateOf(event)).toBe("open");
    const ahead = Date.now() + day - 60_000;
    expect((await mint.client.report(event, { soldOut: true, seq: ahead })).status).toBe(204);
    expect(await stateOf(event)).toBe("soldout");
  });

  it("of two instances that report at once, all out of order, the newest holds", async () => {
    const event = await newEvent();
    const seqs = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 8, 7];
    const reports = seqs.map((seq) => mint.client.report(event, { soldOut: seq % 2 === 1, seq }));
    const statuses = (await Promise.all(reports)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([204]));
    expect(await stateOf(event)).toBe("soldout");
    const [row] = await mint.database.sql`select supply_seq from events where event = ${event}`;
    expect(row).toEqual({ supply_seq: 9 });
  });

  it("a mint without a token takes no report from anybody", async () => {
    const other = await localMint({ creditKeys: null });
    try {
      await other.client.create({ event: "closed" });
      expect((await other.client.report("closed", { soldOut: true, seq: 1 })).status).toBe(401);
    } finally {
      await other.stop();
    }
  });
});

describe("credits on PostgreSQL", () => {
  it("200 claims at once with one credit: one fresh slot, the same jti, one row", async () => {
    const event = await newEvent({
      lifetimeSeconds: 10,
      claimWindowSeconds: 5,
      horizonSeconds: 10,
    });
    const visitor = newVisitor();
    const { ticket, number } = (await mint.client.join(visitor, event)).body;
    const first = await claimed(() => mint.client.claim(visitor, ticket, event));
    const { nbf, jti } = payload(first.admission) as { nbf: number; jti: string };
    const credit = await signCredit(key, {
      ...{ issuer: ISSUER, event, sub: hashVisitor(visitor), number: ticketNumber(number) },
      ...{ slot: epochSeconds(nbf), iat: epochSeconds(Math.floor(Date.now() / 1_000)) },
    });
    // Its time runs out as it would in life: nothing here can set PostgreSQL's or the mint's clock.
    await vi.waitUntil(
      async () => (await mint.client.claim(visitor, ticket, event)).status === 410,
      { timeout: 20_000, interval: 200 },
    );
    const all = await Promise.all(
      Array.from({ length: 200 }, () => mint.client.claim(visitor, ticket, event, { credit })),
    );
    // Refused until the tick that commits the fresh slot, which may come while they are asked.
    for (const { status, body } of all) {
      if (status === 201) expect(payload(body.admission)["jti"]).toBe(jti);
      else expect([status, body.creditUsed]).toEqual([425, true]);
    }
    const fresh = await claimed(() => mint.client.claim(visitor, ticket, event, { credit }));
    expect(payload(fresh.admission)).toMatchObject({ jti, n: number });
    expect(payload(fresh.admission)["nbf"]).toBeGreaterThanOrEqual(nbf + 10);
    const { sql } = mint.database;
    const used = await sql`select n, slot_s from credits_used where event = ${event}`;
    expect([...used]).toEqual([{ n: number, slot_s: nbf }]);
    const slots =
      await sql`select id, claimed, settled from segments where event = ${event} order by id`;
    expect(slots).toHaveLength(2);
    expect(slots[0]).toMatchObject({ settled: true, claimed: 1 });
    const claims = await sql`select n, segment from claims where event = ${event}`;
    expect([...claims]).toEqual([{ n: number, segment: slots[1]!["id"] }]);
    expect((await mint.client.admin("GET", `/${event}`)).body).toMatchObject({
      ...{ claimed: 1, lapsed: 0, granted: 1, waiting: 0 },
    });
  });

  async function claimed(ask: () => ReturnType<typeof mint.client.claim>) {
    const answer = await vi.waitUntil(
      async () => {
        const { status, body } = await ask();
        return status === 201 ? (body as { admission: string }) : undefined;
      },
      { timeout: 10_000, interval: 100 },
    );
    return answer;
  }
});

describe("the settings", () => {
  it("credit keys that are no key set stop the start with a message, and show no value", async () => {
    const url = await freshDatabase();
    for (const value of ["{", "{}", '{"keys":[]}', '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}']) {
      const { code, stderr } = await runMint(url, { VESTIBULE_CREDIT_KEYS: value });
      expect(code, `keys ${value}`).toBe(1);
      expect(stderr).toContain("VESTIBULE_CREDIT_KEYS");
      expect(stderr).not.toContain("c2VjcmV0");
    }
    const short = await runMint(url, { VESTIBULE_SUPPLY_TOKEN: "short-token" });
    expect(short.stderr).toContain("VESTIBULE_SUPPLY_TOKEN");
    expect(short.stderr).not.toContain("short-token");
    const same = await runMint(url, { VESTIBULE_SUPPLY_TOKEN: ADMIN_TOKEN });
    expect(same.stderr).toContain("VESTIBULE_ADMIN_TOKEN and VESTIBULE_SUPPLY_TOKEN must differ");
  });
});
