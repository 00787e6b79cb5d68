import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresStore } from "../src/store/postgres-store.ts";
import { eventBody, localMint, type LocalMint, newVisitor } from "./support/service.ts";
import { payload } from "./support/world.ts";

let mint: LocalMint;

beforeAll(async () => {
  mint = await localMint();
});
afterAll(() => mint.stop());

const PROBLEM = "urn:vestibule:problem:";

/** Claims once the slot is committed. */
async function claim(event: string, place: { visitor: string; ticket: string }, more: object = {}) {
  const send = () => mint.client.claim(place.visitor, place.ticket, event, more);
  await expect
    .poll(async () => (await send()).status, { interval: 20, timeout: 9_000 })
    .not.toBe(425);
  return send();
}

describe("presence over HTTP", () => {
  it("is auto, and what an event of an older mint has", async () => {
    const { event } = (await mint.client.create({ event: "plain" })).body;
    const look = async () => (await mint.client.admin("GET", `/${event}`)).body.presence;
    expect(await look()).toBe("auto");
    const { sql } = mint.database;
    await sql`update events set settings = settings - 'presence' where event = ${event}`;
    const stored = (await postgresStore(mint.database).loadEvent(event))!;
    expect(stored.settings.presence).toBe("auto");
  });

  it("is one of two words: another one is named, beside every other mistake, and changes nothing", async () => {
    const bad = eventBody({ event: "bad", presence: "perhaps", ratePerMinute: 0 });
    const refused = await mint.client.admin("POST", "", { body: bad });
    expect(refused.status).toBe(422);
    const fields = refused.body.errors.map(({ field }: { field: string }) => field);
    expect(fields.toSorted()).toEqual(["presence", "ratePerMinute"]);
    expect((await mint.client.admin("GET", "/bad")).status).toBe(404);
  });

  it("confirm: published, asked for with every claim, and changed while the sale runs", async () => {
    const event = "asked";
    await mint.client.create({ event, presence: "confirm" });
    const drip = async () =>
      payload((await mint.client.ask("GET", `/v1/events/${event}/drip`)).body as string);
    expect((await drip())["presence"]).toBe("confirm");
    const visitor = newVisitor();
    const { ticket } = (await mint.client.join(visitor, event)).body;
    const place = { visitor, ticket };

    const refused = await claim(event, place);
    expect(refused.status).toBe(409);
    const { opensAt, closesAt, claimBy } = refused.body;
    expect(refused.body).toMatchObject({ type: `${PROBLEM}confirm-presence`, status: 409 });
    expect([closesAt > opensAt, claimBy > opensAt]).toEqual([true, true]);
    for (const confirmed of ["yes", 1, null]) {
      expect((await claim(event, place, { confirmed })).status).toBe(400);
    }
    expect((await mint.client.admin("GET", `/${event}`)).body.claimed).toBe(0);
    expect((await claim(event, place, { confirmed: true })).status).toBe(201);

    const { headers } = await mint.client.admin("GET", `/${event}`);
    const changed = await mint.client.admin("PATCH", `/${event}`, {
      body: { presence: "auto" },
      headers: { "If-Match": headers.get("ETag")! },
    });
    expect([changed.status, changed.body.presence, changed.body.claimed]).toEqual([200, "auto", 1]);
    expect((await drip())["presence"]).toBeUndefined();
    expect((await claim(event, place)).status).toBe(201);
  });
});
