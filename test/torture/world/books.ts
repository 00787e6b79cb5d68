/** What both databases say when all is over, read past every wire. */
import { type Database, connectDatabase } from "@vestibule/db/connect";

import type { Books } from "../trace.ts";
import type { World } from "./world.ts";

export async function readBooks(world: Pick<World, "databaseUrl">, event: string): Promise<Books> {
  const open = (app: "mint" | "purchase"): Database =>
    connectDatabase({ url: world.databaseUrl(app), applicationName: "torture" });
  const [mint, purchase] = [open("mint"), open("purchase")];
  try {
    const claims = await mint.sql<{ n: number }[]>`select n from claims where event = ${event}`;
    const [lease] = await mint.sql<{ epoch: number }[]>`select epoch from lease`;
    return {
      orders: await purchase.sql<Books["orders"][number][]>`
        select order_id as "orderId", jti, number, sku, quantity from orders where event = ${event}`,
      spends: await purchase.sql<Books["spends"][number][]>`
        select jti, number from spends where event = ${event}`,
      stock: await purchase.sql<Books["stock"][number][]>`
        select sku, total, sold from stock where event = ${event}`,
      segments: await mint.sql<Books["segments"][number][]>`
        select base, count, from_ms as "from", until_ms as "until" from segments
         where event = ${event} order by id`,
      claims: claims.map(({ n }) => n),
      epoch: lease?.epoch ?? 0,
    };
  } finally {
    await Promise.all([mint.close(), purchase.close()]);
  }
}
