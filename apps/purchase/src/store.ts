/** Where buckets and counters live: in Valkey when it is configured, else in this process. */
import type { Clock } from "@vestibule/kernel/clock";
import type { Log } from "@vestibule/service/log";
import { connectValkey } from "@vestibule/valkey/client.system";
import type { InventoryGate } from "@vestibule/valkey/inventory-gate";
import { createMemoryInventoryGate } from "@vestibule/valkey/memory-inventory-gate";
import { createMemoryTokenBucket } from "@vestibule/valkey/memory-token-bucket";
import type { StoreLog } from "@vestibule/valkey/store-log";
import type { TokenBucket } from "@vestibule/valkey/token-bucket";
import { createValkeyInventoryGate } from "@vestibule/valkey/valkey-inventory-gate";
import { createValkeyTokenBucket } from "@vestibule/valkey/valkey-token-bucket";
import type { PurchaseConfig } from "./config.ts";

export interface Store {
  readonly bucket: TokenBucket;
  readonly gate: InventoryGate;
  /** Whether it answered last. For the eyes of `/readyz` only. */
  readonly isUp: () => boolean;
  readonly close: () => Promise<void>;
}

/** @throws TypeError when the address cannot be understood; its text never holds the password. */
export function openStore(
  { valkeyUrl, valkeyDeadlineMs }: Pick<PurchaseConfig, "valkeyUrl" | "valkeyDeadlineMs">,
  { clock, log }: { clock: Clock; log: Log },
): Store {
  if (valkeyUrl === undefined) {
    log.info("store-in-process", { lost: "at every restart", shared: "with no other instance" });
    return {
      bucket: createMemoryTokenBucket(clock),
      gate: createMemoryInventoryGate(clock),
      isUp: () => true,
      close: () => Promise.resolve(),
    };
  }
  const client = connectValkey({
    url: valkeyUrl.reveal(),
    deadlineMs: valkeyDeadlineMs,
    log: storeLog(log),
  });
  return {
    bucket: createValkeyTokenBucket(client),
    gate: createValkeyInventoryGate(client),
    isUp: () => client.isUp(),
    close: () => client.close(),
  };
}

function storeLog(log: Log): StoreLog {
  return (event, fields) => {
    if (event === "store-connected" || event === "store-safety-unknown") log.info(event, fields);
    else log.warn(event, fields);
  };
}
