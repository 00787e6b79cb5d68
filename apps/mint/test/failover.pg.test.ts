/** Two mints on one PostgreSQL, as real processes: who leads when one of them is lost, stopped, cut off or replaced. */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { systemClock } from "@vestibule/kernel/clock.system";
import { createMintOrder } from "@vestibule/feed/mint-order";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { Wire } from "@vestibule/testkit/wire";
import { afterEach, describe, expect, it, vi } from "vitest";
import { LEASE_TTL_MS, SAFETY_GAP_NUMBERS } from "../src/limits.ts";
import { type Asked, MintProcess, newVisitor } from "./support/service.ts";

/** From the loss of a leader until a standby leads. */
const TAKEOVER_MS_MAX = 5_000;
/** A standby looks twice a second whether the lease is free. */
const HANDOVER_MS_MAX = 1_500;

const mints: MintProcess[] = [];
const wires: Wire[] = [];
afterEach(async () => {
  for (const mint of mints) mint.child.kill("SIGCONT");
  await Promise.all(mints.splice(0).map((mint) => mint.kill("SIGKILL")));
  for (const wire of wires.splice(0)) wire.close();
});

async function run(url: string, how: "start" | "standby", environment?: Record<string, string>) {
  const mint = await MintProcess[how](url, environment);
  mints.push(mint);
  return mint;
}

interface Fan {
  readonly visitor: string;
  readonly number: number;
  readonly ticket: string;
}

async function join(mint: MintProcess): Promise<Fan> {
  const visitor = newVisitor();
  const { status, body } = await mint.client.join(visitor);
  expect(status).toBe(201);
  return { visitor, number: body.number, ticket: body.ticket };
}

/** A leader with two fans whose slots are committed, behind a wire to PostgreSQL that can be cut; and a standby. */
async function pair() {
  const url = await freshDatabase();
  const wire = await Wire.open();
  wires.push(wire);
  const leader = await run(wire.through(url), "start");
  const standby = await run(url, "standby");
  await leader.client.create({ ratePerMinute: 60_000 });
  const [first, second] = [await join(leader), await join(leader)];
  const claim = ({ visitor, ticket }: Fan, at: MintProcess) => at.client.claim(visitor, ticket);
  await expect.poll(async () => (await claim(first, leader)).status).toBe(201);
  return { leader, standby, wire, second, claim };
}

/** How long until it leads, milliseconds. */
async function leads(standby: MintProcess): Promise<number> {
  const from = performance.now();
  await standby.client.ready();
  return performance.now() - from;
}

/** Fifty joins at a mint that may or may not lead: what it gives is its own, and given once. */
async function fifty(mint: MintProcess): Promise<number[]> {
  const answers = await Promise.all(Array.from({ length: 50 }, () => mint.client.join()));
  for (const { status, headers } of answers) {
    if (status === 201) continue;
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toMatch(/^[12]$/);
  }
  return answers.filter(({ status }) => status === 201).map(({ body }) => body.number as number);
}

const drip = ({ client }: MintProcess): Promise<Asked> =>
  client.ask("GET", "/v1/events/spring/drip");

function expectOnce(numbers: readonly number[]): void {
  expect(new Set(numbers).size).toBe(numbers.length);
}

describe("a standby leads within 5 s", () => {
  it("of SIGKILL of the leader, behind the safety gap: claims go on, no number twice", async () => {
    const { leader, standby, second, claim } = await pair();
    const before = await fifty(leader);
    leader.child.kill("SIGKILL");
    expect(await leads(standby)).toBeLessThan(TAKEOVER_MS_MAX);
    const after = await fifty(standby);
    expect(Math.min(...after)).toBeGreaterThan(Math.max(...before) + SAFETY_GAP_NUMBERS);
    expectOnce([...before, ...after]);
    expect((await claim(second, standby)).status).toBe(201);
  }, 60_000);

  it("of SIGSTOP of the leader, which wakes and can do no harm: it claims nothing, says nothing, gives its own numbers at most", async () => {
    const { leader, standby, second, claim } = await pair();
    const before = await fifty(leader);
    leader.child.kill("SIGSTOP");
    // They reach it while it is stopped, and are the first thing that it sees.
    const late = [fifty(leader), claim(second, leader), drip(leader)] as const;
    expect(await leads(standby)).toBeLessThan(TAKEOVER_MS_MAX);
    const after = await fifty(standby);
    expect(after).toHaveLength(50);
    leader.child.kill("SIGCONT");
    const [stale, claimed, said] = await Promise.all(late);
    expectOnce([...before, ...after, ...stale]);
    expect([claimed.status, said.status]).toEqual([503, 503]);
    await expect.poll(async () => (await fifty(leader)).length).toBe(0);
    expect((await drip(leader)).status).toBe(503);
    expect((await claim(second, standby)).status).toBe(201);
  }, 60_000);

  it("of a cut between leader and database: the leader claims nothing, falls silent, and stands by when the cut is mended", async () => {
    const { leader, standby, wire, second, claim } = await pair();
    const before = await fifty(leader);
    wire.break("lose");
    const lost = claim(second, leader);
    expect(await leads(standby)).toBeLessThan(TAKEOVER_MS_MAX);
    const after = await fifty(standby);
    // Nobody has told it: what it has reserved it may give.
    expectOnce([...before, ...after, ...(await fifty(leader))]);
    expect((await drip(leader)).status).toBe(503);
    expect((await lost).status).toBe(503);
    wire.mend();
    await expect
      .poll(async () => (await fifty(leader)).length, { timeout: 2 * LEASE_TTL_MS })
      .toBe(0);
    expect((await leader.client.ask("GET", "/readyz")).status).toBe(503);
    expect((await claim(second, standby)).status).toBe(201);
  }, 60_000);
});

