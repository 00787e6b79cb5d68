/** What a location keeps of the pages that everybody without a place is shown (ADR 23). */
import { EVENTS_MAX } from "@vestibule/contracts/limits";
import type { KnownDrip } from "@vestibule/feed/mint-feed";
import { expect, test } from "vitest";
import { SHARED_PAGES_BYTES_MAX, SHARED_PAGES_MAX } from "../src/limits.ts";
import { type PageBytes, sharedPage } from "../src/page/page-memo.ts";
import { EVENT, NOW } from "./event.ts";

const page = (): PageBytes => new Uint8Array(1_000);

/** Is it written, or had it been? */
function isWritten(
  { event = EVENT, drip, now = NOW }: Partial<Parameters<typeof sharedPage>[0]>,
  address: string,
  bytes = page(),
): boolean {
  let written = false;
  sharedPage({ event, drip, now }, ["en", address], () => {
    written = true;
    return bytes;
  });
  return written;
}

test("a page is written once for a second, an event, a statement and an address", () => {
  const drip = {} as KnownDrip;
  expect(isWritten({ drip }, "/a")).toBe(true);
  expect(isWritten({ drip, now: NOW + 999 }, "/a")).toBe(false);
  expect(isWritten({ drip }, "/b")).toBe(true);
  expect(isWritten({ drip, event: { ...EVENT } }, "/a")).toBe(true);
  expect(isWritten({ drip: {} as KnownDrip }, "/a")).toBe(true);
  expect(isWritten({ drip, now: NOW + 1_000 }, "/a")).toBe(true);
  expect(isWritten({ event: { ...EVENT, event: "demo2" } }, "/a")).toBe(true);
});

test("as many events as there may be, each with made-up addresses: no more is kept than of one", () => {
  const events = Array.from({ length: EVENTS_MAX }, (_none, i) => ({ ...EVENT, event: `e-${i}` }));
  const asked = events.flatMap((event) =>
    Array.from({ length: 8 }, (_none, i) => ({ event, address: `/?${i}` })),
  );
  for (const { event, address } of asked) isWritten({ event }, address);
  const kept = asked.filter(({ event, address }, i) => {
    // The oldest first, so that asking does not push out what is asked next: the last are the ones that are kept.
    return i >= asked.length - SHARED_PAGES_MAX && !isWritten({ event }, address);
  });
  expect(kept).toHaveLength(SHARED_PAGES_MAX);
  expect(isWritten({ event: events[0] ?? EVENT }, "/?0")).toBe(true);
});

test("large pages: fewer are kept", () => {
  const half = new Uint8Array(SHARED_PAGES_BYTES_MAX / 2);
  for (const address of ["/1", "/2", "/3"]) isWritten({ now: NOW + 5_000 }, address, half);
  expect(isWritten({ now: NOW + 5_000 }, "/3", half)).toBe(false);
  expect(isWritten({ now: NOW + 5_000 }, "/1", half)).toBe(true);
});

test("made-up addresses do not keep what everybody asks for from being shared", () => {
  let written = 0;
  for (let i = 0; i < 1_000; i += 1) {
    isWritten({ now: NOW + 9_000 }, `/?rubbish-${i}`);
    if (isWritten({ now: NOW + 9_000 }, "/events/demo")) written += 1;
  }
  expect(written).toBeLessThanOrEqual(Math.ceil(1_000 / (SHARED_PAGES_MAX - 1)));
});
