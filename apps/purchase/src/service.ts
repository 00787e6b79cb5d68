/** The purchase API from a configuration: everything is wired here, and only here. */
import { connectDatabase, type Database } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { createFetchText, sleep } from "@vestibule/feed/fetch-text.system";
import { createMintFeed } from "@vestibule/feed/mint-feed";
import type { Clock } from "@vestibule/kernel/clock";
import type { Randomness } from "@vestibule/kernel/randomness";
import { parseJwks } from "@vestibule/keys/key-set";
import { createApp } from "@vestibule/service/app";
import { startHttpServer } from "@vestibule/service/http-server";
import type { Log } from "@vestibule/service/log";
import { every } from "@vestibule/service/timing.system";
import type { PurchaseConfig } from "./config.ts";
import { createLedger } from "./ledger.ts";
import { createMintKnowledge, type MintKnowledge } from "./mint-knowledge.ts";
import {
  type InventoryGate,
  noGateConfigured,
  noLimiterConfigured,
  type PurchaseLimiter,
} from "./ports.ts";
import { orderRoutes } from "./routes/orders.ts";
import { purchaseRoutes } from "./routes/purchases.ts";
import { stockRoutes } from "./routes/stock.ts";
import { createStock } from "./stock.ts";

export interface PurchaseParts {
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  /** Tests and later issues put others in their place. */
  readonly mint?: MintKnowledge;
  readonly limiter?: PurchaseLimiter;
  readonly gate?: InventoryGate;
}

export interface RunningPurchase {
  readonly url: string;
  readonly database: Database;
  stop(): Promise<void>;
}

const MIGRATIONS = { namespace: "purchase", directory: new URL("../migrations/", import.meta.url) };
const ORDER_ID_BYTES = 16;
const FEED_TICK_MS = 250;

/**
 * Migrates, then listens. There is no mode without a database (PS-02).
 *
 * @throws Error that says what is wrong: no database, a pooler in the wrong mode, a taken port.
 */
export async function startPurchase(
  config: PurchaseConfig,
  parts: PurchaseParts,
): Promise<RunningPurchase> {
  const { clock, randomness, log } = parts;
  const mint = parts.mint ?? (await mintKnowledge(config, log));
  const database = connectDatabase({
    url: config.databaseUrl.reveal(),
    applicationName: "vestibule-purchase",
    connectionsMax: config.databaseConnectionsMax,
  });
  let accepting = true;
  const app = createApp({
    log,
    checks: {
      accepting: () => accepting,
      database: () => database.isUp(),
      mint: () => mint.isReady(clock.now()),
    },
  });
  const ledger = createLedger(database);
  purchaseRoutes(app, {
    clock,
    log,
    mint,
    issuer: config.issuer,
    skewSeconds: config.skewSeconds,
    limiter: parts.limiter ?? noLimiterConfigured,
    gate: parts.gate ?? noGateConfigured,
    ledger,
    newOrderId: () => Buffer.from(randomness.bytes(ORDER_ID_BYTES)).toString("base64url"),
  });
  orderRoutes(app, { ledger });
  stockRoutes(app, { stock: createStock(database), adminToken: config.adminToken });

  try {
    await database.assertSessionSettings();
    const applied = await migrate(database, MIGRATIONS);
    if (applied.length > 0) log.info("migrated", { versions: applied });
    const server = await startHttpServer({ ...config, fetch: app.fetch, log });
    mint.tick(clock.now());
    const endTicks = every(FEED_TICK_MS, () => mint.tick(clock.now()));
    log.info("listening", { url: server.url });
    return {
      url: server.url,
      database,
      stop: async () => {
        accepting = false;
        await server.stop();
        endTicks();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** @throws Error when the keys that were deployed along are not a good key set. */
async function mintKnowledge(config: PurchaseConfig, log: Log): Promise<MintKnowledge> {
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
    alarm: (alarm) => log.warn("mint-feed", { ...alarm }),
  });
  return createMintKnowledge(feed);
}
