/** A whole mint: in this process on an empty database, or as a process of its own that can be killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connectDatabase, type Database } from "@vestibule/db/connect";
import type { Clock } from "@vestibule/kernel/clock";
import { systemClock } from "@vestibule/kernel/clock.system";
import { systemRandomness } from "@vestibule/kernel/randomness.system";
import { kekOf } from "@vestibule/keys/seal";
import { type Log, silentLog } from "@vestibule/service/log";
import { Secret } from "@vestibule/service/secret";
import { freshDatabase } from "@vestibule/testkit/fresh-database";
import { build } from "esbuild";
import { vi } from "vitest";
import { type RunningMint, startMint } from "../../src/service.ts";
import { systemTimers } from "../../src/timers.system.ts";

export const ADMIN_TOKEN = "t".repeat(40);
export const SUPPLY_TOKEN = "s".repeat(40);
export const KEK_BYTES: Uint8Array<ArrayBuffer> = new Uint8Array(32).fill(7);
const KEK = Buffer.from(KEK_BYTES).toString("base64url");
export const METRICS_TOKEN = "m".repeat(40);
export const ISSUER = "https://mint.example";
/** 2100-01-01 */
export const FAR = 4_102_444_800_000;

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- bodies of every endpoint
  readonly body: any;
}

