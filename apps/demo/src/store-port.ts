/** The store of limiter and gate, as the launcher sees it. */
import type { Supervisor } from "./supervisor.ts";

export interface Store {
  /** A few words for the list of what was started. */
  readonly title: string;
  /** For the panel, after "limits in". */
  readonly words: string;
  /** For the purchase API; undefined: it counts in its own memory. */
  readonly url: string | undefined;
  /** What the reader should know of how it came to this. */
  readonly note: string | undefined;
  /** What is wrong with it right now, in a line; undefined: nothing. */
  trouble(): string | undefined;
  close(): Promise<void>;
}

export interface StoreOptions {
  /** `VALKEY_URL` of the environment. */
  readonly given: string | undefined;
  /** The variable PATH. */
  readonly path: string;
  readonly password: string;
  /** A working directory for it: it writes nothing there. */
  readonly directory: string;
  readonly logs: string;
  /** Where the ports of the other parts begin. */
  readonly portBase: number;
  readonly supervisor: Supervisor;
  readonly signal: AbortSignal;
  /** Tells the reader a line. */
  readonly say: (line: string) => void;
}
