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
    await system.stop();
    expect(system.output()).not.toContain("VIOLATION");

    const next = await startSystem(options);
    expect(next.ready.event).toBe("demo-2");
    expect(await eventOf(next)).toMatchObject({ state: "open" });
    await next.stop();
  });
});

describe("a start that cannot be", () => {
  test("a taken port is named, with one that is free, and nothing stays behind", async () => {
    const portBase = await freePortBase();
    const taken = await listen(portBase + 2);
    const dataDir = join(place, "taken");
    const run = runStart(["--data", dataDir, "--port-base", String(portBase)]);
    expect(await run.ended).toBe(1);
    taken?.close();
    expect(run.output()).toContain(`Port ${portBase + 2} (purchase) is taken`);
    expect(run.output()).toMatch(/--port-base \d+/);
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
