/** The whole mint, made from its configuration: what `main.ts` starts and tests start too. */
import type { Database } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { SKEW_SECONDS_DEFAULT } from "@vestibule/contracts/limits";
import { type KeySet, parseJwks } from "@vestibule/keys/key-set";
import { kekVault } from "@vestibule/keys/vault";
import type { Clock } from "@vestibule/kernel/clock";
import type { Randomness } from "@vestibule/kernel/randomness";
import { createApp, type ServiceApp } from "@vestibule/service/app";
import { ConfigError } from "@vestibule/service/env";
import { type RunningServer, startHttpServer } from "@vestibule/service/http-server";
import type { Log } from "@vestibule/service/log";
import { addAdminRoutes } from "./http/admin-routes.ts";
import { addArchiveRoutes } from "./http/archive-routes.ts";
import { addEdgeRoutes } from "./http/edge-routes.ts";
import { fastJoin } from "./http/fast-join.ts";
import { addKeyRoutes } from "./http/key-routes.ts";
import { addLineRoutes } from "./http/line-routes.ts";
import { addMetricsRoute } from "./http/metrics-route.ts";
import { openApiDocument } from "./http/openapi.ts";
import { addPremintRoutes } from "./http/premint-routes.ts";
import { addServiceRoutes } from "./http/service-routes.ts";
import { addSupplyRoutes } from "./http/supply-routes.ts";
import type { MintConfig } from "./config.ts";
import { creditReader } from "./credit-reader.ts";
import { createEdges, type Edges } from "./edges/edges.ts";
import type { BulkTickets } from "./keys/bulk-tickets.ts";
import { KeyKeeper } from "./keys/key-keeper.ts";
import { KeyLoop } from "./keys/key-loop.ts";
import { keyFacts } from "./keys/key-policy.ts";
import { KeyTrouble } from "./keys/key-ring.ts";
import { signingDesk } from "./keys/signing-desk.ts";
import { Leadership } from "./lead/leadership.ts";
import { LineTerm } from "./lead/line-term.ts";
import { HOLDER_BYTES, RECENT_JOINS_MAX, RECENT_JOINS_MS } from "./limits.ts";
import { RecentJoins } from "./line/recent-joins.ts";
import { mintMetrics } from "./metrics/mint-metrics.ts";
import { Mint } from "./mint.ts";
import { readDatabaseClock } from "./store/database-clock.ts";
import { readDurability, whyItMayForget } from "./store/durability.ts";
import { MIGRATIONS, postgresStore } from "./store/postgres-store.ts";
import type { MintStore } from "./store/store.ts";
import type { Timers } from "./timers.ts";
import type { Tokens } from "./tokens.ts";

type OptionalSetting =
  | "supplyToken"
  | "metricsToken"
  | "creditKeys"
  | "kekPrevious"
  | "keyRotationDays"
  | "signingName"
  | "trustProxyHops";

export interface MintParts {
  readonly config: Omit<MintConfig, "databaseUrl" | OptionalSetting> &
    Partial<Pick<MintConfig, OptionalSetting>>;
  readonly database: Database;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly timers: Timers;
  readonly log: Log;
  /** Signs batches of tickets; in this thread when absent. */
  readonly bulk?: BulkTickets;
  /** Told of trouble that no retry mends: the process should end. */
  readonly onFatal: (error: Error) => void;
}

export interface RunningMint {
  readonly url: string;
  readonly port: number;
  isLeading(): boolean;
  /** Readiness drops, requests finish, numbers and lease go back. */
  stop(): Promise<void>;
}

/**
 * @throws ConfigError, KeyTrouble, ListenError, and Error with advice for a database that does not fit.
 */