/** Speaks to a mint as edges and organizers do. */
export class MintClient {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async ask(
    method: string,
    path: string,
    options: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Asked> {
    const { body, headers } = options;
    const raw = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
    const response = await fetch(this.url + path, {
      method,
      redirect: "manual",
      ...(raw === undefined ? {} : { body: raw }),
      headers: { ...(raw === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    return {
      status: response.status,
      headers: response.headers,
      body: isJson && text !== "" ? JSON.parse(text) : text,
    };
  }

  admin(
    method: string,
    path: string,
    options: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<Asked> {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, ...options.headers };
    return this.ask(method, `/v1/admin/events${path}`, { ...options, headers });
  }

  create(change: Record<string, unknown> = {}): Promise<Asked> {
    return this.admin("POST", "", { body: eventBody(change) });
  }

  join(visitor: string = newVisitor(), event: string = "spring"): Promise<Asked> {
    return this.ask("POST", `/v1/events/${event}/tickets`, { body: { visitor } });
  }

  claim(
    visitor: string,
    ticket: string,
    event: string = "spring",
    more: { credit?: string; confirmed?: unknown } = {},
  ): Promise<Asked> {
    const body = { visitor, ticket, ...more };
    return this.ask("POST", `/v1/events/${event}/admissions`, { body });
  }

  keys(
    method: string,
    path: string = "",
    body?: unknown,
    more: Record<string, string> = {},
  ): Promise<Asked> {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}`, ...more };
    return this.ask(method, `/v1/admin/keys${path}`, { body, headers });
  }

  report(event: string, body: unknown, token: string = SUPPLY_TOKEN): Promise<Asked> {
    const headers = { Authorization: `Bearer ${token}` };
    return this.ask("PUT", `/v1/supply/events/${event}`, { body, headers });
  }

  async ready(): Promise<void> {
    await vi.waitUntil(
      async () => (await this.ask("GET", "/readyz").catch(() => undefined))?.status === 200,
      {
        timeout: 25_000,
        interval: 20,
      },
    );
  }
}

export function newVisitor(): string {
  return randomBytes(32).toString("base64url");
}

export function eventBody(change: Record<string, unknown> = {}): Record<string, unknown> {
  const event = typeof change["event"] === "string" ? change["event"] : "spring";
  return {
    event,
    title: "Spring",
    ratePerMinute: 600,
    endsAt: FAR,
    hosts: ["tickets.example"],
    paths: [`/${event}`, `/${event}/*`],
    homePath: `/${event}`,
    ...change,
  };
}

export interface LocalMint {
  readonly client: MintClient;
  readonly database: Database;
  readonly running: RunningMint;
  stop(): Promise<void>;
}

export async function localMint(
  options: {
    url?: string;
    kek?: Uint8Array<ArrayBuffer>;
    kekPrevious?: Uint8Array<ArrayBuffer>;
    clock?: Clock;
    log?: Log;
    trustProxyHops?: number;
    /** Another one leads: it is not waited for. */
    isStandby?: boolean;
    /** A JWKS; `null`: no supply token either, as before both were known. */
    creditKeys?: unknown;
  } = {},
): Promise<LocalMint> {
  const url = options.url ?? (await freshDatabase());
  const database = connectDatabase({ url, applicationName: "mint-test" });
  const running = await startMint({
    config: {
      port: 0,
      host: "127.0.0.1",
      issuer: ISSUER,
      adminToken: new Secret(ADMIN_TOKEN),
      metricsToken: new Secret(METRICS_TOKEN),
      trustProxyHops: options.trustProxyHops ?? 0,
      kek: kekOf(options.kek ?? KEK_BYTES),
      kekPrevious: options.kekPrevious === undefined ? undefined : kekOf(options.kekPrevious),
      ...(options.creditKeys === null
        ? {}
        : { supplyToken: new Secret(SUPPLY_TOKEN), creditKeys: options.creditKeys }),
    },
    database,
    clock: options.clock ?? systemClock,
    randomness: systemRandomness,
    timers: systemTimers,
    log: options.log ?? silentLog,
    onFatal: () => {},
  }).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const client = new MintClient(running.url);
  if (options.isStandby !== true) await client.ready();
  return {
    client,
    database,
    running,
    stop: async () => {
      await running.stop();
      await database.close();
    },
  };
}

/** `main.ts` in a process of its own. */
export class MintProcess {
  readonly child: ChildProcess;
  readonly client: MintClient;
  readonly exited: Promise<unknown>;

  private constructor(child: ChildProcess, url: string) {
    this.child = child;
    this.client = new MintClient(url);
    this.exited = once(child, "exit");
  }

  static async start(
    databaseUrl: string,
    environment: Record<string, string> = {},
  ): Promise<MintProcess> {
    const mint = await MintProcess.standby(databaseUrl, environment);
    await mint.client.ready();
    return mint;
  }

  /** Listens, and is not waited for until it leads. */
  static async standby(
    databaseUrl: string,
    environment: Record<string, string> = {},
  ): Promise<MintProcess> {
    const { child, firstLine } = await spawnMint(databaseUrl, environment);
    return new MintProcess(child, await firstLine("listening"));
  }

  async kill(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill(signal);
    await this.exited;
  }
}

/** Runs `main.ts` until it ends; for starts that are refused. */
export async function runMint(
  databaseUrl: string,
  environment: Record<string, string> = {},
): Promise<{ code: number | null; stderr: string }> {
  const { child } = await spawnMint(databaseUrl, environment);
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  await once(child, "close");
  return { code: child.exitCode, stderr };
}

let bundled: Promise<string> | undefined;

/** `main.ts` as one file beside its migrations, as an image has it: it starts in a fraction of the time. */
function bundledMain(): Promise<string> {
  return (bundled ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), "vestibule-mint-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    const outfile = join(folder, "bin", "main.mjs");
    await build({
      entryPoints: [fileURLToPath(new URL("../../src/main.ts", import.meta.url))],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node24",
      banner: {
        js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
      },
    });
    cpSync(new URL("../../src/migrations", import.meta.url), join(folder, "migrations"), {
      recursive: true,
    });
    return outfile;
  })());
}

async function spawnMint(databaseUrl: string, environment: Record<string, string>) {
  const child = spawn(process.execPath, [await bundledMain()], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      VESTIBULE_PORT: "0",
      VESTIBULE_DATABASE_URL: databaseUrl,
      VESTIBULE_ISSUER: ISSUER,
      VESTIBULE_ADMIN_TOKEN: ADMIN_TOKEN,
      VESTIBULE_KEK: KEK,
      ...environment,
    },
  });
  const firstLine = (msg: string): Promise<string> =>
    new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        const entry = JSON.parse(line) as { msg: string; url?: string };
        if (entry.msg === msg) resolve(entry.url ?? "");
      });
      child.once("exit", (code) => reject(new Error(`the mint ended with ${code}`)));
    });
  return { child, firstLine };
}
