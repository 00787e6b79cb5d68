/**
 * The page of everybody who has no place is the same, but for a cookie, which is in the head: within a second it is written
 * once for each address that leads to it.
 */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { KnownDrip } from "@vestibule/feed/mint-feed";
import { createBoundedMemo } from "../admission/bounded-memo.ts";
import { SHARED_PAGES_BYTES_MAX, SHARED_PAGES_MAX } from "../limits.ts";

export type PageBytes = Uint8Array<ArrayBuffer>;

/** What such a page tells of, and when. */
export interface Occasion {
  readonly event: ManifestEvent;
  readonly drip: KnownDrip | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

interface Shared {
  readonly event: ManifestEvent;
  readonly drip: KnownDrip | undefined;
  readonly second: number;
  readonly page: PageBytes;
}

/** Of all events together: however many there are, and whatever addresses somebody makes up, it takes no more room. */
const pages = createBoundedMemo<Shared>({
  entriesMax: SHARED_PAGES_MAX,
  charsMax: SHARED_PAGES_BYTES_MAX,
});

/** @param how all else that the page depends on, none with a space in it but the last */
export function sharedPage(
  { event, drip, now }: Occasion,
  how: readonly (string | undefined)[],
  write: () => PageBytes,
): PageBytes {
  const second = Math.floor(now / 1_000);
  const key = `${event.event} ${how.join(" ")}`;
  const known = pages.get(key);
  if (known?.second === second && known.drip === drip && known.event === event) return known.page;
  const page = write();
  pages.put(key, { event, drip, second, page }, key.length + page.length);
  return page;
}
