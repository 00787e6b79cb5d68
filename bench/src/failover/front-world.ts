/** Two real mints on one PostgreSQL, the real Worker before them, a shop behind it, and one busy line. */
import { join } from "node:path";

import { edgeBundle } from "../edge-bundle.ts";
import type { OriginState } from "../floors/origin.ts";
import { ask, until } from "../http.ts";
import {
  createEvent,
  EVENT,
  ISSUER,
  leads,
  type MintCandidate,
  spawnMint,
  startSite,
} from "../mint-candidate.ts";
import type { Bench } from "../row.ts";
import { startWorkerd } from "../workerd.ts";

const READY_TIMEOUT_MS = 15_000;
const HOST = "bench.example";

export interface FrontWorld {
  readonly leader: MintCandidate;
  readonly standby: MintCandidate;
  /** One request to the edge, as of an app that keeps its tokens itself. */
  readonly edge: (
    path: string,
    options?: { method?: string; headers?: Readonly<Record<string, string>> },
  ) => Promise<{ status: number; body: string }>;
}

export async function startFront(
  bench: Bench,
  {
    name,
    ratePerMinute,
    horizonSeconds,
  }: { name: string; ratePerMinute: number; horizonSeconds: number },
): Promise<FrontWorld> {
  const script = await edgeBundle(bench);
  const site = await startSite(bench);
  bench.progress("starting two mints and the edge");
  const leader = await spawnMint(bench, site, `${name}-leader`);
  await leads(leader);
  const standby = await spawnMint(bench, site, `${name}-standby`);
  await until(standby.port, { path: "/healthz", status: 200, timeoutMs: READY_TIMEOUT_MS });
  await createEvent(leader, { ratePerMinute, horizonSeconds });
  const origin = bench.processes.node("origin", join(import.meta.dirname, "../floors/origin.ts"));
  const { port: originPort } = (await origin.ask({})) as OriginState;
  const jwks = await ask(leader.port, { path: "/.well-known/jwks.json" });
  const url = ({ port }: { port: number }): string => `http://127.0.0.1:${port}`;
  const worker = await startWorkerd(bench.processes, bench.scratch, {
    name,
    script,
    vars: {
      MINT_URLS: `${url(leader)},${url(standby)}`,
      ORIGIN_URL: url({ port: originPort }),
      PURCHASE_URL: url({ port: originPort }),
      ISSUER,
      JWKS: jwks.body,
      SKEW_SECONDS: "5",
      LOCATION: "bench",
    },
  });
  const drip = { path: `/_vestibule/events/${EVENT}/drip`, headers: { host: HOST } };
  await until(worker.port, { ...drip, status: 200, timeoutMs: READY_TIMEOUT_MS });
  return {
    leader,
    standby,
    edge: (path, { method = "GET", headers = {} } = {}) =>
      ask(worker.port, {
        ...{ method, path },
        headers: { host: HOST, "content-type": "application/json", ...headers },
        ...(method === "GET" ? {} : { body: "{}" }),
      }),
  };
}

/** SIGKILL; resolves with how long it took until the standby led, milliseconds. */
export async function killLeader({ leader, standby }: FrontWorld): Promise<number> {
  const from = performance.now();
  process.kill(leader.pid, "SIGKILL");
  await leads(standby);
  return performance.now() - from;
}
