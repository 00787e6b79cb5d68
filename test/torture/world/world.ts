/** The whole system as real processes: PostgreSQL, a store when there is one, mints, purchase APIs, locations; wires between. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

import { bundleEdge, readWorkerSettings } from "@vestibule/demo/src/edge-bundle.ts";
import { connectDatabase } from "@vestibule/db/connect";
import { type LocalPostgres, startLocalPostgres } from "@vestibule/testkit/local-postgres";
import { findValkey, type LocalValkey, startLocalValkey } from "@vestibule/testkit/valkey-server";
import { Wire } from "@vestibule/testkit/wire";

import { freePortBase, ROOT, temporaryPlace } from "../../e2e/start-system.ts";
import { App, send } from "../../e2e/support/app.ts";
import { type EdgeProcess, startEdgeProcess } from "../../e2e/support/edge-process.ts";
import { eventually } from "../../e2e/support/eventually.ts";
import { AppProcess } from "./app-process.ts";

const ISSUER = "https://mint.vestibule.example";
const START_MS_MAX = 60_000;

/** A process, the network between it and PostgreSQL, and that between it and those who ask it. */
export interface Place {
  readonly process: AppProcess;
  readonly database: Wire;
  readonly front: Wire;
}

export interface WorldOptions {
  readonly mints: number;
  readonly purchases: number;
  readonly edges: number;
  readonly event: EventTerms;
  readonly stock: Readonly<Record<string, number>>;
  /** A directory for the logs of the processes; without it they are not kept. */
  readonly logs?: string | undefined;
  readonly onTrouble: (trouble: string) => void;
}

export interface EventTerms {
  readonly event: string;
  readonly ratePerMinute: number;
  readonly horizonSeconds: number;
  readonly lifetimeSeconds: number;
  readonly claimWindowSeconds: number;
  readonly overdrivePercent: number;
}

export interface World {
  readonly postgres: LocalPostgres;
  readonly store: LocalValkey | undefined;
  readonly mints: readonly Place[];
  readonly purchases: readonly Place[];
  /** One event, as an app sees it through each location. */
  readonly apps: readonly App[];
  readonly adminToken: string;
  /** Of a database on the server itself, past all wires. */
  databaseUrl(app: "mint" | "purchase"): string;
  stop(): Promise<void>;
}

/** Every secret of a run. */
interface Secrets {
  readonly admin: string;
  readonly supply: string;
  readonly identity: string;
  readonly kek: string;
}

