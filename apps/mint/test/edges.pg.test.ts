/** Clocks of the locations over HTTP, on a real mint and a real database: the question, the view, the metrics. */
import { readFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { type EdgesView, edgesViewSchema } from "@vestibule/contracts/edges-api";
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { addMs } from "@vestibule/kernel/units";
import { systemClock } from "@vestibule/kernel/clock.system";
import { createLog, type Log } from "@vestibule/service/log";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { verifyTime } from "@vestibule/token/verify-time";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ADMIN_TOKEN,
  type Asked,
  ISSUER,
  localMint,
  type LocalMint,
  METRICS_TOKEN,
  MintProcess,
  SUPPLY_TOKEN,
} from "./support/service.ts";

/** A look that met a busy machine says nothing; the next one is ten seconds later. */
const PATIENCE = { timeout: 25_000 };
const lines: string[] = [];
const log: Log = createLog({
  service: "mint",
  clock: systemClock,
  write: (line) => void lines.push(line),
});
let mint: LocalMint;
let keys: KeySet;

beforeAll(async () => {
  mint = await localMint({ log, trustProxyHops: 1 });
  await mint.client.create();
  const read = await parseJwks((await mint.client.ask("GET", "/.well-known/jwks.json")).body);
  if (!read.ok) throw new Error("refused");
  keys = read.value;
});
afterAll(() => mint.stop());

const newNonce = (): string => randomBytes(16).toString("base64url");

function ask(
  location: string,
  change: Record<string, unknown> = {},
  address = "192.0.2.1",
): Promise<Asked> {
  const body = { nonce: newNonce(), state: "unknown", skewSeconds: 5, ...change };
  return mint.client.ask("POST", `/v1/edges/${location}/clock`, {
    body,
    headers: { "X-Forwarded-For": address },
  });
}

