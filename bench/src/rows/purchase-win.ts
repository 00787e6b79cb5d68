import { join } from "node:path";

import { compare } from "../compare.ts";
import { Shoppers } from "../load/shoppers-handle.ts";
import { latencyText, winners } from "../purchase/answers.ts";
import { checkBooks, openBooks } from "../purchase/books.ts";
import { cpuWatch } from "../purchase/cpu-watch.ts";
import { CONNECTIONS, type FromLedgerSides, type ToLedgerSides } from "../purchase/ledger-sides.ts";
import {
  type LocalDatabases,
  SKU,
  startDatabases,
  startPurchaseApi,
} from "../purchase/purchase-world.ts";
import { openSales } from "../purchase/sales.ts";
import type { Bench, Measured, Row } from "../row.ts";
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
  const databases = await startDatabases(bench);
  const child = bench.processes.node(
    "ledgers",
    join(import.meta.dirname, "../purchase/ledger-sides.ts"),
  );
  const tell = async (order: ToLedgerSides): Promise<FromLedgerSides> => {
    const answer = (await child.ask(order)) as FromLedgerSides;
    if (answer.type === "failed") throw new Error(answer.message);
    return answer;
  };
  const urls = {
    candidate: await databases.create("candidate"),
    floor: await databases.create("floor"),
  };
  await tell({ type: "start", candidateUrl: urls.candidate, floorUrl: urls.floor });
  const watches = {
    candidate: cpuWatch({ caller: [child.pid], PostgreSQL: [databases.pid] }),
    floor: cpuWatch({ caller: [child.pid], PostgreSQL: [databases.pid] }),
  };
  const measured = await compare(bench, {
    generator: {
      fire: async (name, count) => {
        const side = name as "candidate" | "floor";
        const answer = await watches[side].during(() => tell({ type: "fire", side, count }));
        if (answer.type !== "fired") throw new Error("no answer");
        return answer;
      },
    },
    pids: { candidate: child.pid, floor: child.pid },
    warmUp: bench.quick ? 600 : 3_000,
  });
  await child.stop();
  return {
    ...measured,
    notes: [
      // PostgreSQL's disk is what both sides wait for: that the caller idles is no fault.
      ...measured.notes.filter((note) => !note.includes("used")),
      `${CONNECTIONS} connections and as many purchases under way on either side; of one core: ${watches.candidate.text()}; under the floor ${watches.floor.text()}`,
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
