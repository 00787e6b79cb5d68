/** Floor of `mint-premint`: signatures of an input of the same size and nothing else, on every core. */
import { availableParallelism } from "node:os";

export type ToRawSignatures =
  | { readonly type: "start"; readonly inputChars: number }
  | { readonly type: "fire"; readonly count: number };

/** Enough for every thread, and more than that was not faster. */
const AT_ONCE = 512;

process.env["UV_THREADPOOL_SIZE"] = String(Math.max(4, availableParallelism()));

let input = Buffer.alloc(0);
const { privateKey } = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);

async function fire(count: number): Promise<object> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await crypto.subtle.sign("Ed25519", privateKey, input);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return { elapsedMs: performance.now() - startedAt, samples: [] };
}

process.on("message", (order: ToRawSignatures) => {
  if (order.type === "fire") void fire(order.count).then((answer) => process.send?.(answer));
  else {
    input = Buffer.alloc(order.inputChars, "x");
    process.send?.({});
  }
});
process.on("disconnect", () => process.exit(0));
