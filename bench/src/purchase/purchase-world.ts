/** The real purchase API in processes of its own, on a PostgreSQL and a Valkey of this run. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";

import { startLocalPostgres } from "@vestibule/testkit/local-postgres";
import type { LocalValkey } from "@vestibule/testkit/valkey-server";
import { connectValkey } from "@vestibule/valkey/client.system";
import { createValkeyInventoryGate } from "@vestibule/valkey/valkey-inventory-gate";
import postgres from "postgres";

import { ROOT } from "../edge-bundle.ts";
import { ISSUER } from "../edge-world.ts";
import { ask, freePort, until } from "../http.ts";
import type { Child } from "../processes.ts";
import type { Bench } from "../row.ts";
import type { Sales } from "./sales.ts";

const READY_TIMEOUT_MS = 30_000;
const GATE_TIMEOUT_MS = 10_000;
const ADMIN_TOKEN = randomBytes(24).toString("base64url");
const IDENTITY_SECRET = randomBytes(32).toString("base64url");
/** What the shop's own server would show: with it, it may say who the user is. */
export const SHOP_TOKEN = randomBytes(24).toString("base64url");
/** Takes are made and counted as ever, and refuse nobody: one user of these rows asks faster than people do. */
const WIDE_LIMIT = "100000/1ms";
export const SKU = "seat";

export interface LocalDatabases {
  readonly serverUrl: string;
  /** Of the server: its sessions are children of this process. */
  readonly pid: number;
  /** A new, empty database. */
  create(name: string): Promise<string>;
}

/** A durable PostgreSQL: what is committed is on disk. */
export async function startDatabases(bench: Bench): Promise<LocalDatabases> {
  bench.progress("starting PostgreSQL");
  const server = await startLocalPostgres({ durable: true });
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  bench.processes.leash(server.pid, stopped);
  bench.processes.finally(() => server.stop().finally(resolve));
  return {
    serverUrl: server.url(),
    pid: server.pid,
    create: async (name) => {
      const sql = postgres(server.url(), { max: 1, onnotice: () => {} });
      await sql.unsafe(`create database ${name}`);
      await sql.end();
      return server.url(name);
    },
  };
}

export interface PurchaseInstance extends Child {
  readonly port: number;
}

/** Any number of instances over one database. */
export interface PurchaseApi {
  readonly instances: readonly PurchaseInstance[];
  /** Puts `seats` on sale, and waits until the gate, where there is one, counts them. */
  putOnSale(event: string, seats: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startPurchaseApi(
  bench: Bench,
  options: {
    readonly name: string;
    readonly databaseUrl: string;
    readonly valkey: LocalValkey;
    readonly sales: Sales;
    readonly gate: boolean;
    readonly instances: number;
    /** `VESTIBULE_LIMIT_PURCHASE`. */
    readonly limit?: string;
  },
): Promise<PurchaseApi> {
  const { name, databaseUrl, valkey, sales, gate, limit = WIDE_LIMIT } = options;
  const instances: PurchaseInstance[] = [];
  for (let index = 1; index <= options.instances; index += 1) {
    bench.progress(`starting the purchase API (${name}, ${index} of ${options.instances})`);
    const port = await freePort();
    const child = bench.processes.spawn(`purchase API (${name}, ${index})`, {
      command: process.execPath,
      args: [...purchaseFlags(), join(ROOT, "apps/purchase/src/main.ts")],
      env: {
        NODE_ENV: "production",
        VESTIBULE_PORT: String(port),
        VESTIBULE_DATABASE_URL: databaseUrl,
        VESTIBULE_ISSUER: ISSUER,
        VESTIBULE_MINT_URLS: sales.mintUrl,
        VESTIBULE_JWKS: sales.jwks,
        VESTIBULE_ADMIN_TOKEN: ADMIN_TOKEN,
        VESTIBULE_SHOP_TOKEN: SHOP_TOKEN,
        VESTIBULE_IDENTITY_SECRET: IDENTITY_SECRET,
        VESTIBULE_INSTANCES: String(options.instances),
        VESTIBULE_LIMIT_PURCHASE: limit,
        VALKEY_URL: valkey.url,
        INVENTORY_GATE_ENABLED: String(gate),
      },
    });
    await until(port, { path: "/readyz", status: 200, timeoutMs: READY_TIMEOUT_MS });
    instances.push({ ...child, port });
  }
  const looker = gate ? gateLooker(bench, valkey) : undefined;
  return {
    instances,
    putOnSale: async (event, seats) => {
      const [first] = instances;
      if (first === undefined) throw new Error("there is no instance");
      const put = await ask(first.port, {
        method: "PUT",
        path: `/v1/admin/events/${event}/stock/${SKU}`,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({ total: seats, perPurchaseMax: 1 }),
      });
      if (put.status !== 200) throw new Error(`no stock: ${put.status} ${put.body}`);
      await looker?.(event, seats);
    },
    stop: async () => {
      await Promise.all(instances.map((instance) => instance.stop()));
    },
  };
}

/** Waits until the gate's counter is there: it is made by the repair, a moment after the stock was set. */
function gateLooker(
  bench: Bench,
  valkey: LocalValkey,
): (event: string, seats: number) => Promise<void> {
  const client = connectValkey({ url: valkey.url, deadlineMs: 1_000, log: () => {} });
  bench.processes.finally(() => client.close());
  const gate = createValkeyInventoryGate(client);
  return async (event, seats) => {
    const end = performance.now() + GATE_TIMEOUT_MS;
    for (;;) {
      const state = await gate.inspect({ event, sku: SKU }).catch(() => undefined);
      if (state?.left === seats && state.sure) return;
      if (performance.now() > end) {
        throw new Error(`the gate never counted ${seats} seats: ${JSON.stringify(state)}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
}

/** `BENCH_PURCHASE_FLAGS="--cpu-prof --cpu-prof-dir=/tmp/profile"` shows where an instance's time goes. */
function purchaseFlags(): string[] {
  return process.env["BENCH_PURCHASE_FLAGS"]?.split(" ").filter(Boolean) ?? [];
}