async function view({ client }: LocalMint = mint): Promise<EdgesView> {
  const { body } = await client.ask("GET", "/v1/admin/edges", {
    headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  return edgesViewSchema.parse(body);
}

const rowsOf = async (location: string) =>
  (await view()).edges.filter((row) => row.location === location);

async function metrics({ client }: Pick<LocalMint, "client"> = mint): Promise<string> {
  const { body } = await client.ask("GET", "/metrics", {
    headers: { Authorization: `Bearer ${METRICS_TOKEN}` },
  });
  return body;
}

describe("the question", () => {
  it("is answered with the mint's time, signed for its nonce, between its sending and its receiving", async () => {
    const nonce = newNonce();
    const sentAt = Date.now();
    const { status, headers, body } = await ask("fra", { nonce });
    const receivedAt = Date.now();
    expect(status).toBe(200);
    expect(headers.get("cache-control")).toBe("no-store");
    const read = await verifyTime(body.time, { keys, issuer: ISSUER, nonce });
    if (!read.ok) throw new Error(read.refusal.reason);
    expect(read.value.at).toBeGreaterThanOrEqual(sentAt);
    expect(read.value.at).toBeLessThanOrEqual(receivedAt);
    const other = await verifyTime(body.time, { keys, issuer: ISSUER, nonce: newNonce() });
    expect(other).toMatchObject({ ok: false });
  });

  it("is refused with every mistake at once, in path and body, and makes no row", async () => {
    const wrong = await ask("no%20name%0a", {
      nonce: "short",
      state: "fine",
      skewSeconds: 61,
      keysSeq: -1,
      estimate: { offsetMs: 0.5, uncertaintyMs: -1, more: 1 },
      typo: 1,
    });
    expect(wrong.status).toBe(422);
    const fields = wrong.body.errors.map(({ field }: { field: string }) => field);
    expect(fields.toSorted()).toEqual([
      "estimate.more",
      "estimate.offsetMs",
      "estimate.uncertaintyMs",
      "keysSeq",
      "location",
      "nonce",
      "skewSeconds",
      "state",
      "typo",
    ]);
    expect((await view()).edges.every(({ location }) => location === "fra")).toBe(true);
  });

  it.each<[number, string, Record<string, unknown>]>([
    [422, "a list", { body: "[]" }],
    [422, "null", { body: "null" }],
    [422, "no nonce", { body: '{"state":"good","skewSeconds":5}' }],
    [400, "no JSON", { body: "{" }],
    [400, "no UTF-8 text", { body: "\u0000" }],
    [413, "more than six kilobytes", { body: JSON.stringify({ nonce: "x".repeat(6_144) }) }],
    [415, "a form", { body: "nonce=1", headers: { "Content-Type": "text/plain" } }],
  ])("rubbish is answered with %d: %s", async (status, _name, options) => {
    const answer = await mint.client.ask("POST", "/v1/edges/rubbish/clock", options);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(await rowsOf("rubbish")).toEqual([]);
  });
});

describe("passes", () => {
  it("are summed by rule, of rules that there are, and shown beside the clock and in the metrics", async () => {
    const event = "passing";
    const bypass = [{ paths: ["/passing/a"] }, { paths: ["/passing/b"] }];
    await mint.client.create({ event, bypass });
    expect((await ask("lhr")).body.takes).toEqual(["passes"]);
    const tell = (...passes: object[]) => ask("lhr", { passes });
    await tell({ event, rule: 1, count: 5 }, { event, rule: 2, count: 1 });
    await tell({ event, rule: 1, count: 2 }, { event: "nowhere", rule: 0, count: 1 });
    await ask("lhr");
    const [row] = await rowsOf("lhr");
    expect(row?.passes).toEqual([{ event, rule: 1, count: 7 }]);
    const line = `vestibule_edge_passes_total{location="lhr",sender="${row?.sender}",event="${event}",rule="1"} 7`;
    expect(await metrics()).toContain(line);
    const bad = { event: "Passing", rule: 64, count: 0 };
    expect((await tell(bad)).status).toBe(422);
    const many = Array.from({ length: 33 }, () => ({ event, rule: 0, count: 1 }));
    expect((await tell(...many)).status).toBe(422);
    expect((await tell(...many.slice(1))).status).toBe(200);
    expect((await rowsOf("lhr"))[0]?.passes).toContainEqual({ event, rule: 0, count: 32 });
  });
});

describe("the view", () => {
  it("has what each row said last, by the mint's clock, and names senders without their addresses", async () => {
    const estimate = { offsetMs: -120, uncertaintyMs: 15 };
    await ask("cdg", { state: "good", estimate, keysSeq: 7 }, "2001:db8:1:2::1");
    const [row] = await rowsOf("cdg");
    expect(row).toMatchObject({
      location: "cdg",
      state: "good",
      estimate,
      keysSeq: 7,
      skewSeconds: 5,
    });
    expect(row?.sender).toMatch(/^[0-9a-f]{12}$/);
    expect(Math.abs((row?.reportedAt ?? 0) - Date.now())).toBeLessThan(10_000);
    expect(row?.keysSeqAt).toBe(row?.reportedAt);
    await ask("cdg", { keysSeq: 7 }, "2001:db8:1:2:ffff::9");
    const [later, ...others] = await rowsOf("cdg");
    expect(others).toEqual([]);
    expect(later?.keysSeqAt).toBe(row?.keysSeqAt);
    await ask("cdg", {}, "2001:db8:1:3::1");
    expect(await rowsOf("cdg")).toHaveLength(2);
  });

  it("is closed without the admin's token", async () => {
    for (const token of ["", "wrong", SUPPLY_TOKEN, METRICS_TOKEN]) {
      const headers = { Authorization: `Bearer ${token}` };
      expect((await mint.client.ask("GET", "/v1/admin/edges", { headers })).status).toBe(401);
    }
  });

  it("finds the mint's clock to be PostgreSQL's on one machine, with an uncertainty that a round trip has", async () => {
    await expect.poll(async () => (await view()).mint.state, PATIENCE).toBe("good");
    const { estimate } = (await view()).mint;
    expect(estimate?.uncertaintyMs).toBeLessThan(2_000);
    expect(Math.abs(estimate?.offsetMs ?? Infinity)).toBeLessThanOrEqual(
      estimate?.uncertaintyMs ?? 0,
    );
  });
});

describe("the log", () => {
  it("has one line when a location's clock is off, and what anybody sends stays within its line", async () => {
    const estimate = { offsetMs: 7_000, uncertaintyMs: 20 };
    await ask("lhr", { state: "wrong", estimate }, "203.0.113.5");
    await ask("lhr", { state: "wrong", estimate }, "203.0.113.5");
    await ask("lhr%0A%22injected", { state: "wrong", estimate }, "203.0.113.5");
    const said = lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg === "edge-clock-wrong");
    expect(said).toMatchObject([{ level: "warn", location: "lhr", ...estimate, skewSeconds: 5 }]);
    expect(lines.some((line) => line.includes("injected"))).toBe(false);
  });
});

describe("metrics", () => {
  it("are closed to everybody without their own token", async () => {
    for (const token of ["", "wrong", ADMIN_TOKEN, SUPPLY_TOKEN]) {
      const headers = { Authorization: `Bearer ${token}` };
      expect((await mint.client.ask("GET", "/metrics", { headers })).status).toBe(401);
    }
    expect((await mint.client.ask("GET", "/metrics")).status).toBe(401);
  });

  it("tell clocks, keys, leadership and events, and nothing twice", async () => {
    await ask("ber", { estimate: { offsetMs: -3_000, uncertaintyMs: 50 }, keysSeq: 9 });
    await expect
      .poll(() => metrics(), PATIENCE)
      .toContain("\nvestibule_mint_clock_offset_seconds ");
    const text = await metrics();
    const [row] = await rowsOf("ber");
    const labels = `location="ber",sender="${row?.sender}"`;
    const wanted = [
      `vestibule_edge_clock_offset_seconds{${labels}} -3`,
      `vestibule_edge_clock_uncertainty_seconds{${labels}} 0.05`,
      `vestibule_edge_clock_state{${labels},state="warn"} 1`,
      `vestibule_edge_keys_seq{${labels}} 9`,
      'vestibule_mint_clock_state{state="good"} 1',
      "vestibule_mint_leading 1",
      "vestibule_mint_epoch 1",
      'vestibule_keys{use="line",state="signing"} 1',
      'vestibule_keys{use="admission",state="revoked"} 0',
      'vestibule_event_issued{event="spring"} 0',
      'vestibule_event_committed{event="spring"} 0',
      'vestibule_event_rate_per_minute{event="spring"} 600',
      'vestibule_event_failing{event="spring"} 0',
      'vestibule_event_state{event="spring",state="open"} 1',
      "vestibule_edges_turned_away_total 0",
    ];
    const have = text.split("\n");
    for (const line of wanted) expect(have).toContain(line);
    expect(text).toMatch(/^vestibule_mint_clock_offset_seconds -?[\d.e-]+$/m);
    expect(text).toMatch(/^vestibule_clock_questions_total\{outcome="answered"\} \d+$/m);
    const series = have
      .filter((line) => !line.startsWith("#") && line !== "")
      .map((line) => line.slice(0, line.lastIndexOf(" ")));
    expect(new Set(series).size).toBe(series.length);
  });

  it("are there in a mint as it is deployed, one file without node_modules", async () => {
    const deployed = await MintProcess.start(await freshDatabase(), {
      VESTIBULE_METRICS_TOKEN: METRICS_TOKEN,
    });
    try {
      expect(await metrics(deployed)).toContain("\nvestibule_mint_leading 1\n");
    } finally {
      await deployed.kill("SIGTERM");
    }
  });

  it("have every name that the example of alert rules asks for", async () => {
    const rules = readFileSync(
      new URL("../../../docs/prometheus-rules.yml", import.meta.url),
      "utf8",
    );
    const names = new Set(rules.match(/\bvestibule_\w+/g));
    expect(names.size).toBeGreaterThanOrEqual(5);
    const text = await metrics();
    for (const name of names) expect(text).toContain(`# TYPE ${name} `);
  });
});

describe("a mint whose own clock is off", () => {
  it("says so in view, metrics and log, and goes on as before", async () => {
    const clock = { now: () => addMs(systemClock.now(), -600_000) };
    const watched = await localMint({ log, clock });
    try {
      await expect.poll(async () => (await view(watched)).mint.state, PATIENCE).toBe("wrong");
      const { offsetMs = 0, uncertaintyMs = 0 } = (await view(watched)).mint.estimate ?? {};
      expect(Math.abs(offsetMs + 600_000)).toBeLessThanOrEqual(uncertaintyMs);
      const said = lines.map((line) => JSON.parse(line));
      expect(said.filter(({ msg }) => msg === "mint-clock-wrong")).toHaveLength(1);
      expect(watched.running.isLeading()).toBe(true);
      expect((await watched.client.create()).status).toBe(201);
    } finally {
      await watched.stop();
    }
  });
});

describe("a mint that does not lead", () => {
  it("gives no time, since its clock signs nothing; it watches its own clock and shows its figures", async () => {
    const url = await freshDatabase();
    const leader = await localMint({ url });
    const standby = await localMint({ url, log, isStandby: true });
    try {
      const body = { nonce: newNonce(), state: "unknown", skewSeconds: 5 };
      const path = "/v1/edges/fra/clock";
      expect((await leader.client.ask("POST", path, { body })).status).toBe(200);
      const before = lines.length;
      const refused = await standby.client.ask("POST", path, { body });
      expect(refused.status).toBe(503);
      expect(refused.body.type).toBe("urn:vestibule:problem:unavailable");
      expect(refused.headers.get("retry-after")).toBe("1");
      expect(lines.slice(before)).toEqual([]);
      await expect
        .poll(() => metrics(standby), PATIENCE)
        .toContain("\nvestibule_mint_clock_offset_seconds ");
      const text = await metrics(standby);
      expect(text).toContain("\nvestibule_mint_leading 0\n");
      expect(text).toContain("\nvestibule_edges 0\n");
      expect(text).not.toContain("\nvestibule_mint_epoch ");
      expect(await metrics(leader)).toContain("\nvestibule_edges 1\n");
    } finally {
      await standby.stop();
      await leader.stop();
    }
  });
});
