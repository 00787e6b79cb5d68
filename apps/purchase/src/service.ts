/** The purchase API from a configuration: everything is wired here, and only here. */
import { connectDatabase, type Database } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { watchClock } from "@vestibule/feed/clock-watch";
import { createFetchText, sleep } from "@vestibule/feed/fetch-text.system";
import { createMintFeed } from "@vestibule/feed/mint-feed";
import { createMintOrder } from "@vestibule/feed/mint-order";
import type { Clock } from "@vestibule/kernel/clock";
import type { Randomness } from "@vestibule/kernel/randomness";
import { parseJwks } from "@vestibule/keys/key-set";
import { createApp } from "@vestibule/service/app";
import { startHttpServer } from "@vestibule/service/http-server";
import type { Log } from "@vestibule/service/log";
import { every } from "@vestibule/service/timing.system";
import type { Allowance, PurchaseConfig } from "./config.ts";
import { createCredits } from "./credits.ts";
import { createGateKeeper, gateSwitchedOff } from "./gate-keeper.ts";
import { createGateRepair } from "./gate-repair.ts";
import { createHoldSweep } from "./holds-sweep.ts";
import { createHolds } from "./holds.ts";
import { createHashIdentity } from "./identity.ts";
import type { CameBack, Ledger } from "./ledger-types.ts";
import { createLastCalls } from "./last-calls.ts";
import { createLedger } from "./ledger.ts";
import { createLimiter, type Limiter } from "./limiter.ts";
import {
  DATABASE_DEADLINE_MS,
  DATABASE_STATEMENT_TIMEOUT_MS,
  FEED_TICK_MS,
  HOLD_SWEEP_MS,
  READ_CONNECTIONS,
  READ_DEADLINE_MS,
  READ_STATEMENT_TIMEOUT_MS,
  READ_WAITERS_MAX,
  REPAIR_ASKED_MS,
  REPAIR_ROUND_MS,
  SUPPLY_RETRY_MS,
} from "./limits.ts";
import { createMintKnowledge, type MintKnowledge } from "./mint-knowledge.ts";
import { type ClientLimit, createClientLimit } from "./routes/client-limit.ts";
import { holdRoutes } from "./routes/holds.ts";
import { orderRoutes } from "./routes/orders.ts";
import { purchaseRoutes } from "./routes/purchases.ts";
import { stockRoutes } from "./routes/stock.ts";
import { createTokenCheck } from "./routes/token-check.ts";
import { createStock } from "./stock.ts";
import { openStore, type Store } from "./store.ts";
import { putReport } from "./supply-put.system.ts";
import { createSupplyReporter, type SupplyReporter, type SupplyWatch } from "./supply-reporter.ts";
import { createSupply, type Supply } from "./supply.ts";

export interface PurchaseParts {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** Tests put others in their place. */
  readonly mint?: MintKnowledge;
  readonly store?: Store;
}

export interface RunningPurchase {
  readonly url: string;
  readonly database: Database;
  stop(): Promise<void>;
}

const MIGRATIONS = { namespace: "purchase", directory: new URL("../migrations/", import.meta.url) };
const ID_BYTES = 16;
const IDENTITY_SECRET_BYTES = 32;

/**
 * Migrates, then listens. There is no mode without a database (PS-02).
 *
 * @throws Error that says what is wrong: no database, a pooler in the wrong mode, a taken port, a bad key.
 */
export async function startPurchase(
  config: PurchaseConfig,
  parts: PurchaseParts,
): Promise<RunningPurchase> {
  const { clock, log } = parts;
  const credits = await createCredits(config.creditKey?.reveal(), { issuer: config.issuer, log });
  const mint = parts.mint ?? (await mintKnowledge(config, parts));
  const store = parts.store ?? openStore(config, parts);
  const database = connectDatabase({
    url: config.databaseUrl.reveal(),
    applicationName: "vestibule-purchase",
    connectionsMax: config.databaseConnectionsMax,
    deadlineMs: DATABASE_DEADLINE_MS,
    statementTimeoutMs: DATABASE_STATEMENT_TIMEOUT_MS,
  });
  const reads = connectDatabase({
    url: config.databaseUrl.reveal(),
    applicationName: "vestibule-purchase-reads",
    connectionsMax: READ_CONNECTIONS,
    waitersMax: READ_WAITERS_MAX,
    deadlineMs: READ_DEADLINE_MS,
    statementTimeoutMs: READ_STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: READ_STATEMENT_TIMEOUT_MS,
  });
  let accepting = true;
  const app = createApp({
    log,
    checks: {
      accepting: () => accepting,
      database: () => database.isUp(),
      mint: () => mint.isReady(clock.now()),
    },
    // Every instance has the same store: unready, all of them would be gone at once, and with them the clear
    // 503 of the limiter and whatever needs no store.
    notes: {
      limiterAndGate: () => store.isUp(),
      // It still confirms what is paid for. And were the mint's clock the wrong one, all would say so.
      clock: () => !mint.isClockWrong(),
    },
  });

  const ledger = createLedger(database, { reads });
  const work = backgroundWork(config, { ...parts, database, reads, ledger, mint, store });
  const limits = limitersOf(config, parts, store);
  const newId = (): string => Buffer.from(parts.randomness.bytes(ID_BYTES)).toString("base64url");
  const { issuer, skewSeconds } = config;
  const check = { limit: limits.consoleLogIn, clock };
  const assertAdmin = createTokenCheck({ ...check, token: config.adminToken, mustGoOn: false });
  const assertShop = createTokenCheck({ ...check, token: config.shopToken, mustGoOn: true });
  purchaseRoutes(app, {
    clock,
    log,
    mint,
    issuer,
    skewSeconds,
    limiter: limits.purchase,
    gate: work.gate,
    ledger,
    credits,
    supply: work.supplyWatch,
    assertShop,
    newId,
  });
  const readLimit = limits.read;
  orderRoutes(app, { ledger, assertShop, readLimit });
  const { holds, stock } = work;
  holdRoutes(app, { holds, clock, assertShop, newOrderId: newId, credits, readLimit });
  const isNoEvent = async (event: string): Promise<boolean> =>
    (await mint.terms(event, clock.now())) === "no-such-event";
  stockRoutes(app, { stock, assertAdmin, isNoEvent });

  try {
    await database.assertSessionSettings();
    const applied = await migrate(database, MIGRATIONS);
    if (applied.length > 0) log.info("migrated", { versions: applied });
    const server = await startHttpServer({ ...config, fetch: app.fetch, log });
    mint.tick(clock.now());
    const endWork = work.start();
    log.info("listening", { url: server.url });
    return {
      url: server.url,
      database,
      stop: async () => {
        accepting = false;
        await server.stop();
        await endWork();
        await store.close();
        await Promise.all([database.close(), reads.close()]);
      },
    };
  } catch (error) {
    await store.close();
    await Promise.all([database.close(), reads.close()]);
    throw error;
  }
}

