/**
 * A purchase that wins, twice in one process: through the purchase API's ledger, and as three bare statements in
 * a transaction of the same driver. Each has a database of its own with the same tables on the same server.
 */
import { createHash } from "node:crypto";

import { connectDatabase } from "@vestibule/db/connect";
import { migrate } from "@vestibule/db/migrate";
import { epochMs } from "@vestibule/kernel/units";
import { createLedger } from "@vestibule/purchase/src/ledger.ts";
import postgres from "postgres";

import { type Deed, serveSides } from "../sides/serve-sides.ts";

/** Connections of each side, and purchases under way: no more than a connection each, so that nobody waits for one. */
export const CONNECTIONS = 10;
const EVENT = "sale";
const SKU = "seat";
/** More than any run sells: every purchase wins. */
const SEATS = 1_000_000_000;
const STATEMENT_TIMEOUT_MS = 4_000;
const MIGRATIONS = new URL(
  "../migrations/",
  import.meta.resolve("@vestibule/purchase/src/ledger.ts"),
);

/** As long as the real ones and as scattered in an index: a hash, base64url. */
function nameOf(kind: string, number: number): string {
  return createHash("sha256").update(`${kind}-${number}`).digest("base64url");
}

async function candidate(url: string): Promise<Deed> {
  const database = connectDatabase({
    url,
    applicationName: "bench-candidate",
    connectionsMax: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  await prepare(database);
  const ledger = createLedger(database);
  return async (number) => {
    const visitor = nameOf("visitor", number);
    const outcome = await ledger.purchase({
      event: EVENT,
      sku: SKU,
      quantity: 1,
      visitor,
      buyer: visitor,
      jti: nameOf("admission", number),
      number,
      idempotencyKey: nameOf("key", number),
      orderId: nameOf("order", number).slice(0, 22),
      now: epochMs(Date.now()),
    });
    if (outcome.kind !== "bought") throw new Error(`not bought: ${outcome.kind}`);
  };
}

/** What nobody can leave out: take the seat, note the spend, write the order; all or nothing. */
async function floor(url: string): Promise<Deed> {
  const database = connectDatabase({ url, applicationName: "bench-floor" });
  await prepare(database);
  await database.close();
  const sql = postgres(url, {
    max: CONNECTIONS,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: "bench-floor", statement_timeout: STATEMENT_TIMEOUT_MS },
  });
  return async (number) => {
    const visitor = nameOf("visitor", number);
    const jti = nameOf("admission", number);
    const orderId = nameOf("order", number).slice(0, 22);
    const now = Date.now();
    await sql.begin(async (tx) => {
      const taken = await tx`
        update stock set sold = sold + 1
         where event = ${EVENT} and sku = ${SKU} and sold + 1 <= total returning total - sold as left`;
      if (taken.length !== 1) throw new Error("sold out");
      await tx`
        insert into spends (jti, event, visitor, number, idempotency_key, request, order_id, spent_at)
        values (${jti}, ${EVENT}, ${visitor}, ${number}, ${nameOf("key", number)},
                ${`purchase:${SKU}:1`}, ${orderId}, ${now})`;
      await tx`
        insert into orders (order_id, event, sku, quantity, number, visitor, jti, purchased_at)
        values (${orderId}, ${EVENT}, ${SKU}, 1, ${number}, ${visitor}, ${jti}, ${now})`;
    });
  };
}

async function prepare(database: ReturnType<typeof connectDatabase>): Promise<void> {
  await migrate(database, { namespace: "purchase", directory: MIGRATIONS });
  await database.sql`
    insert into stock (event, sku, total, per_purchase_max, show_remaining)
    values (${EVENT}, ${SKU}, ${SEATS}, 10, false)`;
}

if (import.meta.main) serveSides({ candidate, floor, underWay: CONNECTIONS });
