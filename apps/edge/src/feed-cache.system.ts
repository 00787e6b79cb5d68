/** What one isolate fetched, for the other isolates of this location: the Cache API. */
import type { FeedCache } from "@vestibule/feed/ports";
import { epochMs } from "@vestibule/kernel/units";

/** A cache of its own name: nothing in it can ever be served to a visitor, nor be put there by one. */
const CACHE = "vestibule-feed";
/** Old copies are still of use when no mint can be reached. */
const KEEP_SECONDS = 86_400;
const FETCHED_AT = "Vestibule-Fetched-At";

/** Never rejects: a location without a cache only asks the mint more often. */
export function createFeedCache(caches: CacheStorage): FeedCache {
  const address = (key: string) => `https://feed.vestibule.invalid/${encodeURIComponent(key)}`;
  return {
    async get(key) {
      try {
        const found = await (await caches.open(CACHE)).match(address(key));
        if (found === undefined) return undefined;
        const fetchedAt = Number(found.headers.get(FETCHED_AT));
        return { text: await found.text(), fetchedAt: epochMs(fetchedAt) };
      } catch {
        return undefined;
      }
    },
    async put(key, { text, fetchedAt }) {
      try {
        const headers = {
          "Cache-Control": `public, max-age=${KEEP_SECONDS}`,
          [FETCHED_AT]: String(fetchedAt),
        };
        await (await caches.open(CACHE)).put(address(key), new Response(text, { headers }));
      } catch {
        // see above
      }
    },
  };
}
