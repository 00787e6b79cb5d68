import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { EventState } from "@vestibule/contracts/statements";
import { pendingCount, servingNumber } from "@vestibule/drip/line";
import { rateAt } from "@vestibule/drip/rate-plan";
import type { EpochMs } from "@vestibule/kernel/units";
import type { LineEntry } from "../lead/line-term.ts";
import { archivableAt } from "../line/archive.ts";
import { stateAt } from "../line/event-state.ts";
import { lastCallOf } from "../line/last-call.ts";

/** What an organizer sees of one event. People are counted, not differences of numbers. */
export interface EventView extends EventSettings {
  readonly state: EventState;
  readonly version: number;
  readonly createdAt: number;
  /** People who were given a number. */
  readonly issued: number;
  /** The highest number given. */
  readonly highestNumber: number;
  /** People without a committed slot. */
  readonly waiting: number;
  /** People whose committed slot has not opened yet. */
  readonly upcoming: number;
  /** Numbers are committed up to here. */
  readonly committed: number;
  /** Slots committed, without those that lapsed or were cut: what `maxAdmissions` bounds. */
  readonly granted: number;
  readonly serving: number;
  readonly claimed: number;
  readonly lapsed: number;
  /** Slots per minute at this moment. */
  readonly rate: number;
  readonly heldSince?: number;
  readonly heldScope?: "entries" | "all";
  readonly heldReason?: string;
  readonly soldoutAt?: number;
  readonly endedAt?: number;
  /** From when it may be archived; a rehearsal never is. */
  readonly archivableAt?: number;
  /** Since when the purchase API has nothing left: it may take that back, and then the drip goes on. */
  readonly supplySoldOutAt?: number;
  /** Pieces that can still be sold, held ones among them, as the purchase API last said. Those who wait hear a band. */
  readonly supplyLeft?: number;
  /** As in the drip: while it lasts, pages look about every second. */
  readonly lastCall?: { readonly from: number; readonly until: number };
  /** Since when the drip stands still for a fault of the mint's own; see its log. */
  readonly failingSince?: number;
}

export async function eventView(
  { line, failingSince }: LineEntry,
  now: EpochMs,
): Promise<EventView> {
  const tally = await line.store.tally(line.event);
  const { record } = line;
  const archivable = archivableAt(record);
  const { settings, facts, progress } = record;
  const held = facts.hold;
  const lastCall = lastCallOf(record, now);
  const next = progress.line.nextNumber;
  return {
    ...settings,
    state: stateAt(record, now),
    version: record.version,
    createdAt: record.createdAt,
    issued: line.issuedCount(),
    highestNumber: line.highestIssued(),
    waiting: line.waitingCount(),
    upcoming: pendingCount(record.segments, Math.min(now, held?.since ?? now)),
    committed: next - 1,
    granted: progress.line.granted,
    serving: line.showServing(
      servingNumber(record.segments, now, { heldSince: held?.since, atLeast: progress.serving }),
    ),
    claimed: tally.claimed,
    lapsed: tally.lapsed,
    rate: rateAt(settings, now).ratePerMinute,
    ...(held === undefined
      ? {}
      : { heldSince: held.since, heldScope: held.scope, heldReason: held.reason }),
    ...(facts.soldoutAt === undefined ? {} : { soldoutAt: facts.soldoutAt }),
    ...(facts.endedAt === undefined ? {} : { endedAt: facts.endedAt }),
    ...(archivable === undefined ? {} : { archivableAt: archivable }),
    ...(facts.supply.outAt === undefined ? {} : { supplySoldOutAt: facts.supply.outAt }),
    ...(facts.supply.left.atMost === undefined ? {} : { supplyLeft: facts.supply.left.atMost }),
    ...(lastCall === undefined ? {} : { lastCall }),
    ...(failingSince === undefined ? {} : { failingSince }),
  };
}
