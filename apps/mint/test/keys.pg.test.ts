/** Keys over HTTP, on a real database: the API, the audit log, failover, and the key-encryption key. */
import { readFileSync } from "node:fs";
import { KEY_STAGED_SECONDS, KEYS_PROPAGATION_SECONDS } from "@vestibule/contracts/limits";
import { connectDatabase } from "@vestibule/db/connect";
import { systemClock } from "@vestibule/kernel/clock.system";
import { addMs } from "@vestibule/kernel/units";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { payload } from "./support/world.ts";
import {
  KEK_BYTES,
  localMint,
  type LocalMint,
  MintProcess,
  newVisitor,
  runMint,
} from "./support/service.ts";

interface Key {
  readonly kid: string;
  readonly use: string;
  readonly state: string;
  readonly next?: { readonly safeFrom: number; readonly isSafe: boolean };
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");
const jwks = async (mint: { client: LocalMint["client"] }) =>
  mint.client.ask("GET", "/.well-known/jwks.json");

describe("the admin API of keys", () => {
  let mint: LocalMint;
  let aheadMs = 0;
  beforeAll(async () => {
    mint = await localMint({ clock: { now: () => addMs(systemClock.now(), aheadMs) } });
    await mint.client.create();
  });
  afterAll(() => mint.stop());

  const find = async (use: string, state: string): Promise<Key> => {
    const { body } = await mint.client.keys("GET");
    const key = (body.keys as Key[]).find((each) => each.use === use && each.state === state);
    if (key === undefined) throw new Error(`no ${state} key of ${use}`);
    return key;
  };
  it("is closed without the token", async () => {
    for (const [method, path] of [
      ["GET", ""],
      ["POST", ""],
      ["POST", "/x/revoke"],
    ] as const) {
      const body = method === "GET" ? undefined : {};
      expect((await mint.client.ask(method, `/v1/admin/keys${path}`, { body })).status).toBe(401);
    }
  });

  it("lists states, times, the policy and the mint's clock, and nothing that is secret", async () => {
    const { status, body } = await mint.client.keys("GET");
    expect(status).toBe(200);
    expect(Math.abs(body.serverTime - Date.now())).toBeLessThan(5_000);
    expect(body.policies.line).toMatchObject({
      stagedSeconds: KEY_STAGED_SECONDS,
      signForSeconds: null,
    });
    expect(body.keys.map(({ use, state }: Key) => `${use} ${state}`).toSorted()).toEqual([
      ...["admission signing", "admission staged", "line signing", "line staged"],
    ]);
    expect(JSON.stringify(body)).not.toMatch(/sealed|"d"|"x"/);
  });

  it("refuses a step that is not safe with 409 and safeFrom; force needs a reason", async () => {
    const { kid: first } = await find("admission", "staged");
    // It came in one set with the key that signs.
    expect((await mint.client.keys("POST", `/${first}/activate`)).status).toBe(200);
    const { kid, next } = await find("admission", "staged");
    const early = await mint.client.keys("POST", `/${kid}/activate`);
    expect([early.status, early.body.type]).toEqual([409, "urn:vestibule:problem:not-yet-safe"]);
    expect(early.body.safeFrom).toBe(next?.safeFrom);
    for (const body of [
      { force: true },
      { force: true, reason: " " },
      { force: true, reason: "a\nb" },
    ])
      expect((await mint.client.keys("POST", `/${kid}/activate`, body)).status).toBe(400);
    expect((await mint.client.keys("POST", "/nobody/activate")).status).toBe(404);
    expect((await mint.client.keys("POST", "", { use: "both" })).status).toBe(400);
  });

  it("makes one key at most for one look, however often it is asked", async () => {
    const look = await mint.client.keys("GET");
    const etag = look.headers.get("etag") ?? "";
    expect(etag).toBe(`"${look.body.seq}"`);
    const stage = (headers: Record<string, string>) =>
      mint.client.keys("POST", "", { use: "line" }, headers);
    expect((await stage({ "If-Match": etag })).status).toBe(201);
    const again = await stage({ "If-Match": etag });
    expect([again.status, again.body.type]).toEqual([
      412,
      "urn:vestibule:problem:version-mismatch",
    ]);
    expect((await stage({ "If-Match": "what was seen" })).status).toBe(412);
    expect((await mint.client.keys("GET")).body.keys).toHaveLength(look.body.keys.length + 1);
  });

  it("activates, says so once, publishes a new number, and writes it down", async () => {
    const before = await jwks(mint);
    aheadMs = KEY_STAGED_SECONDS * 1_000;
    const { kid } = await find("admission", "staged");
    const reason = "planned";
    const done = await mint.client.keys("POST", `/${kid}/activate`, { reason });
    expect([done.status, done.body.changed, done.body.key.state]).toEqual([200, true, "signing"]);
    const again = await mint.client.keys("POST", `/${kid}/activate`, { reason });
    expect([again.status, again.body.changed]).toEqual([200, false]);
    const after = await jwks(mint);
    expect(after.headers.get("etag")).not.toBe(before.headers.get("etag"));
    expect(after.headers.get("cache-control")).toBe("public, max-age=60");
    expect(after.body.seq).toBeGreaterThan(before.body.seq);
    const rows = await mint.database.sql`
      select actor, detail from audit_log where action = 'key-activate'`;
    expect(rows.filter(({ detail }) => detail.kid === kid)).toEqual([
      { actor: "admin-token", detail: expect.objectContaining({ kid, reason }) as object },
    ]);
    // Of the keys that sign no more the private half is gone from the database.
    const old = await mint.database.sql`select sealed from signing_keys where state = 'retiring'`;
    expect(old.map(({ sealed }) => sealed as unknown)).toEqual([null, null]);
  });

  it("revokes: whoever holds an admission claims again and keeps the slot", async () => {
    const visitor = newVisitor();
    const { body: place } = await mint.client.join(visitor);
    const claim = () => mint.client.claim(visitor, place.ticket);
    await vi.waitUntil(async () => (await claim()).status === 201, {
      timeout: 10_000,
      interval: 100,
    });
    const first = payload((await claim()).body.admission);
    const { kid } = await find("admission", "signing");
    const done = await mint.client.keys("POST", `/${kid}/revoke`, { reason: "leaked" });
    expect([done.status, done.body.key.state]).toEqual([200, "revoked"]);
    expect((await jwks(mint)).body.keys.map((key: Key) => key.kid)).not.toContain(kid);
    const second = await claim();
    expect(second.status).toBe(201);
    const { iat: _one, ...slot } = first;
    const { iat: _two, ...slotAgain } = payload(second.body.admission);
    expect(slotAgain).toEqual(slot);
    const drip = await mint.client.ask("GET", "/v1/events/spring/drip");
    expect(payload(drip.body)["keysSeq"]).toBe((await jwks(mint)).body.seq);
  });
});

describe("the key-encryption key", () => {
  it("is rotated by itself, at a start; a wrong one stops the start and says what to do", async () => {
    const url = await freshDatabase();
    const fresh = new Uint8Array(32).fill(9);
    const first = await localMint({ url });
    const before = (await jwks(first)).body;
    await first.stop();
    const second = await localMint({ url, kek: fresh, kekPrevious: KEK_BYTES });
    const after = (await jwks(second)).body;
    expect(after.keys).toEqual(before.keys);
    expect(after.seq).toBeGreaterThan(before.seq);
    await second.stop();
    const refused = await runMint(url);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/VESTIBULE_KEK_PREVIOUS.*docs\/runbooks\/lost-kek\.md/s);
    expect(refused.stderr).not.toContain(base64url(KEK_BYTES));
    const third = await localMint({ url, kek: fresh });
    expect((await jwks(third)).body.keys).toEqual(before.keys);
    await third.stop();
  });
});

