/** What the feed needs from the outside. The real ones are in the `*.system.ts` files. */
import type { EpochMs } from "@vestibule/kernel/units";
import type { Result } from "@vestibule/kernel/result";

/** Why a mint's answer was not taken. Nothing of the answer itself is repeated. */
export type FetchRefusal =
  | { readonly reason: "unreachable" }
  | { readonly reason: "timeout" }
  | { readonly reason: "redirect" }
  | { readonly reason: "status"; readonly status: number }
  | { readonly reason: "too-large" }
  | { readonly reason: "not-text" };

export interface FetchedText {
  readonly text: string;
  /** From the request to the last byte. */
  readonly roundTripMs: number;
}

/**
 * Gets one text: never follows a redirect, gives up after `deadlineMs` (head and body together) and
 * stops reading after `bytesMax`, whatever `Content-Length` says. Never rejects.
 */
export type FetchText = (request: {
  readonly url: string;
  readonly accept: string;
  readonly deadlineMs: number;
  readonly bytesMax: number;
}) => Promise<Result<FetchedText, FetchRefusal>>;

/** A text that another isolate of this location fetched, and when, by this location's clock. */
export interface CachedText {
  readonly text: string;
  readonly fetchedAt: EpochMs;
}

/** Shared between the isolates of one location. Optional; a failing cache must answer `undefined`. */
export interface FeedCache {
  get(key: string): Promise<CachedText | undefined>;
  put(key: string, entry: CachedText): Promise<void>;
}

/** Waits. Only used by callers that know nothing at all yet. */
export type Sleep = (ms: number) => Promise<void>;

/** What an operator should hear of: the last good value stays in use. */
export interface FeedAlarm {
  readonly thing: string;
  readonly url: string;
  readonly reason: string;
}
