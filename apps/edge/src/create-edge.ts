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
import { createShownReader } from "./admission/shown.ts";
import { createTickets } from "./admission/tickets.ts";
import type { EdgeConfig } from "./config.ts";
import { type EdgeHandler, createHandler } from "./edge.ts";
import { createExempted } from "./exempted.ts";
import { createMintClient } from "./mint-client.ts";
import { createNewcomers } from "./newcomers.ts";
import { type RouteTable, compileRoutes } from "./routing/route-table.ts";
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
  readonly log: (alarm: FeedAlarm) => void;
}

/**
 * One edge, with everything that reaches outside passed in.
 * @throws AssertionError when the keys deployed with it are not a good key set
 */
export async function createEdge(parts: EdgeParts): Promise<EdgeHandler> {
  const { config, randomness, fetch, sleep, cache, log } = parts;
  const { mintUrls, issuer, skewSeconds, location } = config;
  const bootKeys = await readBootKeys(config.bootKeys);
  const verifies = await parts.runtimeVerifies();
  const feed = createMintFeed({
    ...{ mintUrls, issuer, skewSeconds, bootKeys, sleep },
    fetchText: createFetchText(fetch),
    ...(cache === undefined ? {} : { cache }),
    watch: watchClock({ clock: parts.clock, randomness, location }),
    alarm: log,
  });
  const clock = feed.clock.time ?? parts.clock;
  let routes: RouteTable | undefined;
  const edge: Edge = {
    ...{ config, feed, clock, randomness, fetch },
    mint: createMintClient(feed.mints, fetch),
    newcomers: createNewcomers(feed, { clock, sleep }),
    admissions: createAdmissions(feed, { issuer, skewSeconds }),
    shown: createShownReader(),
    exempted: createExempted(),
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

async function readBootKeys(json: unknown): Promise<KeySet | undefined> {
  if (json === undefined) return undefined;
  const read = await parseJwks(json);
  assert(read.ok, "JWKS: the keys deployed with a location are a good key set");
  return read.value;
}
