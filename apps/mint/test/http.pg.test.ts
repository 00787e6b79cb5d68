import { Validator } from "@seriousme/openapi-schema-validator";
import { parse } from "@vestibule/contracts/parse";
import { previewSchema } from "@vestibule/contracts/preview-api";
import { parseJwks } from "@vestibule/keys/key-set";
import { epochMs } from "@vestibule/kernel/units";
import { verifyDrip } from "@vestibule/token/verify-drip";
import { verifyManifest } from "@vestibule/token/verify-manifest";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ADMIN_TOKEN,
  eventBody,
  FAR,
  localMint,
  type LocalMint,
  METRICS_TOKEN,
  newVisitor,
  SUPPLY_TOKEN,
} from "./support/service.ts";

let mint: LocalMint;

beforeAll(async () => {
  mint = await localMint();
  await mint.client.create();
});
afterAll(() => mint.stop());

describe("joins over HTTP", () => {
  it("law 1: 200 at once get 200 numbers; what is malformed, mixed in, takes none (MH-07)", async () => {
    const event = "mixed";
    await mint.client.create({ event });
    const bad: (() => Promise<number>)[] = [
      async () => (await mint.client.join(newVisitor(), "nowhere")).status,
      async () => (await mint.client.join(newVisitor(), "UPPER")).status,
      async () => (await mint.client.join("short", event)).status,
      async () => (await mint.client.join("x".repeat(20_000), event)).status,
      async () =>
        (await mint.client.ask("POST", `/v1/events/${event}/tickets`, { body: "{" })).status,
      async () =>
        (await mint.client.ask("POST", `/v1/events/${event}/tickets`, { body: "null" })).status,
      async () =>
        (
          await mint.client.ask("POST", `/v1/events/${event}/tickets`, {
            body: { visitor: newVisitor(), number: 1 },
          })
        ).status,
      async () =>
        (
          await mint.client.ask("POST", `/v1/events/${event}/tickets`, {
            body: JSON.stringify({ visitor: newVisitor() }),
            headers: { "Content-Type": "text/plain" },
          })
        ).status,
      async () => (await mint.client.ask("GET", `/v1/events/${event}/tickets`)).status,
    ];
    const wanted = [404, 404, 400, 413, 400, 400, 400, 415, 405];
    const asked = Array.from({ length: 200 }, async (_, index) => {
      const which = index % bad.length;
      expect(await bad[which]!()).toBe(wanted[which]);
      return mint.client.join(newVisitor(), event);
    });
    const answers = await Promise.all(asked);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    const numbers = answers.map(({ body }) => body.number).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  });

  it("answers a repeated join with 200 and the same place, and keeps no answer in a cache", async () => {
    const visitor = newVisitor();
    const first = await mint.client.join(visitor);
    const second = await mint.client.join(visitor);
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.body.number).toBe(first.body.number);
    expect(first.headers.get("cache-control")).toBe("no-store");
  });
});