/** @throws Error when a part does not start; what was started is stopped then. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const undo: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).toReversed()) await step();
  };
  try {
    return { ...(await start(options, undo)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  options: WorldOptions,
  undo: (() => Promise<void> | void)[],
): Promise<Omit<World, "stop">> {
  if (options.logs !== undefined) mkdirSync(options.logs, { recursive: true });
  const place = temporaryPlace();
  undo.push(() => rmSync(place, { recursive: true, force: true }));
  const built = buildWorker(place);
  const [postgres, store] = await Promise.all([
    startLocalPostgres(),
    findValkey() === undefined ? undefined : startLocalValkey(),
  ]);
  undo.push(() => postgres.stop());
  if (store !== undefined) undo.push(() => store.stop());
  await createDatabases(postgres);
  const secrets: Secrets = {
    admin: secret(),
    supply: secret(),
    identity: secret(),
    kek: randomBytes(32).toString("base64url"),
  };
  const parts = { options, postgres, undo };
  const mints = await Promise.all(
    counted(options.mints, (name) =>
      startPlace(parts, { app: "mint", name: `mint ${name}` }, mintEnvironment(secrets)),
    ),
  );
  const mintUrls = mints.map(({ front }) => urlOf(front.port));
  const purchases = await Promise.all(
    counted(options.purchases, (name) =>
      startPlace(
        parts,
        { app: "purchase", name: `purchase ${name}` },
        purchaseEnvironment(secrets, { mintUrls, store, instances: options.purchases }),
      ),
    ),
  );
  const all = [...mints, ...purchases].map(({ process }) => process);
  undo.push(async () => void (await Promise.all(all.map((each) => each.down("SIGKILL")))));
  for (const each of all) each.up();

  const origin = await startOrigin();
  undo.push(() => void origin.close());
  const portBase = await freePortBase();
  const ports = Array.from({ length: options.edges }, (_, index) => portBase + index);
  await Promise.all([
    openEvent(options, { mintUrls, ports, admin: secrets.admin }),
    ...all.map((each) =>
      eventually(`${each.name} listens`, () => each.url, { withinMs: START_MS_MAX }),
    ),
  ]);
  await fillStock(options, { purchase: purchases[0], admin: secrets.admin });
  const jwks = await publicKeys(mintUrls[0] ?? "");
  const script = await built;
  const edges = await Promise.all(
    ports.map((port, index): Promise<EdgeProcess> => {
      const order = [...mintUrls.slice(index), ...mintUrls.slice(0, index)];
      return startEdgeProcess({
        script,
        port,
        scratch: place,
        log: "ignored", // every fault of ours is in it
        vars: {
          MINT_URLS: order.join(","),
          ORIGIN_URL: urlOf((origin.address() as AddressInfo).port),
          PURCHASE_URL: urlOf(purchases[index % purchases.length]?.front.port ?? 0),
          ISSUER,
          JWKS: jwks,
          LOCATION: `edge-${index + 1}`,
        },
      });
    }),
  );
  undo.push(async () => void (await Promise.all(edges.map((edge) => edge.stop()))));
  const apps = edges.map(({ url }) => new App(url, options.event.event));
  await Promise.all(apps.map((app) => app.known()));
  return {
    ...{ postgres, store, mints, purchases, apps },
    adminToken: secrets.admin,
    databaseUrl: (app) => postgres.url(app),
  };
}

async function startPlace(
  {
    options,
    postgres,
    undo,
  }: {
    options: WorldOptions;
    postgres: LocalPostgres;
    undo: (() => void)[];
  },
  { app, name }: { app: "mint" | "purchase"; name: string },
  environment: Readonly<Record<string, string>>,
): Promise<Place> {
  const [database, front] = await Promise.all([Wire.open(postgres.port), Wire.open()]);
  undo.push(() => {
    database.close();
    front.close();
  });
  const through = new URL(postgres.url(app));
  through.port = String(database.port);
  const process = new AppProcess({
    name,
    app,
    environment: { ...environment, VESTIBULE_DATABASE_URL: through.href },
    onListening: (port) => {
      front.target = port;
    },
    logFile: options.logs && join(options.logs, `${name.replace(" ", "-")}.log`),
    onTrouble: options.onTrouble,
  });
  return { process, database, front };
}

function mintEnvironment({ admin, supply, kek }: Secrets): Record<string, string> {
  return {
    VESTIBULE_ISSUER: ISSUER,
    VESTIBULE_ADMIN_TOKEN: admin,
    VESTIBULE_SUPPLY_TOKEN: supply,
    VESTIBULE_KEK: kek,
  };
}

function purchaseEnvironment(
  { admin, supply, identity }: Secrets,
  {
    mintUrls,
    store,
    instances,
  }: {
    mintUrls: readonly string[];
    store: LocalValkey | undefined;
    instances: number;
  },
): Record<string, string> {
  return {
    VESTIBULE_ISSUER: ISSUER,
    VESTIBULE_MINT_URLS: mintUrls.join(","),
    VESTIBULE_ADMIN_TOKEN: admin,
    VESTIBULE_SUPPLY_TOKEN: supply,
    VESTIBULE_IDENTITY_SECRET: identity,
    ...(store === undefined
      ? {}
      : { VALKEY_URL: store.url, VESTIBULE_INSTANCES: String(instances) }),
  };
}

/** At whichever mint leads. */
async function openEvent(
  { event: terms }: WorldOptions,
  {
    mintUrls,
    ports,
    admin,
  }: {
    mintUrls: readonly string[];
    ports: readonly number[];
    admin: string;
  },
): Promise<void> {
  const { event } = terms;
  const json = {
    ...terms,
    title: event,
    endsAt: Date.now() + 86_400_000,
    hosts: ports.map((port) => `127.0.0.1:${port}`),
    paths: [`/events/${event}`, `/events/${event}/*`],
    homePath: `/events/${event}`,
  };
  const headers = { Authorization: `Bearer ${admin}` };
  const openAt = async (mint: string): Promise<boolean> => {
    const { status } = await send(`${mint}/v1/admin/events`, { method: "POST", headers, json });
    return status === 201 || status === 409;
  };
  await eventually(
    "a mint opens the event",
    async () => {
      const opened = await Promise.all(mintUrls.map((mint) => openAt(mint).catch(() => false)));
      return opened.includes(true);
    },
    { withinMs: START_MS_MAX },
  );
}

/** A standby knows them a moment after the leader. */
async function publicKeys(mint: string): Promise<string> {
  const { text } = await eventually("a mint publishes its keys", async () => {
    const answer = await send<{ keys: readonly unknown[] }>(`${mint}/.well-known/jwks.json`);
    return answer.status === 200 && answer.body.keys.length > 0 && answer;
  });
  return text;
}

async function fillStock(
  { event: { event }, stock }: WorldOptions,
  { purchase, admin }: { purchase: Place | undefined; admin: string },
): Promise<void> {
  for (const [sku, total] of Object.entries(stock)) {
    const url = `${purchase?.process.url}/v1/admin/events/${event}/stock/${sku}`;
    const headers = { Authorization: `Bearer ${admin}` };
    const json = { total };
    const answer = await send(url, { method: "PUT", headers, json });
    if (answer.status > 201) throw new Error(`stock: ${answer.status} ${answer.text}`);
  }
}

async function createDatabases(postgres: LocalPostgres): Promise<void> {
  const database = connectDatabase({ url: postgres.url(), applicationName: "torture" });
  await database.sql`create database mint`;
  await database.sql`create database purchase`;
  await database.close();
}

async function buildWorker(place: string): Promise<string> {
  const { main } = readWorkerSettings(join(ROOT, "wrangler.toml"));
  const script = join(place, "edge.js");
  writeFileSync(script, await bundleEdge({ root: ROOT, main }));
  return script;
}

/** The shop behind the locations: whoever comes through is in. */
async function startOrigin(): Promise<Server> {
  const server = createServer((_, answer) => answer.end("you are in"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function counted<Value>(count: number, make: (name: number) => Value): Value[] {
  return Array.from({ length: count }, (_, index) => make(index + 1));
}

function secret(): string {
  return randomBytes(24).toString("hex");
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
