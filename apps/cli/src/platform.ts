/** All that the command line has of the outside: `cli.system.ts` gives the real things. */
import type { Clock } from "@vestibule/kernel/clock";
import type { Randomness } from "@vestibule/kernel/randomness";
import type { FetchText } from "@vestibule/feed/ports";

export interface HttpRequest {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly deadlineMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
  readonly roundTripMs: number;
}

/** There was no whole answer: why, in a few words without any header. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** Follows no redirect, reads a bounded answer within the deadline. @throws UnreachableError */
export type Send = (request: HttpRequest) => Promise<HttpAnswer>;

export interface Screen {
  write(text: string): void;
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly color: boolean;
  /** Whether it shows more than ASCII. */
  readonly unicode: boolean;
}

/** Files that hold secrets: readable by their owner only, and on disk when a call returns. */
export interface SecretFiles {
  /** `undefined`: there is none. */
  read(path: string): string | undefined;
  /** False: there is one already, and it is as it was. */
  create(path: string, text: string): boolean;
  /** Its whole lines, one after the other, without their ends. */
  lines(path: string): Iterable<string>;
  /** Its whole lines, and the bytes that they take: what is behind was torn. */
  measure(path: string): { readonly lines: number; readonly bytes: number } | undefined;
  /** In place of whatever is behind `at`. @returns the new length, bytes. */
  append(path: string, more: { readonly at: number; readonly text: string }): number;
  remove(path: string): void;
}

export interface Platform {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** Ends early, without an error, when it is interrupted. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly send: Send;
  readonly fetchText: FetchText;
  readonly readFile: (path: string) => string;
  readonly secretFiles: SecretFiles;
  readonly out: Screen;
  readonly err: Screen;
  /** `undefined`: nobody is there to be asked. An answer that ends without a line is an empty one. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** Set for good by the first Ctrl-C. */
  readonly interrupted: { readonly is: boolean };
  /** `undefined`: the machine's own. */
  readonly timeZone?: string | undefined;
}