describe("what edges read", () => {
  it("signs statements that the edge's verifiers take, with keys that it can read", async () => {
    const jwks = await mint.client.ask("GET", "/.well-known/jwks.json");
    expect(jwks.headers.get("cache-control")).toBe("public, max-age=60");
    const keys = await parseJwks(jwks.body);
    if (!keys.ok) throw new Error("refused");
    const options = {
      keys: keys.value,
      issuer: "https://mint.example",
      now: epochMs(Date.now()),
      skewSeconds: 5,
    };
    const drip = await mint.client.ask("GET", "/v1/events/spring/drip");
    expect(drip.headers.get("content-type")).toBe("application/jwt");
    expect(await verifyDrip(drip.body, { ...options, event: "spring" })).toMatchObject({
      ok: true,
    });
    const manifest = await mint.client.ask("GET", "/v1/manifest");
    expect(await verifyManifest(manifest.body, options)).toMatchObject({ ok: true });
  });

  it("answers 304 to whoever has the keys already", async () => {
    const first = await mint.client.ask("GET", "/.well-known/jwks.json");
    const again = await mint.client.ask("GET", "/.well-known/jwks.json", {
      headers: { "If-None-Match": first.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
  });

  it("publishes no private member of any key", async () => {
    const { body } = await mint.client.ask("GET", "/.well-known/jwks.json");
    expect(JSON.stringify(body)).not.toMatch(/"d":|sealed/);
    const rows = await mint.database.sql`select public_jwk, sealed from signing_keys`;
    expect(JSON.stringify(rows[0]?.["public_jwk"])).not.toMatch(/"d":/);
    expect(rows[0]?.["sealed"].split(".")).toHaveLength(5);
  });
});

describe("the admin API", () => {
  it("is closed to everybody without the token, in any spelling", async () => {
    for (const authorization of [
      "",
      "Bearer",
      "Bearer wrong",
      `Basic ${"t".repeat(40)}`,
      `Bearer ${"t".repeat(39)}`,
    ]) {
      for (const path of ["", "/spring", "/spring/hold", "/nowhere"]) {
        const answer = await mint.client.ask("GET", `/v1/admin/events${path}`, {
          headers: authorization === "" ? {} : { Authorization: authorization },
        });
        expect(answer.status, `${authorization} ${path}`).toBe(401);
      }
    }
  });

  it("names every mistake of a new event at once (AO-01), and creates nothing", async () => {
    const wrong = await mint.client.create({
      paths: ["/x"],
      event: "No Slug",
      ratePerMinute: 0,
      lifetimeSeconds: -1,
      horizonSeconds: "60",
      overdrivePercent: 1_001,
      maxAdmissions: 0,
      hosts: [],
      homePath: "//elsewhere",
      startsAt: FAR,
      joinableAt: FAR + 1,
      typo: 1,
    });
    expect(wrong.status).toBe(422);
    const fields = wrong.body.errors.map(({ field }: { field: string }) => field);
    expect(fields.toSorted()).toEqual(
      [
        "event",
        "homePath",
        "horizonSeconds",
        "hosts",
        // Its relations to others are looked at beside.
        "joinableAt",
        "joinableAt",
        "startsAt",
        "lifetimeSeconds",
        "maxAdmissions",
        "overdrivePercent",
        "ratePerMinute",
        "typo",
      ].toSorted(),
    );
    const infinite = JSON.stringify(eventBody({ event: "endless" })).replace("600", "1e309");
    expect((await mint.client.admin("POST", "", { body: infinite })).status).toBe(422);
    const notJson = infinite.replace("1e309", "NaN");
    expect((await mint.client.admin("POST", "", { body: notJson })).status).toBe(400);
    const past = await mint.client.create({
      event: "past",
      endsAt: 1_000,
      startsAt: 2_000,
      joinableAt: 3_000,
    });
    expect(past.body.errors).toHaveLength(4);
    expect((await mint.client.admin("GET", "/past")).status).toBe(404);
  });

  it.each([0, -1, 1.5, "10", " 5", "5e2", null, 1e-9, 2 ** 53, 1e12, true, [], {}])(
    "refuses a rate of %j by name, and goes on with the running one (AO-01, QP-05)",
    async (ratePerMinute) => {
      const { headers, body: before } = await mint.client.admin("GET", "/spring");
      const refused = await mint.client.admin("PATCH", "/spring", {
        body: { ratePerMinute },
        headers: { "If-Match": headers.get("etag") ?? "" },
      });
      expect(refused.status).toBe(422);
      expect(refused.body.errors[0].field).toBe("ratePerMinute");
      const { body: after } = await mint.client.admin("GET", "/spring");
      expect(after.ratePerMinute).toBe(before.ratePerMinute);
      expect(after.version).toBe(before.version);
    },
  );

  it("loses no change of one of two organizers: the second is told", async () => {
    const { headers } = await mint.client.admin("GET", "/spring");
    const match = { "If-Match": headers.get("etag") ?? "" };
    const change = (notice: string) =>
      mint.client.admin("PATCH", "/spring", { body: { notice }, headers: match });
    const statuses = (await Promise.all([change("one"), change("two")])).map(
      ({ status }) => status,
    );
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 412]);
    expect(
      (await mint.client.admin("PATCH", "/spring", { body: { notice: "three" } })).status,
    ).toBe(428);
    expect((await change("four")).status).toBe(412);
  });

  it("previews a change: the same is refused as by the change, every mistake at once, and nothing is written", async () => {
    const { headers, body: before } = await mint.client.admin("GET", "/spring");
    const match = { "If-Match": headers.get("etag") ?? "" };
    const wrong = {
      ratePerMinute: 1_000_001,
      ratePlan: [
        { at: 9, ratePerMinute: 60 },
        { at: 8, ratePerMinute: 0, ramp: true },
      ],
      approximationBudget: -1,
      overdrivePercent: 99,
      horizonSeconds: 10,
      endsAt: 1_000,
      lifetimeSeconds: 60,
    };
    const bad = [
      "approximationBudget",
      "endsAt",
      "horizonSeconds",
      "lifetimeSeconds",
      "overdrivePercent",
      "ratePerMinute",
      "ratePlan.1.at",
      "ratePlan.1.ramp",
      "ratePlan.1.ratePerMinute",
    ];
    for (const [method, path] of [
      ["POST", "/spring/preview"],
      ["PATCH", "/spring"],
    ] as const) {
      const ask = (body: object, more: Record<string, string> = match) =>
        mint.client.admin(method, path, { body, headers: more });
      const refused = await ask(wrong);
      expect(refused.status).toBe(422);
      const fields = refused.body.errors.map(({ field }: { field: string }) => field);
      expect(fields.toSorted()).toEqual(bad);
      expect((await ask({ ratePerMinute: 5, endsAt: 1 })).status).toBe(422);
      expect((await ask({ ratePerMinute: 5 }, {})).status).toBe(428);
      expect((await ask({ ratePerMinute: 5 }, { "If-Match": '"999"' })).status).toBe(412);
    }
    const body = { ratePerMinute: before.ratePerMinute * 2 };
    const said = await mint.client.admin("POST", "/spring/preview", { body, headers: match });
    expect(said.status).toBe(200);
    expect(said.headers.get("etag")).toBe(headers.get("etag"));
    expect(parse(previewSchema, said.body)).toMatchObject({ ok: true });
    expect(said.body.after.shoppersAtOnce).toBe(2 * said.body.before.shoppersAtOnce);
    expect(said.body.after.perMinute).toHaveLength(30);
    const { body: after } = await mint.client.admin("GET", "/spring");
    expect([after.version, after.ratePerMinute]).toEqual([before.version, before.ratePerMinute]);
  });

  it("holds, resumes, sells out and ends, each once in the audit log with who and what", async () => {
    const event = "audited";
    await mint.client.create({ event });
    const held = await mint.client.admin("POST", `/${event}/hold`, {
      body: { scope: "all", reason: "till" },
    });
    expect(held.body).toMatchObject({
      state: "paused",
      heldScope: "all",
      heldReason: "till",
      version: 2,
    });
    expect(held.headers.get("etag")).toBe('"2"');
    const soon = await mint.client.admin("POST", `/${event}/resume`);
    expect([200, 409]).toContain(soon.status);
    await expect
      .poll(async () => (await mint.client.admin("GET", `/${event}`)).body.state, {
        timeout: 5_000,
      })
      .toBe(soon.status === 200 ? "open" : "paused");
    await expect
      .poll(async () => (await mint.client.admin("POST", `/${event}/resume`)).status, {
        timeout: 5_000,
        interval: 100,
      })
      .toBeOneOf(soon.status === 200 ? [409] : [200]);
    expect((await mint.client.admin("POST", `/${event}/soldout`)).body.state).toBe("soldout");
    expect((await mint.client.join(newVisitor(), event)).status).toBe(409);
    expect((await mint.client.admin("POST", `/${event}/end`)).body.state).toBe("ended");
    expect((await mint.client.join(newVisitor(), event)).status).toBe(410);
    expect((await mint.client.admin("POST", `/${event}/hold`)).status).toBe(410);
    const rows = await mint.database.sql`
      select actor, action, version from audit_log where event = ${event} order by id`;
    expect(rows.map(({ action }) => action)).toEqual([
      "create",
      "hold",
      "resume",
      "soldout",
      "end",
    ]);
    expect(rows.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5]);
  });

  it("does nothing for a form of another site (AO-05)", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      const answer = await mint.client.admin("POST", "/spring/hold", {
        body: "scope=all",
        headers: { "Content-Type": type },
      });
      expect(answer.status).toBe(415);
    }
    expect((await mint.client.admin("GET", "/spring/hold")).status).toBe(405);
    expect((await mint.client.admin("GET", "/spring")).body.state).toBe("open");
  });

  it("refuses a second event of one name, and one beyond what a mint serves", async () => {
    expect((await mint.client.create()).body.type).toBe("urn:vestibule:problem:event-exists");
  });

  it("gives no path of a running event to another, but prepares one that follows it", async () => {
    await mint.client.create({ event: "first", endsAt: FAR - 1_000 });
    const paths = ["/second", "/first/*"];
    const same = await mint.client.create({ event: "second", paths });
    expect(same.status).toBe(422);
    expect(same.body.errors).toMatchObject([{ field: "paths.1" }]);
    const elsewhere = { event: "third", paths, hosts: ["other.example"] };
    expect((await mint.client.create(elsewhere)).status).toBe(201);
    const after = { event: "fourth", paths, joinableAt: FAR - 1_000, startsAt: FAR - 500 };
    expect((await mint.client.create(after)).status).toBe(201);
    await mint.client.admin("POST", "/fourth/end");
    await mint.client.admin("POST", "/first/end");
    expect((await mint.client.create({ event: "second", paths })).status).toBe(201);
  });

  it("shows figures that add up (AO-08)", async () => {
    const event = "figures";
    await mint.client.create({ event, ratePerMinute: 6_000 });
    const fans = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const visitor = newVisitor();
        return { visitor, ...(await mint.client.join(visitor, event)).body };
      }),
    );
    await expect
      .poll(async () => (await mint.client.admin("GET", `/${event}`)).body.serving, {
        timeout: 10_000,
      })
      .toBe(6);
    for (const { visitor, ticket } of fans.slice(0, 4)) {
      expect((await mint.client.claim(visitor, ticket, event)).status).toBe(201);
    }
    const { body } = await mint.client.admin("GET", `/${event}`);
    expect(body).toMatchObject({
      issued: 6,
      waiting: 0,
      upcoming: 0,
      committed: 6,
      claimed: 4,
      lapsed: 0,
      granted: 6,
    });
  });
});

