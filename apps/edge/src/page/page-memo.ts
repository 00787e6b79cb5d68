/**
 * The page of everybody who has no place is the same, but for a cookie, which is in the head: within a second it is written
 * once for each address that leads to it.
 */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { KnownDrip } from "@vestibule/feed/mint-feed";
import { SHARED_PAGES_MAX } from "../limits.ts";

export type PageBytes = Uint8Array<ArrayBuffer>;

/** What such a page tells of, and when. */
export interface Occasion {
  readonly event: ManifestEvent;
  readonly drip: KnownDrip | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

interface Second {
  readonly drip: KnownDrip | undefined;
  readonly second: number;
  readonly pages: Map<string, PageBytes>;
}

const seconds = new WeakMap<ManifestEvent, Second>();

/** @param how all else that the page depends on, none with a space in it but the last */
export function sharedPage(
  { event, drip, now }: Occasion,
  how: readonly (string | undefined)[],
  write: () => PageBytes,
): PageBytes {
  const second = Math.floor(now / 1_000);
  let present = seconds.get(event);
  if (present?.drip !== drip || present?.second !== second) {
    present = { drip, second, pages: new Map() };
    seconds.set(event, present);
  }
  const { pages } = present;
  const key = how.join(" ");
  const known = pages.get(key);
  if (known !== undefined) return known;
  const page = write();
  if (pages.size < SHARED_PAGES_MAX) pages.set(key, page);
  return page;
}
