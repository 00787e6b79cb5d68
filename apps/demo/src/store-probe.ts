/** Whether a store answers, seen by the very client that the purchase API uses. */
import { type ValkeyClient, connectValkey } from "@vestibule/valkey/client.system";
import type { StoreLog } from "@vestibule/valkey/store-log";

/** Longer than the purchase API waits: a busy machine is no reason to alarm anybody. */
const DEADLINE_MS = 1_000;
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOENT: "there is no such socket",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host cannot be looked up",
  NOAUTH: "it asks for a password",
  WRONGPASS: "the password is wrong",
  READONLY: "it is a replica, and takes no writes",
  LOADING: "it is still reading its data",
  ERR: "it refuses us",
  rubbish: "whatever answers there is no Valkey and no Redis",
  closed: "it closes the connection",
  silent: "it does not answer",
};

export class StoreProbe {
  readonly #client: ValkeyClient;
  #reason: string | undefined;
  #evicts: string | undefined;

  /** @throws TypeError when `url` cannot be understood. Its text never holds the password. */
  constructor(url: string) {
    const log: StoreLog = (event, { reason, policy }) => {
      if (event === "store-connected") this.#reason = undefined;
      if (event === "store-away") this.#reason = String(reason);
      if (event === "store-may-evict") this.#evicts = String(policy);
    };
    this.#client = connectValkey({ url, deadlineMs: DEADLINE_MS, log });
  }

  /** Why it does not answer, in a few words; undefined: it does. A second old at most. */
  whyAway(): string | undefined {
    if (this.#client.isUp()) return undefined;
    const reason = this.#reason ?? "silent";
    return REASONS[reason] ?? reason;
  }

  /** Its `maxmemory-policy`, when that lets it forget limits and stock. */
  evicts(): string | undefined {
    return this.#evicts;
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