describe("the OpenAPI document", () => {
  it("is valid OpenAPI 3.1, and every reference in it resolves", async () => {
    const { body } = await mint.client.ask("GET", "/openapi.json");
    const checked = await new Validator().validate(body);
    expect(checked.errors ?? []).toEqual([]);
    expect(body.openapi).toMatch(/^3\.1/);
    const refs = [...JSON.stringify(body).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      ([, path]) => path!,
    );
    for (const path of refs) {
      let node = body;
      for (const part of path.split("/")) node = node?.[part];
      expect(node, `#/${path}`).toBeDefined();
    }
  });

  it("describes every route that the mint answers, and no other", async () => {
    const { body } = await mint.client.ask("GET", "/openapi.json");
    for (const [template, operations] of Object.entries<Record<string, unknown>>(body.paths)) {
      const path = template.replace("{event}", "nowhere").replace("{location}", "nowhere");
      const token = /supply/.test(path)
        ? SUPPLY_TOKEN
        : path === "/metrics"
          ? METRICS_TOKEN
          : ADMIN_TOKEN;
      const documented = Object.keys(operations).map((method) => method.toUpperCase());
      for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
        const { status } = await mint.client.ask(method, path, {
          headers: { Authorization: `Bearer ${token}` },
          ...(method === "GET" ? {} : { body: {} }),
        });
        expect(status === 405, `${method} ${path} answered ${status}`).toBe(
          !documented.includes(method),
        );
      }
    }
  });

  it("takes what it describes: the example of a valid event is created", async () => {
    const { body } = await mint.client.ask("GET", "/openapi.json");
    const required = body.components.schemas.EventSettings.required as string[];
    const minimal = Object.fromEntries(
      Object.entries(eventBody({ event: "minimal" })).filter(([key]) => required.includes(key)),
    );
    expect(Object.keys(minimal).toSorted()).toEqual(required.toSorted());
    expect((await mint.client.admin("POST", "", { body: minimal })).status).toBe(201);
  });
});
