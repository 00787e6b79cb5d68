/**
 * The page of everybody who has no place is the same, but for a cookie, which is in the head: within a second it is written
 * once for each address that leads to it.
 */
import type { ManifestEvent } from "@vestibule/contracts/statements";
import type { KnownDrip } from "@vestibule/feed/mint-feed";
import { SHARED_PAGES_MAX } from "../limits.ts";

export type PageBytes = Uint8Array<ArrayBuffer>;

/** All that such a page is made of. */
export interface Occasion {
  readonly event: ManifestEvent;
  readonly drip: KnownDrip | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Everything else, as a text. */
  readonly rest: string;
}

interface Second {
  readonly drip: KnownDrip | undefined;
  readonly second: number;
  readonly pages: Map<string, PageBytes>;
}

const seconds = new WeakMap<ManifestEvent, Second>();

export function sharedPage(
  { event, drip, now, rest }: Occasion,
  write: () => PageBytes,
): PageBytes {
  const second = Math.floor(now / 1_000);
  let present = seconds.get(event);
  if (present?.drip !== drip || present?.second !== second) {
    present = { drip, second, pages: new Map() };
    seconds.set(event, present);
  }
  const { pages } = present;
  const known = pages.get(rest);
  if (known !== undefined) return known;
  const page = write();
  if (pages.size < SHARED_PAGES_MAX) pages.set(rest, page);
  return page;
}