interface BackgroundParts extends PurchaseParts {
  readonly database: Database;
  readonly reads: Database;
  readonly ledger: Ledger;
  readonly mint: MintKnowledge;
  readonly store: Store;
}

/** Gate, repair, holds that run out, supply: what goes on without a request, and what it is told by requests. */
function backgroundWork(config: PurchaseConfig, parts: BackgroundParts) {
  const { clock, log, database, reads, ledger, mint, store } = parts;
  const cameBack: CameBack = (of) => {
    if (config.gateEnabled) repair.ask(of);
    supplyWatch(of.event);
  };
  const stock = createStock(database, { cameBack, reads });
  const listSkus = () => stock.skus(mint.events());
  const repair = createGateRepair({ gate: store.gate, ledger, listSkus, clock, log });
  const gate = config.gateEnabled
    ? createGateKeeper(store.gate, { repair, ledger, log })
    : gateSwitchedOff;
  const reporter = supplyReporter(config, parts, createSupply(database));
  const supplyWatch: SupplyWatch = (event) => reporter?.look(event);
  const holds = createHolds(database, { cameBack, reads });
  const sweep = createHoldSweep({ holds, log });

  return {
    gate,
    holds,
    stock,
    supplyWatch,
    /** @returns what ends it: when it resolves nothing is under way any more. */
    start: (): (() => Promise<void>) => {
      const ends = [
        every(FEED_TICK_MS, () => mint.tick(clock.now())),
        every(HOLD_SWEEP_MS, () => void sweep.tick()),
      ];
      if (config.gateEnabled) {
        ends.push(every(REPAIR_ASKED_MS, () => void repair.tick()));
        ends.push(every(REPAIR_ROUND_MS, () => void repair.round()));
      }
      if (reporter !== undefined) ends.push(every(SUPPLY_RETRY_MS, () => void reporter.tick()));
      return async () => {
        for (const end of ends) end();
        await gate.idle();
        await Promise.all([sweep.idle(), repair.idle(), reporter?.idle()]);
      };
    },
  };
}

function supplyReporter(
  config: PurchaseConfig,
  { clock, log, mint }: BackgroundParts,
  supply: Supply,
): SupplyReporter | undefined {
  const { supplyToken: token, mintUrls } = config;
  if (token === undefined) return undefined;
  const mints = createMintOrder(mintUrls);
  return createSupplyReporter({
    supply,
    lastCalls: createLastCalls(),
    rate: (event) => mint.rate(event, clock.now()),
    events: () => mint.events(),
    mints,
    token,
    put: putReport,
    clock,
    log,
  });
}

function limitersOf(
  config: PurchaseConfig,
  { randomness }: PurchaseParts,
  { bucket }: Store,
): { purchase: Limiter; consoleLogIn: ClientLimit; read: ClientLimit } {
  // Buckets of this process alone need no secret that outlives it.
  const secret = config.identitySecret?.reveal() ?? randomness.bytes(IDENTITY_SECRET_BYTES);
  const parts = { bucket, hash: createHashIdentity(secret) };
  const { purchaseLimit, consoleLogInLimit, readLimit, trustProxyHops } = config;
  const ofClient = (name: string, allowance: Allowance): ClientLimit =>
    createClientLimit({ limiter: createLimiter({ name, ...allowance }, parts), trustProxyHops });
  return {
    purchase: createLimiter({ name: "purchase", ...purchaseLimit }, parts),
    consoleLogIn: ofClient("console-log-in", consoleLogInLimit),
    read: ofClient("read", readLimit),
  };
}

/** @throws Error when the keys that were deployed along are not a good key set. */
async function mintKnowledge(
  config: PurchaseConfig,
  { clock, randomness, log }: PurchaseParts,
): Promise<MintKnowledge> {
  const { mintUrls, issuer, skewSeconds } = config;
  const bootKeys = config.bootKeys === undefined ? undefined : await parseJwks(config.bootKeys);
  if (bootKeys?.ok === false) {
    throw new Error(`VESTIBULE_JWKS is not a good key set: ${bootKeys.refusal.reason}`);
  }
  const feed = createMintFeed({
    mintUrls,
    issuer,
    skewSeconds,
    ...(bootKeys === undefined ? {} : { bootKeys: bootKeys.value }),
    fetchText: createFetchText(fetch),
    sleep,
    watch: watchClock({ clock, randomness, location: "purchase" }),
    alarm: (alarm) => log.warn("mint-feed", { ...alarm }),
  });
  return createMintKnowledge(feed);
}
