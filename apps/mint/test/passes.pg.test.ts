/** Bypass rules with conditions, and tokens of services, on a real mint and a real database (ADR 18). */
import { verifyManifest } from "@vestibule/token/verify-manifest";
import { verifyService } from "@vestibule/token/verify-service";
import { verifyTicket } from "@vestibule/token/verify-ticket";
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { epochMs } from "@vestibule/kernel/units";
import { createLog } from "@vestibule/service/log";
import { systemClock } from "@vestibule/kernel/clock.system";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresStore } from "../src/store/postgres-store.ts";
import { eventBody, FAR, ISSUER, localMint, type LocalMint } from "./support/service.ts";

const lines: string[] = [];
const log = createLog({ service: "mint", clock: systemClock, write: (line) => lines.push(line) });
let mint: LocalMint;
let keys: KeySet;

beforeAll(async () => {
  mint = await localMint({ log });
  const read = await parseJwks((await mint.client.ask("GET", "/.well-known/jwks.json")).body);
  if (!read.ok) throw new Error("refused");
  keys = read.value;
});
afterAll(() => mint.stop());

const RULES = [
  { paths: ["/spring/hook"], methods: ["POST"], services: ["payments"] },
  { paths: ["/spring/logo.svg"] },
  { paths: ["/spring/probe"], networks: ["192.0.2.0/24"], services: ["payments", "health"] },
];

async function published(event: string) {
  const { body } = await mint.client.ask("GET", "/v1/manifest");
  const read = await verifyManifest(body as string, {
    ...{ keys, issuer: ISSUER, skewSeconds: 5, now: epochMs(Date.now()) },
  });
  if (!read.ok) throw new Error(read.refusal.reason);
  const found = read.value.events.find((each) => each.event === event);
  if (found === undefined) throw new Error(event);
  return found;
}
const audits = async (event: string) =>
  mint.database.sql<{ action: string; detail: Record<string, unknown> }[]>`
    select action, detail from audit_log where event = ${event} order by id`;

describe("rules with conditions", () => {
  it("are published apart from the others, by their place in the settings, and kept so: an older mint sends none of them", async () => {
    const event = "spring";
    const made = await mint.client.create({ event, bypass: RULES });
    expect([made.status, made.body.bypass]).toEqual([201, RULES]);
    const expected = {
      bypass: [{ paths: ["/spring/logo.svg"], rule: 1 }],
      conditionalBypass: [
        { ...RULES[0], rule: 0 },
        { ...RULES[2], rule: 2 },
      ],
    };
    expect(await published(event)).toMatchObject(expected);
    const [row] = await mint.database.sql<{ settings: Record<string, unknown> }[]>`
      select settings from events where event = ${event}`;
    expect(row?.settings).toMatchObject(expected);
    const stored = await postgresStore(mint.database).loadEvent(event);
    expect(stored?.settings.bypass).toEqual(RULES);
  });

  it("change while the sale runs, all at once, and the next manifest says so", async () => {
    const event = "changed";
    const { body, headers } = await mint.client.create({ event, bypass: RULES });
    const bypass = [{ paths: ["/changed/probe"], networks: ["2001:db8::/32"] }];
    const changed = await mint.client.admin("PATCH", `/${event}`, {
      body: { bypass },
      headers: { "If-Match": headers.get("ETag")! },
    });
    expect([changed.status, changed.body.bypass]).toEqual([200, bypass]);
    expect(changed.body.version).toBe(body.version + 1);
    expect(await published(event)).toMatchObject({
      bypass: [],
      conditionalBypass: [{ ...bypass[0], rule: 0 }],
    });
    const none = await mint.client.admin("PATCH", `/${event}`, {
      body: { bypass: [] },
      headers: { "If-Match": changed.headers.get("ETag")! },
    });
    expect(none.body.bypass).toEqual([]);
    expect(await published(event)).not.toHaveProperty("conditionalBypass");
  });

  it("that are no conditions, or take a whole protected path out again, are refused, all mistakes at once", async () => {
    const event = "refused";
    const bad = eventBody({
      event,
      ratePerMinute: 0,
      bypass: [
        { paths: ["/refused*"] },
        { paths: ["/x"], networks: ["0.0.0.0/0", "192.0.2.1/24", "fe80::1%eth0/64"] },
        { paths: ["/x"], services: ["Payments"], networks: [] },
        { paths: ["/x"], hours: ["9-17"] },
      ],
    });
    const { status, body } = await mint.client.admin("POST", "", { body: bad });
    expect(status).toBe(422);
    const fields = body.errors.map(({ field }: { field: string }) => field);
    expect(fields.toSorted()).toEqual([
      "bypass.1.networks.0",
      "bypass.1.networks.1",
      "bypass.1.networks.2",
      "bypass.2.networks",
      "bypass.2.services.0",
      "bypass.3.hours",
      "ratePerMinute",
    ]);
    const whole = await mint.client.create({
      event,
      bypass: [{ paths: ["/refused*", "/refused"] }],
    });
    expect(whole.status).toBe(422);
    expect(whole.body.errors.map(({ field }: { field: string }) => field)).toEqual([
      "bypass.0.paths.0",
      "bypass.0.paths.1",
    ]);
    const narrower = [{ paths: ["/refused*"], methods: ["GET"] }, { paths: ["/refused/logo.svg"] }];
    expect((await mint.client.create({ event, bypass: narrower })).status).toBe(201);
  });
});

