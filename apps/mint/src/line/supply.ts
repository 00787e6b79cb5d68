/** What the purchase API reports: whether anything is left. One step, fenced like every other write. */
import type { SupplyReport } from "@vestibule/contracts/supply-api";
import type { EpochMs } from "@vestibule/kernel/units";
import { problem } from "@vestibule/service/problems";
import { SUPPLY_SEQ_AHEAD_MS_MAX } from "../limits.ts";
import type { EventChange, EventRecord } from "../store/store.ts";
import type { EventLine } from "./event-line.ts";
import { isEnded } from "./event-state.ts";

/**
 * Takes a report once. Older ones, repeated ones and those of a sale that is over change nothing:
 * whoever sent them need not send them again. Nothing else is touched: committed slots stay, everybody's place
 * stays, and since the drip's frontier stays too, the time without supply earns nothing.
 *
 * @returns whether anything is told anew: the event is sold out, or no longer.
 * @throws AppError `invalid-settings` for a `seq` that no clock has reached: nothing would be heard after it.
 */
export function hearSupply(line: EventLine, report: SupplyReport): Promise<boolean> {
  return line.write(async (now) => {
    const { record } = line;
    if (report.seq > now + SUPPLY_SEQ_AHEAD_MS_MAX) throw aheadOfTime();
    if (isEnded(record, now) || report.seq <= record.facts.supply.seq) return false;
    const { facts } = record;
    await line.step({ settle: [], decide: (_claimed, later) => heard(record, report, later) });
    return (facts.supply.outAt !== undefined) !== report.soldOut;
  });
}

function aheadOfTime(): Error {
  const message = "must not be more than a day ahead of now, in epoch milliseconds";
  return problem("invalid-settings", { extensions: { errors: [{ field: "seq", message }] } });
}

function heard({ facts }: EventRecord, { soldOut, seq }: SupplyReport, now: EpochMs): EventChange {
  const { outAt: before } = facts.supply;
  const outAt = soldOut ? (before ?? now) : undefined;
  const note = { actor: "supply", action: soldOut ? "supply-out" : "supply-back", detail: { seq } };
  return {
    facts: { ...facts, supply: { outAt, seq } },
    ...((before === undefined) === (outAt === undefined) ? {} : { note }),
  };
}
