/** What the purchase API reports: whether anything is left, for how long, and how much. One step, fenced like every other write. */
import type { SupplyReport } from "@vestibule/contracts/supply-api";
import type { EpochMs } from "@vestibule/kernel/units";
import { problem } from "@vestibule/service/problems";
import { SUPPLY_SEQ_AHEAD_MS_MAX } from "../limits.ts";
import type { AuditEntry, EventChange, EventRecord, SupplyFacts } from "../store/store.ts";
import type { EventLine } from "./event-line.ts";
import { isEnded } from "./event-state.ts";

/**
 * Takes a report once. Older ones, repeated ones and those of a sale that is over change nothing:
 * whoever sent them need not send them again. Nothing else is touched: committed slots stay, everybody's place
 * stays, and since the drip's frontier stays too, the time without supply earns nothing beyond the event's budget.
 *
 * @returns whether the drip has to hear of it at once: the event is sold out, or no longer.
 * @throws AppError `invalid-settings` for a `seq` that no clock has reached: nothing would be heard after it.
 */
export function hearSupply(line: EventLine, report: SupplyReport): Promise<boolean> {
  return line.write(async (now) => {
    const { record } = line;
    if (report.seq > now + SUPPLY_SEQ_AHEAD_MS_MAX) throw aheadOfTime();
    const { supply } = record.facts;
    if (isEnded(record, now) || !isNews(supply, report)) return false;
    await line.step({ settle: [], decide: (_claimed, later) => heard(record, report, later) });
    return (supply.outAt === undefined) !== (line.record.facts.supply.outAt === undefined);
  });
}

function aheadOfTime(): Error {
  const message = "must not be more than a day ahead of now, in epoch milliseconds";
  return problem("invalid-settings", { extensions: { errors: [{ field: "seq", message }] } });
}

/** The facts go by numbers of their own, since not every report has all. */
function isNews({ seq, lastCall, left }: SupplyFacts, report: SupplyReport): boolean {
  return (
    report.seq > seq ||
    (report.lastCall !== undefined && report.seq > lastCall.seq) ||
    (report.left !== undefined && report.seq > left.seq)
  );
}

function heard({ facts }: EventRecord, report: SupplyReport, now: EpochMs): EventChange {
  const before = facts.supply;
  const soldOut = heardSoldOut(before, report, now);
  const supply = heardLeft(heardLastCall(soldOut, { before, report, now }), report);
  const note = noteOf(before, supply);
  return {
    facts: { ...facts, supply },
    ...(note === undefined
      ? {}
      : { note: { actor: "supply", action: note, detail: { seq: report.seq } } }),
  };
}

function heardSoldOut(
  before: SupplyFacts,
  { soldOut, seq }: SupplyReport,
  now: EpochMs,
): SupplyFacts {
  if (seq <= before.seq) return before;
  return { ...before, outAt: soldOut ? (before.outAt ?? now) : undefined, seq };
}

/** Something that came back after all was gone is a last call anew. */
function heardLastCall(
  supply: SupplyFacts,
  { before, report, now }: { before: SupplyFacts; report: SupplyReport; now: EpochMs },
): SupplyFacts {
  const cameBack = before.outAt !== undefined && supply.outAt === undefined;
  let { at, seq } = supply.lastCall;
  if (report.lastCall !== undefined && report.seq > seq) {
    at = report.lastCall ? (at ?? now) : undefined;
    seq = report.seq;
  }
  if (cameBack && at !== undefined) at = now;
  return { ...supply, lastCall: { at, seq } };
}

function heardLeft(supply: SupplyFacts, { left, seq }: SupplyReport): SupplyFacts {
  if (left === undefined || seq <= supply.left.seq) return supply;
  return { ...supply, left: { atMost: left, seq } };
}

/** One line a report, and none for how much is left: that all is gone or not any more says more than the rest of it. */
function noteOf(before: SupplyFacts, after: SupplyFacts): AuditEntry["action"] | undefined {
  const isOut = after.outAt !== undefined;
  if ((before.outAt !== undefined) !== isOut) return isOut ? "supply-out" : "supply-back";
  const isLastCall = after.lastCall.at !== undefined;
  if ((before.lastCall.at !== undefined) === isLastCall) return undefined;
  return isLastCall ? "last-call" : "last-call-over";
}
