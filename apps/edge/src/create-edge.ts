import { createFetchText } from "@vestibule/feed/fetch-text.system";
import { parseJwks } from "@vestibule/keys/key-set";
import { watchClock } from "@vestibule/feed/clock-watch";
import { createMintFeed } from "@vestibule/feed/mint-feed";
import type { FeedAlarm, FeedCache, Sleep } from "@vestibule/feed/ports";
import type { KeySet } from "@vestibule/keys/key-set";
import { assert } from "@vestibule/kernel/assert";
import type { Clock } from "@vestibule/kernel/clock";
import type { Randomness } from "@vestibule/kernel/randomness";
import { createAdmissions } from "./admission/admissions.ts";
import { createServices } from "./admission/services.ts";
import { createShownReader } from "./admission/shown.ts";
import { createTickets } from "./admission/tickets.ts";
import type { Bindings } from "./bindings.ts";
import type { EdgeConfig } from "./config.ts";
import { type EdgeHandler, createHandler } from "./edge.ts";
import { createCircuit } from "./circuit.ts";
import { createExempted } from "./exempted.ts";
import { PURCHASE_DEADLINE_MS } from "./limits.ts";
import { createMintClient } from "./mint-client.ts";
import { createNewcomers } from "./newcomers.ts";
import { type RouteTable, compileRoutes } from "./routing/route-table.ts";
import { type Seen, createSeen } from "./seen.ts";
import type { Edge, Fetch } from "./visit.ts";

export interface EdgeParts {
  readonly config: EdgeConfig;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly fetch: Fetch;
  readonly sleep: Sleep;
  readonly cache?: FeedCache;
  /** Whether this runtime can verify at all, asked once (KR-09). */
  readonly runtimeVerifies: () => Promise<boolean>;
  readonly bindings?: Bindings;
  /** One line of the log: an object without a secret, to be written as JSON. */
  readonly log: (line: object) => void;
}

/**
 * One edge, with everything that reaches outside passed in.
 * @throws AssertionError when the keys deployed with it are not a good key set
 */
export async function createEdge(parts: EdgeParts): Promise<EdgeHandler> {
  const { config, randomness, fetch, sleep, cache, log, bindings = {} } = parts;
  const { mintUrls, issuer, skewSeconds, location } = config;
  const bootKeys = await readBootKeys(config.bootKeys);
  const verifies = await parts.runtimeVerifies();
  const dataset = bindings.counters;
  const seen = createSeen({ clock: parts.clock, location, log, dataset });
  sayBindings(seen, bindings);
  const exempted = createExempted(seen.counts);
  const feed = createMintFeed({
    ...{ mintUrls, issuer, skewSeconds, bootKeys, sleep },
    fetchText: createFetchText(fetch),
    ...(cache === undefined ? {} : { cache }),
    alarm: (alarm) => {
      tellAlarm(seen, alarm);
    },
    watch: watchClock({ clock: parts.clock, randomness, location, passes: exempted }),
  });
  const clock = feed.clock.time ?? parts.clock;
  let routes: RouteTable | undefined;
  const edge: Edge = {
    ...{ config, feed, clock, randomness, fetch, seen, bindings },
    mint: createMintClient({ mints: feed.mints, mintUrls, clock, seen, fetch }),
    purchaseCircuit: createCircuit(
      { url: config.purchaseUrl ?? "", deadlineMs: PURCHASE_DEADLINE_MS },
      seen,
    ),
    newcomers: createNewcomers(feed, { clock, sleep }),
    admissions: createAdmissions(feed, { issuer, skewSeconds }),
    shown: createShownReader(),
    exempted,
    services: createServices(feed, { issuer, skewSeconds }),
    tickets: createTickets(feed, { issuer, skewSeconds }),
    routes: () => {
      const manifest = feed.manifest();
      if (manifest !== undefined && routes?.manifest !== manifest) {
        routes = compileRoutes(manifest, config.originHost);
      }
      return routes;
    },
    verifies,
  };
  return createHandler(edge);
}

/** Once: that a location has no limits, or counts for itself only, is nothing to find out afterwards. */
function sayBindings(seen: Seen, { joinLimit, claimLimit, counters }: Bindings): void {
  const bound = { JOIN_LIMIT: joinLimit, CLAIM_LIMIT: claimLimit, COUNTERS: counters };
  const absent = Object.entries(bound).filter(([, binding]) => binding === undefined);
  if (absent.length > 0) seen.say({ kind: "bindings", absent: absent.map(([name]) => name) });
}

/** A mint that was asked in vain, or what became of the own clock. */
function tellAlarm(seen: Seen, alarm: FeedAlarm): void {
  const isClock = alarm.thing === "clock" && alarm.url === "";
  seen.tell(isClock ? "clockTold" : "mintFailed", { kind: isClock ? "clock" : "feed", ...alarm });
}

async function readBootKeys(json: unknown): Promise<KeySet | undefined> {
  if (json === undefined) return undefined;
  const read = await parseJwks(json);
  assert(read.ok, "JWKS: the keys deployed with a location are a good key set");
  return read.value;
}
