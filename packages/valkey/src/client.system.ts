/** Signatures first; the body follows. */
import type { StoreLog } from "./store-log.ts";

/** One Lua script: its text, told to the server once, then called by its SHA-1. */
export interface Script {
  readonly name: string;
  readonly text: string;
}

export interface ValkeyClient {
  /** @throws StoreAwayError within the deadline, whatever the server does. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** The connection stands and the server answered the last call. For metrics and `/readyz`. */
  isUp(): boolean;
  /** Returns within a second, whether the server answers or not. */
  close(): Promise<void>;
}

/**
 * Returns at once and connects by itself, now and after every loss.
 *
 * @throws TypeError when `url` cannot be understood. Its text never holds the password.
 */
export function connectValkey(_options: {
  url: string;
  deadlineMs: number;
  log: StoreLog;
}): ValkeyClient {
  throw new Error("being written");
}