export async function startMint(parts: MintParts): Promise<RunningMint> {
  const { config, database, clock, randomness, timers, log } = parts;
  const creditKeys = await readCreditKeys(config.creditKeys);
  await migrate(database, MIGRATIONS);
  await database.assertSessionSettings();
  const reasons = whyItMayForget(await readDurability(database));
  if (reasons.length > 0) log.warn("database-may-forget", { reasons });
  const store = postgresStore(database);

  const keeper = await readKeys(parts, store);
  const tokens = signingDesk({
    issuer: config.issuer,
    skewSeconds: SKEW_SECONDS_DEFAULT,
    ring: () => keeper.ring,
    bulk: parts.bulk,
  });
  const leadership = leadershipOf(parts, { store, keeper, tokens });
  const recent = new RecentJoins({
    entriesMax: RECENT_JOINS_MAX,
    keepMs: RECENT_JOINS_MS,
    secret: randomness.bytes(4),
  });
  let stopping = false;
  const credits = creditReader({
    keys: creditKeys,
    issuer: config.issuer,
    skewSeconds: SKEW_SECONDS_DEFAULT,
  });
  const mint = new Mint({ clock, tokens, recent, credits, term: () => leadership.term });
  const edges = createEdges({
    ...{ clock, timers, randomness, log, tokens },
    databaseClock: () => readDatabaseClock(database),
  });
  const app = createApp({
    log,
    checks: {
      leader: () => leadership.isConfirmed && !stopping,
      database: () => store.isUp(),
    },
  });
  addRoutes(app, parts, { mint, store, keeper, tokens, edges, term: () => leadership.term });

  const keyLoop = new KeyLoop({
    ...{ keeper, timers, clock, log },
    term: () => (leadership.isConfirmed ? leadership.term : undefined),
  });
  leadership.start();
  keyLoop.start();
  edges.own.start();
  const stopLoops = async (): Promise<void> => {
    await edges.own.stop();
    await keyLoop.stop();
    await leadership.stop();
  };
  const server: RunningServer = await startHttpServer({
    host: config.host,
    port: config.port,
    fetch: app.fetch,
    fast: fastJoin({ mint, log }),
    log,
  }).catch(async (error: unknown) => {
    await stopLoops();
    throw error;
  });
  log.info("listening", { url: server.url });
  return {
    url: server.url,
    port: server.port,
    isLeading: () => leadership.term !== undefined,
    stop: async () => {
      stopping = true;
      await server.stop();
      await stopLoops();
    },
  };
}

function leadershipOf(
  { config, clock, randomness, timers, log, onFatal }: MintParts,
  { store, keeper, tokens }: { store: MintStore; keeper: KeyKeeper; tokens: Tokens },
): Leadership<LineTerm> {
  const leadership: Leadership<LineTerm> = new Leadership({
    store,
    timers,
    log,
    holder: Buffer.from(randomness.bytes(HOLDER_BYTES)).toString("base64url"),
    begin: async (lead, onLost) => {
      try {
        const facts = keyFacts(await store.loadEvents(), clock.now());
        await keeper.begin({ lead, facts });
      } catch (error) {
        if (error instanceof KeyTrouble) onFatal(error);
        throw error;
      }
      const { issuer } = config;
      return LineTerm.begin({
        lead,
        store,
        clock,
        timers,
        issuer,
        signer: tokens,
        log,
        onLost,
        isConfirmed: () => leadership.isConfirmed,
      });
    },
  });
  return leadership;
}

function addRoutes(
  app: ServiceApp,
  { config, clock, randomness }: MintParts,
  core: {
    mint: Mint;
    store: MintStore;
    keeper: KeyKeeper;
    tokens: Tokens;
    edges: Edges;
    term: () => LineTerm | undefined;
  },
): void {
  const { mint, store, keeper, tokens, edges, term } = core;
  addLineRoutes(app, { mint, keys: () => keeper.published });
  addAdminRoutes(app, { mint, clock, token: config.adminToken });
  addKeyRoutes(app, { mint, keeper, clock });
  addPremintRoutes(app, { mint });
  addServiceRoutes(app, { mint, clock, randomness, tokens });
  addArchiveRoutes(app, { mint, store });
  addSupplyRoutes(app, { mint, token: config.supplyToken });
  addEdgeRoutes(app, { mint, edges, trustProxyHops: config.trustProxyHops ?? 0 });
  const metrics = mintMetrics({ edges, term, keys: () => keeper.stored });
  addMetricsRoute(app, { metrics, token: config.metricsToken });
  const document = JSON.stringify(openApiDocument());
  app.get("/openapi.json", (context) =>
    context.body(document, 200, { "Content-Type": "application/json" }),
  );
}

/** @throws KeyTrouble when the key-encryption key does not open them. */
async function readKeys({ config, clock, log }: MintParts, store: MintStore): Promise<KeyKeeper> {
  const { kek, kekPrevious, keyRotationDays, signingName } = config;
  const vault = kekVault({ kek, previous: kekPrevious });
  const keeper = new KeyKeeper({
    ...{ store, clock, vault, signingName },
    rotationDays: keyRotationDays,
  });
  await keeper.read();
  // Whoever has just changed the setting should not wonder why nothing happened.
  for (const { kid, use, publicJwk } of keeper.otherwiseNamed)
    log.info("signing-name-waits", { kid, use, name: publicJwk.alg, wanted: signingName });
  return keeper;
}

/** @throws ConfigError when they are not a good key set. */
async function readCreditKeys(json: unknown): Promise<KeySet | undefined> {
  if (json === undefined) return undefined;
  const read = await parseJwks(json);
  if (read.ok) return read.value;
  throw new ConfigError([`VESTIBULE_CREDIT_KEYS: must be a key set: ${read.refusal.reason}`]);
}
