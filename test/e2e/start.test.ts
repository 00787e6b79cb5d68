/** The main job, as a newcomer gets it: one command, a sale that runs, a clean stop, the same data again. */
import { existsSync, readFileSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

import {
  type System,
  freePortBase,
  listen,
  runStart,
  startSystem,
  temporaryPlace,
} from "./start-system.ts";
import { environmentOf, partOf, secretsOf } from "./support/running-parts.ts";
import { NO_SERVER, SERVER, pathWithout, startServer } from "./support/store-server.ts";

// Two starts and stops of a whole system, beside the other tests of a small machine.
vi.setConfig({ testTimeout: 240_000 });

let place: string;
beforeAll(() => {
  place = temporaryPlace();
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

interface Stock {
  readonly sold: number;
  readonly total: number;
}

async function admin(system: System, url: string): Promise<unknown> {
  const answer = await fetch(url, {
    headers: { Authorization: `Bearer ${system.ready.adminToken}` },
  });
  expect(answer.status).toBe(200);
  return answer.json();
}

const stockOf = (system: System): Promise<Stock> => {
  const { purchase, event, sku } = system.ready;
  return admin(system, `${purchase}/v1/admin/events/${event}/stock/${sku}`) as Promise<Stock>;
};

const eventOf = (system: System): Promise<{ state: string; issued: number; rate: number }> => {
  const { mint, event } = system.ready;
  return admin(system, `${mint}/v1/admin/events/${event}`) as never;
};

/** Resolves when so many more seats are sold than when the purchase API first answers. */
async function soldRises(system: System, more: number): Promise<void> {
  const { sold } = await vi.waitFor(() => stockOf(system), { timeout: 20_000 });
  await vi.waitFor(
    async () => expect((await stockOf(system)).sold).toBeGreaterThanOrEqual(sold + more),
    { timeout: 60_000, interval: 250 },
  );
}

/** The process of the Valkey or Redis that was started with the sale. */
function storeOf(system: System): number {
  const pid = partOf(system, "redis") ?? partOf(system, "valkey");
  expect(pid).toBeDefined();
  return pid!;
}

async function setStock(system: System, total: number): Promise<void> {
  const { purchase, event, sku, adminToken } = system.ready;
  const answer = await fetch(`${purchase}/v1/admin/events/${event}/stock/${sku}`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${adminToken}`, "Content-Type": "application/json" },
    body: JSON.stringify({ total, perPurchaseMax: 4, showRemaining: true }),
  });
  expect(answer.status).toBe(200);
}

/** Processes that have to do with this directory. */
function processesOf(directory: string): readonly string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        // PostgreSQL is told its data, and every other part stands in them.
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return words.includes(directory) || readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
      } catch {
        return false;
      }
    });
}

describe("a sale from nothing", () => {
  let dataDir: string;
  let portBase: number;
  let sold: number;
  let issued: number;

  beforeAll(async () => {
    dataDir = join(place, "sale");
    portBase = await freePortBase();
  });

  test("a crowd waits, gets in and buys; nothing the fans check is violated; SIGTERM stops it all", async () => {
    const system = await startSystem({
      dataDir,
      portBase,
      fans: 60,
      rate: 600,
      seats: 500,
      horizon: 10,
    });
    await vi.waitFor(async () => expect((await stockOf(system)).sold).toBeGreaterThan(20), {
      timeout: 60_000,
      interval: 500,
    });
    for (const part of [
      system.ready.edge,
      system.ready.mint,
      system.ready.purchase,
      system.ready.shop,
    ]) {
      for (const host of ["localhost", "127.0.0.1"]) {
        await expect(fetch(part.replace("localhost", host))).resolves.toBeDefined();
      }
    }
    const page = await fetch(system.ready.eventUrl, { headers: { Accept: "text/html" } });
    expect(await page.text()).toContain("<html");
    await vi.waitFor(() => expect(system.output()).toMatch(/violations 0/), { timeout: 15_000 });
    ({ sold } = await stockOf(system));
    ({ issued } = await eventOf(system));
    const { code, ms } = await system.stop();
    expect(system.output()).not.toContain("VIOLATION");
    expect(code).toBe(0);
    expect(ms).toBeLessThan(15_000);
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("the next start goes on with the same sale, and a changed rate takes hold", async () => {
    const system = await startSystem({ dataDir, portBase, rate: 300 });
    expect(system.ready.event).toBe("demo");
    expect((await stockOf(system)).sold).toBeGreaterThanOrEqual(sold);
    const event = await eventOf(system);
    expect(event.issued).toBeGreaterThanOrEqual(issued);
    expect(event).toMatchObject({ rate: 300, state: "open" });
    expect(system.output()).toMatch(/Going on with the sale demo/);

    // Meanwhile, nobody else gets these data.
    const second = runStart(["--data", dataDir]);
    expect(await second.ended).not.toBe(0);
    expect(second.output()).toMatch(/runs already/);
    expect((await system.stop("SIGINT")).code).toBe(0);
  });

  test("what a killed launcher leaves is stopped, and the sale goes on", async () => {
    const killed = await startSystem({ dataDir, portBase });
    await killed.stop("SIGKILL");
    const system = await startSystem({ dataDir, portBase });
    expect((await stockOf(system)).sold).toBeGreaterThanOrEqual(sold);
    expect((await system.stop()).code).toBe(0);
    expect(processesOf(dataDir)).toEqual([]);
  });
});

describe("a sale to its end", () => {
  test("when the last seat is sold the line says so, nothing is oversold, and the next start opens a new sale", async () => {
    const dataDir = join(place, "sold-out");
    const options = { dataDir, portBase: await freePortBase(), rate: 1_200 };
    const system = await startSystem({ ...options, fans: 60, seats: 15, horizon: 10 });
    await vi.waitFor(async () => expect((await eventOf(system)).state).toBe("soldout"), {
      timeout: 60_000,
      interval: 500,
    });
    expect(await stockOf(system)).toMatchObject({ sold: 15, total: 15 });

    // Seats that come back reopen it, and the crowd comes back to buying.
    const { issued } = await eventOf(system);
    await vi.waitFor(() => expect(system.output()).toMatch(/Sold out/), { timeout: 10_000 });
    await setStock(system, 75);
    await vi.waitFor(async () => expect((await stockOf(system)).sold).toBe(75), {
      timeout: 60_000,
      interval: 500,
    });
    expect((await eventOf(system)).issued).toBeGreaterThan(issued);
    await vi.waitFor(
      () => expect(system.output()).toMatch(/Sold out[^]*Seats came back[^]*Sold out/),
      { timeout: 20_000 },
    );
    await system.stop();
    expect(system.output()).not.toContain("VIOLATION");

    const next = await startSystem(options);
    expect(next.ready.event).toBe("demo-2");
    expect(await eventOf(next)).toMatchObject({ state: "open" });
    // What was given the first time, and not now, still holds, and is told.
    expect(await stockOf(next)).toMatchObject({ total: 75, sold: 0 });
    expect(next.output()).toMatch(/demo is over[^]*75 seats, 1200 a minute/);
    await next.stop();
  });
});

describe("the store of limiter and gate", () => {
  const CROWD = { fans: 80, rate: 900, seats: 2_000, horizon: 10 } as const;

  test("a server of this machine is used; frozen or killed it ends nothing, and purchases go on when it is back", async (context) => {
    if (SERVER === undefined) context.skip(NO_SERVER);
    const dataDir = join(place, "own-store");
    const system = await startSystem({ ...CROWD, dataDir });
    const output = (): string => system.output();
    expect(output()).toMatch(/✓ (?:Redis|Valkey) \d+\.\d+/);
    await soldRises(system, 5);

    // No word of any secret stands in the list of processes, and the store keeps off our ports.
    const secrets = Object.values(secretsOf(system));
    for (const pid of processesOf(dataDir)) {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      for (const secret of secrets) expect(words).not.toContain(secret);
    }
    const url = new URL(/VALKEY_URL=([^\0]+)/.exec(environmentOf(system, "purchase") ?? "")![1]!);
    expect(url.hostname).toBe("127.0.0.1");
    const offset = Number(url.port) - system.portBase;
    expect(offset < 0 || offset > 4).toBe(true);

    const pid = storeOf(system);
    process.kill(pid, "SIGSTOP");
    await vi.waitFor(() => expect(output()).toMatch(/told to try again/), { timeout: 30_000 });
    await vi.waitFor(() => expect(output()).toMatch(/does not answer/), { timeout: 30_000 });
    process.kill(pid, "SIGCONT");
    await soldRises(system, 5);

    process.kill(pid, "SIGKILL");
    await vi.waitFor(() => expect(output()).toMatch(/is back: purchases go on/), {
      timeout: 30_000,
    });
    expect(output()).toMatch(/ended \(SIGKILL\): it is started again/);
    expect(storeOf(system)).not.toBe(pid);
    await soldRises(system, 5);
    expect((await system.stop()).code).toBe(0);
    expect(output()).not.toContain("VIOLATION");
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("without one on PATH the purchase API counts, and the start says so", async () => {
    const system = await startSystem({
      ...CROWD,
      environment: { PATH: pathWithout(place, ["valkey-server", "redis-server"]) },
    });
    expect(system.output()).toMatch(/no Valkey +the purchase API counts/);
    await soldRises(system, 5);
    expect((await system.stop()).code).toBe(0);
    expect(system.output()).not.toContain("VIOLATION");
  });

  test("the one of VALKEY_URL is used and never started or stopped; its password is not printed", async (context) => {
    if (SERVER === undefined) context.skip(NO_SERVER);
    const password = "p".repeat(40);
    const port = await freePortBase();
    let server = await startServer({ port, password });
    context.onTestFinished(() => void server.kill("SIGKILL"));
    const system = await startSystem({
      ...CROWD,
      environment: { VALKEY_URL: `redis://:${password}@127.0.0.1:${port}` },
    });
    const output = (): string => system.output();
    expect(output()).toContain(`127.0.0.1:${port}`);
    await soldRises(system, 5);

    server.kill("SIGKILL");
    await vi.waitFor(() => expect(output()).toMatch(/does not answer/), { timeout: 30_000 });
    server = await startServer({ port, password });
    await soldRises(system, 5);
    expect((await system.stop()).code).toBe(0);
    expect(server.exitCode).toBeNull();
    expect(output()).not.toContain(password);
    expect(output()).not.toContain("VIOLATION");
  });

  test.each([
    ["nobody answers at", (port: number) => `redis://:hidden-word@127.0.0.1:${port}`, 1],
    ["is no address", () => "hidden-word", 2],
  ])("a VALKEY_URL that %s is told before anything is made", async (_, url, code) => {
    const dataDir = join(place, `no-store-${code}`);
    const portBase = await freePortBase();
    const run = runStart(["--data", dataDir, "--port-base", String(portBase)], {
      VALKEY_URL: url(portBase + 3),
    });
    expect(await run.ended).toBe(code);
    expect(run.output()).toContain("VALKEY_URL");
    expect(run.output()).not.toContain("hidden-word");
    expect(run.output()).not.toMatch(/\n\s+at /);
    expect(existsSync(join(dataDir, "postgres"))).toBe(false);
    expect(processesOf(dataDir)).toEqual([]);
  });

  test("what the purchase API refuses of the environment is told in its words", async () => {
    const dataDir = join(place, "bad-environment");
    const run = runStart(["--data", dataDir, "--port-base", String(await freePortBase())], {
      TRUST_PROXY_HOPS: "many",
    });
    expect(await run.ended).toBe(1);
    expect(run.output()).toMatch(/TRUST_PROXY_HOPS/);
    expect(processesOf(dataDir)).toEqual([]);
  });
});

describe("a start that cannot be", () => {
  test("a taken port is named, with one that is free, and nothing stays behind", async () => {
    const portBase = await freePortBase();
    const taken = await listen(portBase + 2);
    const dataDir = join(place, "taken");
    const options = ["--data", dataDir, "--seats", "7"];
    const run = runStart([...options, "--port-base", String(portBase)]);
    expect(await run.ended).toBe(1);
    taken?.close();
    expect(run.output()).toContain(`Port ${portBase + 2} (purchase) is taken`);
    expect(run.output()).toContain(`start ${options.join(" ")} --port-base `);
    expect(run.output()).not.toContain(`--port-base ${portBase}\n`);
    expect(run.output()).not.toMatch(/\n\s+at /);
    expect(processesOf(dataDir)).toEqual([]);
    expect(existsSync(join(dataDir, "running.json"))).toBe(false);
  });

  test("a wrong option is told, with exit code 2", async () => {
    const run = runStart(["--fans", "many"]);
    expect(await run.ended).toBe(2);
    expect(run.output()).toContain("--fans");
  });
});
