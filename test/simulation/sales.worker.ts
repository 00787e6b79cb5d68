/** A thread that runs its share of the sales, one after the other. */
import { parentPort, workerData } from "node:worker_threads";
import { planSale } from "./plan.ts";
import { Sale } from "./sale.ts";
import { simulatedKeys } from "./world/signatures.ts";

/** The seeds `first`, `first + step` … below `end`. */
export interface Share {
  readonly first: number;
  readonly end: number;
  readonly step: number;
}

const { first, end, step } = workerData as Share;
const keys = await simulatedKeys();
for (let seed = first; seed < end; seed += step) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- ports of threads have none
  parentPort?.postMessage(await new Sale(planSale(seed), keys).run());
}
