/**
 * What a takeover skips. Mostly one epoch, and a gap of numbers after an unclean end. More when PostgreSQL has forgotten: its
 * history is another one than the lease's last holder wrote to, or the row is behind what this process has seen. Then leaders
 * that no row tells of may have used what comes next, or the one that it tells of has gone on (ADR 16).
 */
import {
  EPOCHS_PER_HISTORY,
  FORGOTTEN_SECONDS_MAX,
  HISTORIES_MAX,
  SAFETY_GAPS_PER_SECOND,
} from "../limits.ts";
import type { Forgotten, LeaseSeen } from "./store.ts";

/** The lease as the row says it. */
export interface LeaseRow {
  readonly epoch: number;
  readonly released: boolean;
  /** Of the server to which the last holder wrote; `undefined`: it did not know. */
  readonly history: string | undefined;
  /** When it runs out, and how long ago its last renewal was, by the server's clock. */
  readonly until: number;
  readonly silentMs: number;
}

export interface Takeover {
  readonly epoch: number;
  /** Numbers that every event skips. */
  readonly skip: number;
  readonly forgotten: Forgotten | undefined;
}

/**
 * @param now.history of the server that is asked; `undefined`: it does not say.
 * @param now.seen the latest that this process has seen.
 */
export function planTakeover(
  row: LeaseRow,
  now: { history: string | undefined; seen: LeaseSeen; gapNumbers: number },
): Takeover {
  const { history, seen, gapNumbers } = now;
  const lost = lostHistories(row.history, history);
  if (lost === 0 && !isBehind(row, seen)) {
    return { epoch: row.epoch + 1, skip: row.released ? 0 : gapNumbers, forgotten: undefined };
  }
  // Below 0 two clocks disagree: the lost end is no easier to bound by a server that is behind.
  const seconds = Math.min(Math.ceil(Math.abs(row.silentMs) / 1_000), FORGOTTEN_SECONDS_MAX);
  const histories = Math.max(1, lost);
  // Two for each: the gap of every takeover, and what was reserved ahead when the last renewal was stored.
  const skip = gapNumbers * (2 * histories + SAFETY_GAPS_PER_SECOND * seconds);
  return {
    epoch: Math.max(row.epoch, seen.epoch) + 1 + EPOCHS_PER_HISTORY * histories,
    skip,
    forgotten: { from: row.history, epochs: [row.epoch, seen.epoch], seconds, skip },
  };
}

/** Also of a copy of the disk that was put back, which no timeline tells of. */
export function isBehind(row: LeaseSeen, seen: LeaseSeen): boolean {
  return row.epoch === seen.epoch ? row.until < seen.until : row.epoch < seen.epoch;
}

/**
 * How many histories may have ended without a trace in this row, at least. `server/timeline`: PostgreSQL begins a new
 * timeline with every promotion; another server is one that was filled from a dump, or by logical replication.
 */
function lostHistories(before: string | undefined, now: string | undefined): number {
  if (before === undefined || before === now) return 0;
  // The server that the row tells of said it: this one is another, or may say it no more, and then not again.
  if (now === undefined) return 1;
  const [server, timeline] = before.split("/");
  const [serverNow, timelineNow] = now.split("/");
  if (server !== serverNow) return 1;
  return Math.min(Math.max(1, Number(timelineNow) - Number(timeline)), HISTORIES_MAX);
}