describe("a clean shutdown", () => {
  it("hands over at once, with no gap in the numbers", async () => {
    const { leader, standby } = await pair();
    const before = await fifty(leader);
    leader.child.kill("SIGTERM");
    expect(await leads(standby)).toBeLessThan(HANDOVER_MS_MAX);
    const after = await fifty(standby);
    const numbers = [1, 2, ...before, ...after].toSorted((one, other) => one - other);
    expect(numbers).toEqual(Array.from({ length: 102 }, (_, index) => index + 1));
    await leader.exited;
    expect(leader.child.exitCode).toBe(0);
  }, 60_000);

  it("MH-04: a rolling deploy fails no join of fans who ask the next mint, and skips no number", async () => {
    const url = await freshDatabase();
    const ports = await freePorts(3);
    const at = (index: number, how: "start" | "standby") =>
      run(url, how, { VESTIBULE_PORT: String(ports[index]) });
    const [oldLeader, oldStandby] = [await at(0, "start"), await at(1, "standby")];
    await oldLeader.client.create();
    const crowd = joining(ports.map((port) => `http://127.0.0.1:${port}`));

    await crowd.has(50);
    await at(2, "standby");
    await oldLeader.kill("SIGTERM");
    await crowd.has(50);
    const newSecond = await at(0, "standby");
    await oldStandby.kill("SIGTERM");
    await crowd.has(50);
    const { numbers, waitedMsMax } = await crowd.stop();

    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => index + 1));
    // A page comes back after the second that it is told, or two.
    expect(waitedMsMax).toBeLessThan(5_000);
    expect([oldLeader.child.exitCode, oldStandby.child.exitCode]).toEqual([0, 0]);
    expect((await newSecond.client.ask("GET", "/healthz")).status).toBe(200);
  }, 60_000);
});

/** Fans who join one after the other, eight at a time, and ask the mints in an edge's order, again after a second. */
function joining(urls: readonly string[]) {
  const order = createMintOrder(urls);
  const numbers: number[] = [];
  const run = { stopped: false, waitedMsMax: 0 };
  const tryOnce = async (visitor: string): Promise<number | undefined> => {
    for (const url of order.urls(systemClock.now())) {
      const answer = await fetch(`${url}/v1/events/spring/tickets`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ visitor }),
      }).catch(() => undefined);
      if (answer === undefined) order.failed(url, systemClock.now());
      else if (answer.status === 201) return ((await answer.json()) as { number: number }).number;
      else expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
    }
    return undefined;
  };
  const fan = async (): Promise<void> => {
    while (!run.stopped) {
      const from = performance.now();
      const visitor = newVisitor();
      const number = await vi.waitUntil(() => tryOnce(visitor), {
        interval: 1_000,
        timeout: 20_000,
      });
      run.waitedMsMax = Math.max(run.waitedMsMax, performance.now() - from);
      numbers.push(number);
    }
  };
  const fans = Promise.all(Array.from({ length: 8 }, fan));
  return {
    /** So many more of them hold a number. */
    has: async (more: number) => {
      const wanted = numbers.length + more;
      await expect.poll(() => numbers.length, { timeout: 20_000 }).toBeGreaterThan(wanted);
    },
    stop: async () => {
      run.stopped = true;
      await fans;
      numbers.sort((one, other) => one - other);
      return { numbers, waitedMsMax: run.waitedMsMax };
    },
  };
}

async function freePorts(count: number): Promise<readonly number[]> {
  const probes = Array.from({ length: count }, () => createServer().listen(0, "127.0.0.1"));
  await Promise.all(probes.map((probe) => once(probe, "listening")));
  const ports = probes.map((probe) => (probe.address() as AddressInfo).port);
  for (const probe of probes) probe.close();
  await Promise.all(probes.map((probe) => once(probe, "close")));
  return ports;
}
