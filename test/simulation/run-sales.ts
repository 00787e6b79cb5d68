/** Many sales on several threads. */
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { SaleResult } from "./sale.ts";
import type { Share } from "./sales.worker.ts";

const THREADS_MAX = 8;
const FAILURES_MAX = 5;

export interface Sales {
  readonly first: number;
  readonly count: number;
  readonly onSale?: (result: SaleResult) => void;
}

export interface SalesDone {
  readonly sales: number;
  readonly events: number;
  readonly failures: readonly SaleResult[];
  /** Of all figures of all sales. */
  readonly figures: Readonly<Record<string, number>>;
}

/** Runs `count` sales with the seeds from `first` on; ends early when several have failed. */
export async function runSales({ first, count, onSale }: Sales): Promise<SalesDone> {
  const step = Math.min(availableParallelism(), THREADS_MAX, count);
  const failures: SaleResult[] = [];
  const figures: Record<string, number> = {};
  const totals = { sales: 0, events: 0 };
  const workers = Array.from({ length: step }, (_, index) => {
    const workerData: Share = { first: first + index, end: first + count, step };
    return new Worker(new URL("./sales.worker.ts", import.meta.url), { workerData });
  });
  const heard = (result: SaleResult): void => {
    totals.sales += 1;
    totals.events += result.events;
    for (const [name, value] of Object.entries(result.figures)) {
      figures[name] = (figures[name] ?? 0) + value;
    }
    if (result.broken !== undefined) failures.push(result);
    onSale?.(result);
    if (failures.length >= FAILURES_MAX) for (const worker of workers) void worker.terminate();
  };
  await Promise.all(
    workers.map(async (worker) => {
      worker.on("message", heard);
      await once(worker, "exit");
    }),
  );
  return { ...totals, failures, figures };
}

/** For people: what broke, how to see it again, and what came last. */
export function describeFailure({ seed, broken, tail }: SaleResult): string {
  const replay = `npx -y pnpm@12 simulate --seed ${seed}`;
  return [...tail, "", `sale ${seed}: ${broken}`, `replay: ${replay}`].join("\n");
}
