/** One request, read once, and what the isolate knows: what every handler gets. */
import type { KnownDrip, MintFeed } from "@vestibule/feed/mint-feed";
import type { Clock } from "@vestibule/kernel/clock";
import type { Randomness } from "@vestibule/kernel/randomness";
import type { EpochMs } from "@vestibule/kernel/units";
import type { Admissions } from "./admission/admissions.ts";
import type { Tickets } from "./admission/tickets.ts";
import type { EdgeConfig } from "./config.ts";
import { DRIP_STALE_MS } from "./limits.ts";
import { type Head, readHead } from "./head.ts";
import type { MintClient } from "./mint-client.ts";
import { type Address, readAddress } from "./routing/address.ts";
import type { RouteTable } from "./routing/route-table.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Lives as long as the isolate. Only values: no promise outlives the request that made it. */
export interface Edge {
  readonly config: EdgeConfig;
  readonly feed: MintFeed;
  readonly mint: MintClient;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly fetch: Fetch;
  readonly admissions: Admissions;
  readonly tickets: Tickets;
  /** Of the newest manifest; `undefined` before the first. */
  routes(): RouteTable | undefined;
  /** `false`: this runtime cannot verify (KR-09). */
  readonly verifies: boolean;
}

/** The part of `ExecutionContext` that is used. */
export interface Background {
  waitUntil(work: Promise<unknown>): void;
}

export interface Visit {
  readonly edge: Edge;
  readonly request: Request;
  readonly background: Background;
  /** The one reading of the clock for this request. */
  readonly now: EpochMs;
  readonly address: Address;
  readonly head: Head;
}

export function readVisit(
  edge: Edge,
  { request, background, now }: { request: Request; background: Background; now: EpochMs },
): Visit | undefined {
  const address = readAddress(request.url);
  if (address === undefined) return undefined;
  return { edge, request, background, now, address, head: readHead(request.headers) };
}

/** Asks again for what is due, in the background: nobody waits for it. */
export function keepFresh({ edge, background, now }: Visit): void {
  const { feed } = edge;
  if (feed.refreshDue("keys", now)) background.waitUntil(feed.refresh("keys", now));
  if (feed.refreshDue("manifest", now)) background.waitUntil(feed.refresh("manifest", now));
}

/**
 * The same for an event's drip; a promise when this request must wait for it. Where somebody asks every
 * second nobody waits. A location that was left alone asks before it decides, or it would let people
 * in through a hold that it has not heard of. While no mint answers, one request per back-off waits
 * in vain and all others go by what is known (law 9).
 */
export function keepDripFresh(
  { edge, background, now }: Visit,
  event: string,
): Promise<unknown> | undefined {
  const { feed } = edge;
  if (!feed.refreshDue(`drip:${event}`, now)) return undefined;
  const refresh = feed.refresh(`drip:${event}`, now);
  background.waitUntil(refresh);
  return isStale(feed.drip(event), now) ? refresh : undefined;
}

export function isStale(drip: KnownDrip | undefined, now: EpochMs): boolean {
  return drip !== undefined && Math.abs(now - drip.askedAt) > DRIP_STALE_MS;
}
