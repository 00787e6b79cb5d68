import { join } from "node:path";

import { Shoppers } from "../load/shoppers-handle.ts";
import { latencyText, winners } from "../purchase/answers.ts";
import { checkBooks, openBooks } from "../purchase/books.ts";
import { cpuWatch } from "../purchase/cpu-watch.ts";
import { CONNECTIONS } from "../purchase/ledger-sides.ts";
import { type LocalDatabases, SKU, startPurchaseApi } from "../purchase/purchase-world.ts";
import { openSales } from "../purchase/sales.ts";
import type { Bench, Measured, Row } from "../row.ts";
import { measureSides } from "../sides/measure-sides.ts";
import { startValkey } from "../valkey.ts";

const HTTP_PURCHASES = 2_000;
const HTTP_PURCHASES_QUICK = 300;
const HTTP_UNDER_WAY = 32;

export const purchaseWin: Row = {
  name: "purchase-win",
  what: "a purchase that wins, through the ledger, durable PostgreSQL",
  floor:
    "three statements in a transaction of the same driver: take the seat, note the spend, write the order",
  unit: "purchases/s",
  atLeast: 0.7,
  timeoutMs: 180_000,
  measure,
};

async function measure(bench: Bench): Promise<Measured> {
  const { measured, cpu, databases } = await measureSides(bench, {
    name: "ledgers",
    script: join(import.meta.dirname, "../purchase/ledger-sides.ts"),
    warmUp: bench.quick ? 600 : 3_000,
  });
  return {
    ...measured,
    notes: [
      ...measured.notes,
      `${CONNECTIONS} connections and as many purchases under way on either side; ${cpu}`,
      await throughHttp(bench, databases),
    ],
  };
}

/** For comparison: admission verified, limiter, gate, ledger, over HTTP. */
async function throughHttp(bench: Bench, databases: LocalDatabases): Promise<string> {
  const event = "sale";
  const count = bench.quick ? HTTP_PURCHASES_QUICK : HTTP_PURCHASES;
  const valkey = await startValkey(bench);
  const sales = await openSales(bench, [event, "warm-up"]);
  const databaseUrl = await databases.create("http");
  const options = { name: "http", databaseUrl, valkey, sales, gate: true, instances: 1 };
  const api = await startPurchaseApi(bench, options);
  const crowd = Shoppers.start(bench.processes);
  const books = openBooks(databaseUrl);
  bench.processes.finally(() => books.close());
  await crowd.connect(
    api.instances.map(({ port }) => port),
    HTTP_UNDER_WAY,
  );
  const cpu = cpuWatch({
    "purchase API": api.instances.map(({ pid }) => pid),
    PostgreSQL: [databases.pid],
    Valkey: [valkey.pid()],
    crowd: [crowd.pid],
  });
  const sellTo = async (sale: string) => {
    const shoppers = await sales.admissions(sale, count);
    await api.putOnSale(sale, count);
    bench.progress(`${count} purchases through HTTP`);
    const order = { event: sale, sku: SKU, shoppers, requests: count, doubleEvery: 0 };
    return cpu.during(() => crowd.hammer(order));
  };
  await sellTo("warm-up");
  const { answers, elapsedMs } = await sellTo(event);
  checkBooks(await books.read(event, SKU), count);
  if (winners(answers).size !== count) throw new Error(`${winners(answers).size} of ${count} won`);
  return `the whole purchase through HTTP (admission, limiter, gate, ledger), ${HTTP_UNDER_WAY} under way: ${((count * 1_000) / elapsedMs).toFixed(0)} a second; ${latencyText(answers)}; of one core: ${cpu.text()}`;
}
