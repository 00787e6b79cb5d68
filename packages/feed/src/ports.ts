/** What the feed needs from the outside. The real ones are in the `*.system.ts` files. */
import type { ClockState, Passes } from "@vestibule/contracts/edges-api";
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
 * Gets one text, or posts `body` (JSON) for one: never follows a redirect, gives up after `deadlineMs` (head and body together) and
 * stops reading after `bytesMax`, whatever `Content-Length` says. Never rejects.
 */
export type FetchText = (request: {
  readonly url: string;
  readonly accept: string;
  readonly body?: string;
  readonly deadlineMs: number;
  readonly bytesMax: number;
}) => Promise<Result<FetchedText, FetchRefusal>>;

/** What bypass rules let through: each question for the time tells the mint what it has not heard of. */
export interface PassReport {
  /** At most `PASSES_PER_REPORT_MAX`. */
  pending(): readonly Passes[];
  /** A mint has heard of these, as `pending` said them. */
  heard(passes: readonly Passes[]): void;
}

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

/** What is known of the own clock. `null`: nothing. */
export interface ClockHealth {
  readonly state: ClockState;
  /** The own clock less the mint's, and how well that is known. */
  readonly offsetMs: number | null;
  readonly uncertaintyMs: number | null;
  readonly measuredAgoMs: number | null;
}

/** What an operator should hear of: the last good value stays in use. */
export interface FeedAlarm {
  /** `keys`, `manifest`, `drip:` and an event, or `clock`: the own one. */
  readonly thing: string;
  readonly url: string;
  /** Why nothing was taken; of the clock also what it has become, as `clock-warn`. */
  readonly reason: string;
  readonly clock?: ClockHealth & { readonly location: string };
}
