/** The drip controller of one event: settle what lapsed, write down what was given, commit what is next. */
import { claimWindowMs } from "@vestibule/drip/slot";
import { planStep } from "@vestibule/drip/controller";
import { maySettle, settleSegment } from "@vestibule/drip/lapse";
import type { DripPolicy, LineState, NumberRange, Segment } from "@vestibule/drip/line-state";
import { liveCount } from "@vestibule/drip/segment";
import { type EpochMs, ticketNumber } from "@vestibule/kernel/units";
import type { EventSettings } from "@vestibule/contracts/event-settings";
import type { Demand, EventChange, EventRecord, Progress } from "../store/store.ts";
import type { EventLine } from "./event-line.ts";
import { stateAt } from "./event-state.ts";

/** What a step reads besides the record: taken once, so that planning it again gives the same. */
interface Issued {
  readonly through: number;
  readonly first: number;
  readonly held: readonly NumberRange[];
}

/**
 * One tick, within the event's queue of writes. Writes nothing when nothing changed. Planned when it is
 * its turn, and again when the store is ready for it: what is committed opens from then on.
 *
 * @returns whether something was written.
 */
export function tick(line: EventLine): Promise<boolean> {
  return line.write(async (now) => {
    const { record } = line;
    const issued = issuedBy(line);
    const settle = settleable(record, now);
    const decide = (claimed: ReadonlyMap<number, number>, now: EpochMs): EventChange =>
      planTick({ record, issued, now, claimed });
    if (settle.length === 0 && isNothing(decide(new Map(), now))) return false;
    await line.step({ settle, decide });
    return true;
  });
}

/** What `line` has given so far, as a step at this moment sees it. */
export function issuedBy(line: EventLine): Issued {
  const { issuedThrough, first } = line.sequencer;
  return {
    first,
    through: issuedThrough,
    held: line.heldFrom(line.record.progress.line.nextNumber),
  };
}

export function settleable(record: EventRecord, now: EpochMs): number[] {
  const windowMs = claimWindowMs(record.settings);
  const heldSince = record.facts.hold?.since;
  return record.segments
    .filter((segment) => maySettle(segment, { claimWindowMs: windowMs, now, heldSince }))
    .map(({ id }) => id);
}

/** Pure: the change that one tick makes, given the claims of the segments that are settled. */
export function planTick(input: {
  readonly record: EventRecord;
  readonly issued: Issued;
  readonly now: EpochMs;
  readonly claimed: ReadonlyMap<number, number>;
}): EventChange {
  const { record, issued, now, claimed } = input;
  const settled = settle(record, claimed);
  const drip =
    stateAt(record, now) === "open"
      ? commitNext({ record, issued, now, line: settled.progress.line })
      : {};
  const progress =
    drip.line === undefined ? settled.progress : { ...settled.progress, line: drip.line };
  const { line: _line, ...committed } = drip;
  return {
    ...(progress === record.progress ? {} : { progress }),
    ...(settled.counts.length === 0 ? {} : { settled: settled.counts }),
    ...committed,
    ...(issued.through >= issued.first && isUnwritten(record, issued)
      ? { issuedThrough: issued.through }
      : {}),
  };
}

export function dripPolicy(settings: EventSettings): DripPolicy {
  return {
    ratePerMinute: settings.ratePerMinute,
    ratePlan: settings.ratePlan,
    horizonMs: settings.horizonSeconds * 1_000,
    overdrivePercent: settings.overdrivePercent,
    approximationBudget: settings.approximationBudget,
    maxAdmissions: settings.maxAdmissions,
  };
}

interface Settling {
  readonly progress: Progress;
  readonly counts: readonly {
    readonly id: number;
    readonly claimed: number;
    readonly lapsed: number;
  }[];
}

function settle(record: EventRecord, claimed: ReadonlyMap<number, number>): Settling {
  let { progress } = record;
  const counts: { id: number; claimed: number; lapsed: number }[] = [];
  for (const segment of record.segments) {
    const count = claimed.get(segment.id);
    if (count === undefined) continue;
    const { lapsed, line } = settleSegment({ line: progress.line, segment, claimed: count });
    const live = liveCount(segment);
    progress = {
      line,
      lapsed: progress.lapsed + lapsed,
      serving: live === 0 ? progress.serving : Math.max(progress.serving, segment.base + live - 1),
    };
    counts.push({ id: segment.id, claimed: count, lapsed });
  }
  return { progress, counts };
}

/** What `planStep` commits, and what of the demand it uses up. */
export function commitNext(input: {
  readonly record: Pick<EventRecord, "settings" | "demand">;
  readonly issued: Issued;
  readonly now: EpochMs;
  readonly line: LineState;
}): {
  readonly line?: LineState;
  readonly segments?: readonly Segment[];
  readonly demandDone?: readonly number[];
  readonly demandSet?: readonly Demand[];
} {
  const { record, issued, now, line } = input;
  const step = planStep({
    line,
    policy: dripPolicy(record.settings),
    now,
    endsAt: record.settings.endsAt,
    held: issued.held,
    demand: record.demand.map(({ first, last }) => ({
      first: ticketNumber(first),
      last: ticketNumber(last),
    })),
  });
  const next = skipGap(step.line, issued);
  return {
    ...(next === line ? {} : { line: next }),
    ...(step.segments.length === 0 ? {} : { segments: step.segments }),
    ...useDemand(record.demand, step.demandServed),
  };
}

/**
 * Nobody known waits any more: pass the gap before the next number to be given. Whoever holds a
 * number in doubt there is then passed, and gets a slot on demand.
 */
function skipGap(line: LineState, { held, through, first }: Issued): LineState {
  const last = held.at(-1)?.last ?? 0;
  const next = Math.max(through + 1, first);
  if (last >= line.nextNumber || line.nextNumber >= next) return line;
  return { ...line, nextNumber: ticketNumber(next) };
}

/** Takes `served`, always the beginning of `demand`, off it. */
function useDemand(
  demand: readonly Demand[],
  served: readonly NumberRange[],
): { readonly demandDone?: readonly number[]; readonly demandSet?: readonly Demand[] } {
  let left = served.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const demandDone: number[] = [];
  for (const run of demand) {
    if (left === 0) break;
    const size = run.last - run.first + 1;
    if (size > left) return { demandDone, demandSet: [{ ...run, first: run.first + left }] };
    demandDone.push(run.position);
    left -= size;
  }
  return demandDone.length === 0 ? {} : { demandDone };
}

function isUnwritten(record: EventRecord, { through, first }: Issued): boolean {
  const written = record.blocks.find((block) => block.first === first)?.issuedThrough;
  return written === undefined || written < through;
}

function isNothing(change: EventChange): boolean {
  return Object.keys(change).length === 0;
}