describe("the runbook of a lost key-encryption key", () => {
  it("costs no place and no admission", async () => {
    const runbook = readFileSync(
      new URL("../../../docs/runbooks/lost-kek.md", import.meta.url),
      "utf8",
    );
    const [, statement] = /```sql\n([^`]+)```/.exec(runbook) ?? [];
    const url = await freshDatabase();
    const first = await localMint({ url });
    await first.client.create();
    const visitor = newVisitor();
    const { body: place } = await first.client.join(visitor);
    const { body: before } = await jwks(first);
    await first.stop();
    const database = connectDatabase({ url, applicationName: "test" });
    const inside = (statement ?? "").replace(/^begin;$|^commit;$/gm, "");
    await database.transaction((sql) => sql.unsafe(inside));
    await database.close();
    const second = await localMint({ url, kek: new Uint8Array(32).fill(5) });
    const again = await second.client.ask("POST", "/v1/events/spring/tickets", {
      body: { visitor, ticket: place.ticket },
    });
    expect([again.status, again.body.number]).toEqual([200, place.number]);
    const { body } = await second.client.keys("GET");
    expect(body.keys.map(({ use, state }: Key) => `${use} ${state}`).toSorted()).toEqual([
      ...["admission retiring", "admission revoked", "admission signing", "admission staged"],
      ...["line retiring", "line revoked", "line signing", "line staged"],
    ]);
    const kids = (await jwks(second)).body.keys.map(({ kid }: Key) => kid);
    const old = (before.keys as Key[]).map(({ kid }) => kid);
    expect(old.filter((kid) => kids.includes(kid))).toHaveLength(2);
    await second.stop();
  });
});

describe("a standby", () => {
  it("publishes what the leader did, changes nothing, and signs with the same keys once it leads", async () => {
    const url = await freshDatabase();
    const leader = await localMint({ url });
    const standby = await localMint({ url, isStandby: true });
    await leader.client.create();
    const visitor = newVisitor();
    const { body: place } = await leader.client.join(visitor);
    const { body } = await leader.client.keys("GET");
    const signing = (body.keys as Key[]).find(
      ({ use, state }) => use === "admission" && state === "signing",
    );
    expect((await standby.client.keys("POST", `/${signing?.kid}/revoke`)).status).toBe(503);
    expect((await leader.client.keys("POST", `/${signing?.kid}/revoke`)).status).toBe(200);
    const after = (await jwks(leader)).body;
    const until = { timeout: KEYS_PROPAGATION_SECONDS * 1_000, interval: 50 };
    await vi.waitUntil(async () => (await jwks(standby)).body.seq === after.seq, until);
    expect((await jwks(standby)).body).toEqual(after);
    await leader.stop();
    await standby.client.ready();
    const again = await standby.client.ask("POST", "/v1/events/spring/tickets", {
      body: { visitor, ticket: place.ticket },
    });
    expect([again.status, again.body.number]).toEqual([200, place.number]);
    const { body: now } = await jwks(standby);
    expect(now.keys).toEqual(after.keys);
    expect(now.seq).toBeGreaterThan(after.seq);
    await standby.stop();
  });
});

describe("a leader that is killed", () => {
  it("leaves the keys to the next one, with a number that is newer", async () => {
    const url = await freshDatabase();
    const database = connectDatabase({ url, applicationName: "test" });
    const one = await MintProcess.start(url, { VESTIBULE_KEY_ROTATION_DAYS: "30" });
    const { body } = await one.client.keys("GET");
    expect(body.policies.admission.signForSeconds).toBe(30 * 86_400);
    const staged = (body.keys as Key[]).find(({ state }) => state === "staged");
    const force = { force: true, reason: "test" };
    const done = await one.client.keys("POST", `/${staged?.kid}/activate`, force);
    expect(done.status).toBe(200);
    const before = (await jwks(one)).body;
    await one.kill("SIGKILL");
    await database.sql`update lease set expires_at = now() - interval '1 second'`;
    const two = await MintProcess.start(url);
    const after = (await jwks(two)).body;
    expect(after.keys).toEqual(before.keys);
    expect(after.seq).toBeGreaterThan(before.seq);
    await two.kill("SIGTERM");
    await database.close();
  });
});
