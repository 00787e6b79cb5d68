/** One request, read once, and what the isolate knows: what every handler gets. */
import { isSlug } from "@vestibule/contracts/slug";
import type { ManifestEvent } from "@vestibule/contracts/statements";
import { DRIP_STALE_MS, MANIFEST_STALE_MS } from "@vestibule/feed/limits";
import type { MintFeed } from "@vestibule/feed/mint-feed";
import type { Thing } from "@vestibule/feed/thing";
import type { Clock } from "@vestibule/kernel/clock";
import type { Randomness } from "@vestibule/kernel/randomness";
import type { EpochMs } from "@vestibule/kernel/units";
import type { Admissions } from "./admission/admissions.ts";
import type { Services } from "./admission/services.ts";
import type { ShownReader } from "./admission/shown.ts";
import type { Tickets } from "./admission/tickets.ts";
import type { Circuit } from "./circuit.ts";
import type { EdgeConfig } from "./config.ts";
import type { Exempted } from "./exempted.ts";
import { KEYS_STALE_MS, UNKNOWN_EVENT_COOL_MS } from "./limits.ts";
import { type Head, readHead } from "./head.ts";
import type { MintClient } from "./mint-client.ts";
import type { Seen } from "./seen.ts";
import type { Bindings } from "./bindings.ts";
import type { Newcomers } from "./newcomers.ts";
import { type Address, readAddress } from "./routing/address.ts";
import type { RouteTable } from "./routing/route-table.ts";

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Lives as long as the isolate. Only values: no promise outlives the request that made it. */
export interface Edge {
  readonly config: EdgeConfig;
  readonly feed: MintFeed;
  readonly mint: MintClient;
  readonly purchaseCircuit: Circuit;
  readonly newcomers: Newcomers;
  /** This location's; while that is surely wrong, the mint's as measured (`ClockWatch.time`). */
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly fetch: Fetch;
  readonly admissions: Admissions;
  readonly tickets: Tickets;
  readonly shown: ShownReader;
  readonly exempted: Exempted;
  readonly seen: Seen;
  readonly bindings: Bindings;
  readonly services: Services;
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
  readonly method: string;
  readonly address: Address;
  readonly head: Head;
}

/** `url` and `method` are the request's, read once: each reading is a call into the runtime. */
export interface Called {
  readonly request: Request;
  readonly url: string;
  readonly method: string;
  readonly background: Background;
  readonly now: EpochMs;
}

export function readVisit(
  edge: Edge,
  { request, background, now, url, method }: Called,
): Visit | undefined {
  const address = readAddress(url);
  if (address === undefined) return undefined;
  return { edge, request, background, now, method, address, head: readHead(request.headers) };
}

/**
 * Asks again for what is due; a promise when this request must wait for it. Where somebody asks all the
 * time nobody waits: it is asked in the background. A location that was left alone asks before it
 * decides, or it would let people past a sale, a hold or a revoked key that it has not heard of (law 10);
 * whoever meets it at that moment waits, for a bounded time. While no mint answers, everybody goes by what
 * is known (law 9).
 */
function keep(
  { edge, background, now }: Visit,
  thing: Thing,
  staleMs: number,
): Promise<unknown> | undefined {
  const { feed } = edge;
  if (feed.refreshDue(thing, now)) background.waitUntil(feed.tend(thing, now));
  if (!feed.isStale(thing, now, staleMs)) return undefined;
  const answered = feed.whenAnswered(thing, now);
  // Left alone, it may not know what has become of its clock either.
  const asked = answered === undefined ? undefined : feed.clock.whenAnswered();
  return asked === undefined ? answered : Promise.all([answered, asked]);
}

/** After a wait in which the clock may have been found wrong, or right again: read anew. */
export function atItsTime(visit: Visit): Visit {
  return { ...visit, now: visit.edge.clock.now() };
}

/** What decides about every request: keys and manifest. */
export function keepFresh(visit: Visit): Promise<unknown> | undefined {
  const keys = keep(visit, "keys", KEYS_STALE_MS);
  const manifest = keep(visit, "manifest", MANIFEST_STALE_MS);
  return keys === undefined ? manifest : Promise.all([keys, manifest]);
}

export function keepDripFresh(
  visit: Visit,
  event: string,
  staleMs: number = DRIP_STALE_MS,
): Promise<unknown> | undefined {
  return keep(visit, `drip:${event}`, staleMs);
}

/**
 * The event of this name. One that is not known may be younger than the manifest: a mint is asked again, once
 * in a while for all unknown names together.
 */
export async function findEvent(
  { edge, background, now }: Visit,
  name: string,
): Promise<ManifestEvent | undefined> {
  const { feed } = edge;
  const known = edge.routes()?.event(name);
  if (known !== undefined || !isSlug(name)) return known;
  if (feed.isStale("manifest", now, UNKNOWN_EVENT_COOL_MS)) {
    background.waitUntil(feed.refresh("manifest", now));
  }
  await feed.whenAnswered("manifest", now);
  return edge.routes()?.event(name);
}
