/** The real mint, a process of its own on a PostgreSQL of its own, with one open event. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";

import { startLocalPostgres } from "@vestibule/testkit/local-postgres";

import { ROOT } from "./edge-bundle.ts";
import { ask, freePort, until } from "./http.ts";
import type { Bench } from "./row.ts";

const READY_TIMEOUT_MS = 30_000;
export const EVENT = "bench";
export const ISSUER = "https://bench.example";

export interface MintCandidate {
  readonly pid: number;
  readonly port: number;
  readonly adminToken: string;
  readonly postgresPid: number;
}

/** What mints on one database share. */
export interface MintSite {
  readonly databaseUrl: string;
  readonly adminToken: string;
  readonly kek: string;
  readonly postgresPid: number;
}

export async function startMint(bench: Bench): Promise<MintCandidate> {
  const site = await startSite(bench);
  bench.progress("starting the mint");
  const mint = await spawnMint(bench, site, "mint");
  await leads(mint);
  await createEvent(mint);
  return mint;
}

/** An empty PostgreSQL and the secrets of its mints. */
export async function startSite(bench: Bench): Promise<MintSite> {
  bench.progress("starting PostgreSQL");
  const postgres = await startLocalPostgres();
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  bench.processes.leash(postgres.pid, stopped);
  bench.processes.finally(() => postgres.stop().finally(resolve));
  return {
    databaseUrl: postgres.url(),
    adminToken: randomBytes(24).toString("base64url"),
    kek: randomBytes(32).toString("base64url"),
    postgresPid: postgres.pid,
  };
}

/** A mint that listens soon, and leads when nobody else does. */
export async function spawnMint(
  bench: Bench,
  { databaseUrl, adminToken, kek, postgresPid }: MintSite,
  name: string,
): Promise<MintCandidate> {
  const port = await freePort();
  const mint = bench.processes.spawn(name, {
    command: process.execPath,
    args: [...mintFlags(), join(ROOT, "apps/mint/src/main.ts")],
    env: {
      NODE_ENV: "production",
      VESTIBULE_PORT: String(port),
      VESTIBULE_DATABASE_URL: databaseUrl,
      VESTIBULE_ISSUER: ISSUER,
      VESTIBULE_ADMIN_TOKEN: adminToken,
      VESTIBULE_KEK: kek,
    },
  });
  return { pid: mint.pid, port, adminToken, postgresPid };
}

export async function leads({ port }: MintCandidate): Promise<void> {
  await until(port, { path: "/readyz", status: 200, timeoutMs: READY_TIMEOUT_MS });
}

export async function createEvent(
  { port, adminToken }: MintCandidate,
  change: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const created = await ask(port, {
    method: "POST",
    path: "/v1/admin/events",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({
      event: EVENT,
      title: "Bench",
      ratePerMinute: 600,
      endsAt: Date.now() + 24 * 3_600_000,
      hosts: ["bench.example"],
      paths: ["/events/bench*"],
      homePath: "/events/bench",
      ...change,
    }),
  });
  if (created.status !== 201)
    throw new Error(`the mint made no event: ${created.status} ${created.body}`);
}

/** `BENCH_MINT_FLAGS="--cpu-prof --cpu-prof-dir=/tmp/profile"` shows where the mint's time goes. */
function mintFlags(): string[] {
  return process.env["BENCH_MINT_FLAGS"]?.split(" ").filter(Boolean) ?? [];
}

/** A join without its body; `$LENGTH` is the load generator's to fill. */
export const JOIN_HEAD = [
  `POST /v1/events/${EVENT}/tickets HTTP/1.1`,
  "Host: mint.bench.example",
  "Content-Type: application/json",
  "Accept: application/json",
  "Content-Length: $LENGTH",
  "",
  "",
].join("\r\n");
