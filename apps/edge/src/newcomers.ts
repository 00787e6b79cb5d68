/**
 * Whoever joins a line in which nobody waits is given a slot within a moment, and would hear of it from
 * this location only a second later. So a join close behind the committed numbers has the location
 * ask a few times quickly, in the background: polls cost what they always cost (law 11).
 */
import type { MintFeed } from "@vestibule/feed/mint-feed";
import type { Sleep } from "@vestibule/feed/ports";
import type { Clock } from "@vestibule/kernel/clock";
import type { EpochMs } from "@vestibule/kernel/units";

/** How close behind the committed numbers a place must be. */
const CLOSE_MAX = 16;
/** Between two looks, and how many there are at most: per event and isolate, however many join. */
const LOOK_EVERY_MS = 200;
const LOOKS_MAX = 8;
/** Looks that have not ended by then were cancelled with their request. */
const LOOKING_MS_MAX = 10_000;

export interface Newcomers {
  /** `number` was given just now. */
  expect(
    event: string,
    number: number,
    at: { now: EpochMs; background: { waitUntil(work: Promise<unknown>): void } },
  ): void;
}

export function createNewcomers(
  feed: MintFeed,
  { clock, sleep }: { clock: Clock; sleep: Sleep },
): Newcomers {
  /** By event: since when somebody looks, and for which number at least. */
  const looking = new Map<string, { readonly since: EpochMs; number: number }>();

  const committedOf = (event: string) => feed.drip(event)?.claims.committed ?? 0;

  async function look(event: string, wanted: { readonly number: number }): Promise<void> {
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      await sleep(LOOK_EVERY_MS);
      const outcome = await feed.refresh(`drip:${event}`, clock.now());
      if (outcome === "kept" || committedOf(event) >= wanted.number) break;
    }
    if (looking.get(event) === wanted) looking.delete(event);
  }

  return {
    expect(event, number, { now, background }) {
      const behind = number - committedOf(event);
      if (behind <= 0 || behind > CLOSE_MAX || feed.drip(event)?.claims.state !== "open") return;
      const current = looking.get(event);
      if (current !== undefined && Math.abs(now - current.since) < LOOKING_MS_MAX) {
        current.number = Math.max(current.number, number);
        return;
      }
      const wanted = { since: now, number };
      looking.set(event, wanted);
      background.waitUntil(look(event, wanted));
    },
  };
}
