/**
 * The whole system as `pnpm start` brings it up, for tests: temporary data, free ports. Each test
 * file starts one and opens events of its own in it; nothing is shared with another run.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, type Server, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { StockSettings } from "@vestibule/contracts/purchase-api";

export const ROOT = resolve(import.meta.dirname, "../..");
const READY_POLLS_MAX = 1_200;
const READY_POLL_MS = 100;
const STOP_MS_MAX = 20_000;
/** Edge, mint, purchase, console, shop. */
const PORTS = 5;
const PORT_MIN = 20_000;
const PORTS_RANGE = 12_000; // below where systems take ports for outgoing connections

/** What `--ready-file` holds. */
export interface Ready {
  readonly edge: string;
  readonly mint: string;
  readonly purchase: string;
  readonly shop: string;
  readonly event: string;
  readonly eventUrl: string;
  readonly sku: string;
  readonly adminToken: string;
  readonly shopToken: string;
}

export interface SystemOptions {
  /** Synthetic fans; 0, the default, leaves the line to the test. */
  readonly fans?: number;
  readonly rate?: number;
  readonly seats?: number;
  readonly lifetime?: number;
  readonly horizon?: number;
  /** Without it: temporary, removed at the stop. */
  readonly dataDir?: string;
  readonly portBase?: number;
  /** In place of what it would take from ours: `undefined` takes a variable away. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface System {
  readonly ready: Ready;
  readonly dataDir: string;
  readonly portBase: number;
  readonly pid: number;
  /** All that it printed so far. */
  output(): string;
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; ms: number }>;
}

/** @throws Error with its output when it ends, or is not ready in two minutes. */
export async function startSystem(options: SystemOptions = {}): Promise<System> {
  const place = temporaryPlace();
  const dataDir = options.dataDir ?? join(place, "data");
  const portBase = options.portBase ?? (await freePortBase());
  const readyFile = join(place, "ready.json");
  const run = runStart(
    [
      ...["--data", dataDir, "--port-base", String(portBase), "--ready-file", readyFile],
      ...flags({ fans: 0, ...options }),
    ],
    options.environment,
  );
  for (let poll = 0; poll < READY_POLLS_MAX && !existsSync(readyFile); poll += 1) {
    if (run.child.exitCode !== null || run.child.signalCode !== null) {
      rmSync(place, { recursive: true, force: true });
      throw new Error(`it ended with ${run.child.exitCode}:\n${run.output()}`);
    }
    await sleep(READY_POLL_MS);
  }
  if (!existsSync(readyFile)) {
    run.child.kill("SIGTERM");
    throw new Error(`it is not ready:\n${run.output()}`);
  }
  return {
    ready: JSON.parse(readFileSync(readyFile, "utf8")) as Ready,
    dataDir,
    portBase,
    pid: run.child.pid ?? 0,
    output: run.output,
    stop: async (signal = "SIGTERM") => {
      const began = performance.now();
      const code = await end(run.child, signal);
      const ms = Math.round(performance.now() - began);
      rmSync(place, { recursive: true, force: true });
      return { code, ms };
    },
  };
}

/**
 * A new directory that its creator removes. Others may pass through it: as root, PostgreSQL runs
 * as another user, and would have to keep its data elsewhere.
 */
export function temporaryPlace(): string {
  const place = mkdtempSync(join(tmpdir(), "vestibule-e2e-"));
  chmodSync(place, 0o711);
  return place;
}

/** Starts it with these arguments, for starts that are meant to fail. */
export function runStart(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): {
  child: ChildProcess;
  output: () => string;
  ended: Promise<number | null>;
} {
  const child = spawn(process.execPath, [join(ROOT, "apps/demo/start.mjs"), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  const ended = once(child, "close").then(([code]) => code as number | null);
  return { child, output: () => output, ended };
}

/** Opens an event with stock of its own through the admin APIs; a test needs no other's line. */
export async function openEvent(
  ready: Ready,
  settings: Partial<EventSettings> & { readonly event: string },
  stock: Partial<StockSettings> & Pick<StockSettings, "total"> = {
    total: 1_000,
    perPurchaseMax: 10,
    showRemaining: true,
  },
): Promise<void> {
  const headers = {
    Authorization: `Bearer ${ready.adminToken}`,
    "Content-Type": "application/json",
  };
  const { event } = settings;
  const created = await fetch(`${ready.mint}/v1/admin/events`, {
    method: "POST",
    headers,
    body: JSON.stringify({
      title: event,
      ratePerMinute: 600,
      endsAt: Date.now() + 86_400_000,
      hosts: [new URL(ready.edge).host, new URL(ready.edge).host.replace("localhost", "127.0.0.1")],
      paths: [`/events/${event}`, `/events/${event}/*`],
      homePath: `/events/${event}`,
      ...settings,
    }),
  });
  if (created.status !== 201) throw new Error(`${created.status} ${await created.text()}`);
  const stocked = await fetch(`${ready.purchase}/v1/admin/events/${event}/stock/${ready.sku}`, {
    method: "PUT",
    headers,
    body: JSON.stringify(stock),
  });
  if (!stocked.ok) throw new Error(`${stocked.status} ${await stocked.text()}`);
}

/** The first of five ports in a row that are free right now. */
export async function freePortBase(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const base = PORT_MIN + Math.floor(Math.random() * PORTS_RANGE);
    const servers = await Promise.all(
      Array.from({ length: PORTS }, (_, index) => listen(base + index)),
    );
    for (const server of servers) server?.close();
    if (servers.every((server) => server !== undefined)) return base;
  }
  throw new Error("there are no five free ports in a row");
}

/** Takes the port; undefined when somebody else has it. */
export async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  try {
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port === port ? server : undefined;
  } catch {
    return undefined;
  }
}

function flags(options: SystemOptions): readonly string[] {
  const { fans, rate, seats, lifetime, horizon } = options;
  return Object.entries({ fans, rate, seats, lifetime, horizon }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  const closed = once(child, "close");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
  child.kill(signal);
  const [code] = (await closed) as [number | null];
  clearTimeout(timer);
  return code;
}
