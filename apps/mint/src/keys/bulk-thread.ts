/**
 * `BulkTickets` in a thread of its own, started with the first batch: claims, texts and the answer are made there
 * while joins go on here, and the signatures on the runtime's threads, which both share. A thread feeds about
 * five cores. Its young generation is larger than the mint's: a batch's garbage is many times a join's.
 */
import { setFlagsFromString } from "node:v8";
import { type MessagePort, Worker } from "node:worker_threads";
import { BULK_SEMI_SPACE_MIB } from "../limits.ts";
import { unavailable } from "../unavailable.ts";
import { type BulkOrder, type BulkTickets, bulkTickets } from "./bulk-tickets.ts";

interface Asked {
  readonly id: number;
  readonly order: Omit<BulkOrder, "subs">;
  /** As one text: it is copied in one piece. */
  readonly subs: string;
}

type Answer =
  | { readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly id: number; readonly failed: string };

type Waiting = PromiseWithResolvers<Uint8Array<ArrayBuffer>>;

/** @param script its thread runs this file, which calls `serveBulkTickets` there. */
export function bulkThread(script: URL): {
  readonly tickets: BulkTickets;
  readonly close: () => Promise<void>;
} {
  const waiting = new Map<number, Waiting>();
  let ids = 0;
  let thread: Worker | undefined;

  const gone = (worker: Worker, why: string): void => {
    if (thread !== worker) return;
    thread = undefined;
    for (const { reject } of waiting.values()) reject(unavailable(why));
    waiting.clear();
  };
  const start = (): Worker => {
    // Read when a thread begins; this one has begun long since.
    setFlagsFromString(`--min-semi-space-size=${BULK_SEMI_SPACE_MIB}`);
    const worker = new Worker(script);
    worker.unref();
    worker.on("message", (answer: Answer) => {
      const asked = waiting.get(answer.id);
      waiting.delete(answer.id);
      if ("bytes" in answer) asked?.resolve(answer.bytes);
      else asked?.reject(new Error(answer.failed));
    });
    worker.on("error", (error) => gone(worker, `the thread of bulk signatures: ${String(error)}`));
    worker.on("exit", () => gone(worker, "the thread of bulk signatures ended"));
    return worker;
  };

  return {
    tickets: ({ subs, ...order }) => {
      thread ??= start();
      const asked: Waiting = Promise.withResolvers();
      ids += 1;
      waiting.set(ids, asked);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- Node's thread is no window
      thread.postMessage({ id: ids, order, subs: subs.join() } satisfies Asked);
      return asked.promise;
    },
    close: async () => {
      await thread?.terminate();
    },
  };
}

/** The other end, in the thread. */
export function serveBulkTickets(port: MessagePort): void {
  port.on("message", ({ id, order, subs }: Asked) => {
    bulkTickets({ ...order, subs: subs.split(",") }).then(
      (bytes) => port.postMessage({ id, bytes } satisfies Answer, [bytes.buffer]),
      (error: unknown) => port.postMessage({ id, failed: String(error) } satisfies Answer),
    );
  });
}
