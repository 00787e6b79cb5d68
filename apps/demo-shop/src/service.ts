import type { Randomness } from "@vestibule/kernel/randomness";
import { startHttpServer } from "@vestibule/service/http-server";
import type { Log } from "@vestibule/service/log";
import type { ShopConfig } from "./config.ts";
import { createPurchaseClient } from "./purchase-client.ts";
import { createShop } from "./shop.ts";

/** @throws ListenError when the port cannot be had. */
export async function startShop(
  config: ShopConfig,
  { randomness, log }: { randomness: Randomness; log: Log },
): Promise<{ url: string; stop(): Promise<void> }> {
  const purchase = createPurchaseClient(config);
  const shop = createShop({ event: config.event, purchase, randomness, log });
  const { host, port } = config;
  const server = await startHttpServer({ host, port, fetch: shop.fetch, log });
  log.info("listening", { url: server.url });
  return { url: server.url, stop: () => server.stop() };
}