describe("a service's token", () => {
  const make = (event: string, body: unknown) =>
    mint.client.admin("POST", `/${event}/service-tokens`, { body });

  it("is signed by a key of the line, says what was asked, and is on record by name and jti alone", async () => {
    const event = "tokens";
    const services = [{ ...RULES[0], paths: ["/tokens/hook"] }];
    await mint.client.create({ event, bypass: services });
    const before = (await mint.client.admin("GET", `/${event}`)).body.version;
    const { status, headers, body } = await make(event, { name: "payments", lifetimeSeconds: 600 });
    expect([status, headers.get("cache-control")]).toEqual([201, "no-store"]);
    expect(body).toMatchObject({ event, name: "payments", rules: [0] });
    const options = { keys, issuer: ISSUER, event, now: epochMs(Date.now()), skewSeconds: 5 };
    const read = await verifyService(body.token, options);
    if (!read.ok) throw new Error(read.refusal.reason);
    const { name, jti, exp, iat } = read.value;
    expect([name, jti, exp * 1_000, exp - iat]).toEqual([
      "payments",
      body.jti,
      body.expiresAt,
      600,
    ]);
    const asTicket = await verifyTicket(body.token, { ...options, visitor: jti });
    expect(asTicket).toMatchObject({ ok: false, refusal: { reason: "wrong-type" } });

    const written = await audits(event);
    expect(written.at(-1)).toMatchObject({
      action: "service-token",
      detail: { name: "payments", jti, expiresAt: body.expiresAt },
    });
    expect(JSON.stringify(written) + lines.join()).not.toContain(body.token);
    // It is nobody's change: whoever looked before may go on.
    expect((await mint.client.admin("GET", `/${event}`)).body.version).toBe(before);
    const again = (await make(event, { name: "payments" })).body;
    expect(again.jti).not.toBe(jti);
    expect(again.expiresAt).toBe(FAR + 3_600_000);
    expect((await make(event, { name: "nobody" })).body.rules).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    ["no name", {}, ["name"]],
    [
      "a name that is none, and too short a life",
      { name: "A", lifetimeSeconds: 59 },
      ["lifetimeSeconds", "name"],
    ],
    ["two ends", { name: "a", lifetimeSeconds: 60, expiresAt: FAR }, ["expiresAt"]],
    ["an end behind the event's", { name: "a", expiresAt: FAR + 3_601_000 }, ["expiresAt"]],
    [
      "a life behind the event's end",
      { name: "a", lifetimeSeconds: 4_000_000_000 },
      ["lifetimeSeconds"],
    ],
    ["an end that has come", { name: "a", expiresAt: 1_000 }, ["expiresAt"]],
    ["what is unknown", { name: "a", more: 1 }, ["more"]],
  ])("with %s is refused, and on no record", async (_name, body, fields) => {
    const event = "bounds";
    await mint.client.create({ event });
    const refused = await make(event, body);
    expect(refused.status).toBe(422);
    expect(refused.body.errors.map(({ field }: { field: string }) => field).toSorted()).toEqual(
      fields,
    );
    expect((await audits(event)).map(({ action }) => action)).toEqual(["create"]);
  });

  it("is made for an event that is there and goes on, by whoever has the admin token", async () => {
    const event = "over";
    await mint.client.create({ event });
    await mint.client.admin("POST", `/${event}/end`);
    expect((await make(event, { name: "a" })).status).toBe(410);
    expect((await make("nowhere", { name: "a" })).status).toBe(404);
    const path = `/v1/admin/events/${event}/service-tokens`;
    const unknown = await mint.client.ask("POST", path, { body: { name: "a" } });
    expect(unknown.status).toBe(401);
  });
});
