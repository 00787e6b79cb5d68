/** What the purchase API reports: whether anything is left. One step, fenced like every other write. */
import type { SupplyReport } from "@vestibule/contracts/supply-api";
import type { EpochMs } from "@vestibule/kernel/units";
import type { EventChange, EventRecord } from "../store/store.ts";
import type { EventLine } from "./event-line.ts";
import { isEnded } from "./event-state.ts";

/**
 * Takes a report once. Older ones, repeated ones and those of a sale that is over change nothing:
 * whoever sent them need not send them again. Nothing else is touched: committed slots stay, everybody's place
 * stays, and since the drip's frontier stays too, the time without supply earns nothing.
 *
 * @returns whether anything is told anew: the event is sold out, or no longer.
 */
export function hearSupply(line: EventLine, report: SupplyReport): Promise<boolean> {
  return line.write(async (now) => {
    const { record } = line;
    if (isEnded(record, now) || report.seq <= record.facts.supply.seq) return false;
    const { facts } = record;
    await line.step({ settle: [], decide: (_claimed, later) => heard(record, report, later) });
    return (facts.supply.outAt !== undefined) !== report.soldOut;
  });
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
